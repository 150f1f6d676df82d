/* memory.c - memory of this process: the machine's, and limits of control groups. */
#include "base/host/memory.h"

#include <unistd.h>

#include "base/host/cgroup.h"

static double limit_v2(const char *folder)
{
    double bytes;

    return fire_cgroup_read(folder, "memory.max", 1, &bytes) && bytes > 0 ? bytes : 0;
}

/* Without a limit the file has a number near 2^63. */
static double limit_v1(const char *folder)
{
    double bytes;

    return fire_cgroup_read(folder, "memory.limit_in_bytes", 1, &bytes) && bytes > 0 &&
                   bytes < 1e18
               ? bytes
               : 0;
}

double fire_memory_limit(const char *root)
{
    return fire_cgroup_lowest(root, "memory", limit_v1, limit_v2);
}

size_t fire_memory_size(void)
{
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double limit   = fire_memory_limit("");

    return (size_t)(limit > 0 && limit < machine ? limit : machine);
}
