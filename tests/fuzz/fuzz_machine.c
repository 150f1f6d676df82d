/* fuzz_machine.c - clusters for `plan`. */
#include "fuzz_file.h"
#include "sim/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz_file_t file;
    fire_cluster_t     cluster;

    if (fire_cluster_load(fuzz_file_write(&file, data, n), &cluster) < 0) return 0;
    MUST(cluster.per_node > 0);
    MUST(fire_cluster_crowd(&cluster, 4) >= 1);
    return 0;
}
