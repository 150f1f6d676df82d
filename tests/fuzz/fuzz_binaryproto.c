/* fuzz_binaryproto.c - mean images. */
#include "data/picture/mean.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz_file_t file;
    fire_mean_t        mean;

    if (fire_mean_load(fuzz_file_write(&file, data, n), &mean) < 0) return 0;
    MUST(mean.extent.channels > 0);
    fire_mean_fini(&mean);
    return 0;
}
