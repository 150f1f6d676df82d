/* cores.c - cores of this process: what it is bound to, and quotas of control groups. */
#include "base/host/cores.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "base/host/cgroup.h"

static double share(double quota, double period)
{
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* cpu.max: "150000 100000", microseconds of each period, or "max 100000" */
static double quota_v2(const char *folder)
{
    double n[2];

    return fire_cgroup_read(folder, "cpu.max", 2, n) ? share(n[0], n[1]) : 0;
}

/* cpu.cfs_quota_us: microseconds of each cpu.cfs_period_us, or -1 */
static double quota_v1(const char *folder)
{
    double quota, period;

    return fire_cgroup_read(folder, "cpu.cfs_quota_us", 1, &quota) &&
                   fire_cgroup_read(folder, "cpu.cfs_period_us", 1, &period)
               ? share(quota, period)
               : 0;
}

double fire_cores_quota(const char *root)
{
    return fire_cgroup_lowest(root, "cpu", quota_v1, quota_v2);
}

static int limited(long cores)
{
    double granted = ceil(fire_cores_quota(""));

    if (granted > 0 && granted < (double)cores) cores = (long)granted;
    return cores < 1 ? 1 : (int)cores;
}

int fire_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0) return limited(CPU_COUNT(&set));
    return fire_cores_of_machine();
}

int fire_cores_of_machine(void)
{
    return limited(sysconf(_SC_NPROCESSORS_ONLN));
}
