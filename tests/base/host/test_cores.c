/* Tests src/base/host/: what a container grants is what counts. */
#include "base/host/cores.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/host/memory.h"
#include "test.h"

static const char *root(void)
{
    return test_tmpdir();
}

/* Write a file below root(), and the folders above it. */
static void put(const char *path, const char *text)
{
    char  command[4096], file[4096];
    FILE *f;

    snprintf(file, sizeof(file), "%s/%s", root(), path);
    snprintf(command, sizeof(command), "mkdir -p $(dirname '%s')", file);
    CHECK_EQ(system(command), 0);
    f = fopen(file, "w");
    CHECK(f != NULL);
    if (f == NULL) return;
    fputs(text, f);
    fclose(f);
}

TEST(a_quota_of_the_second_version_counts)
{
    put("proc/self/cgroup", "0::/pod/job\n");
    put("sys/fs/cgroup/pod/job/cpu.max", "150000 100000\n");
    CHECK_NEAR(fire_cores_quota(root()), 1.5, 0);
    put("sys/fs/cgroup/pod/job/memory.max", "1073741824\n");
    CHECK_NEAR(fire_memory_limit(root()), 1073741824.0, 0);
}

TEST(the_lowest_of_all_groups_above_counts)
{
    put("proc/self/cgroup", "0::/pod/job\n");
    put("sys/fs/cgroup/pod/job/cpu.max", "400000 100000\n");
    put("sys/fs/cgroup/pod/cpu.max", "50000 100000\n");
    CHECK_NEAR(fire_cores_quota(root()), 0.5, 0);
}

TEST(no_limit_is_none)
{
    put("proc/self/cgroup",
        "12:cpuset:/\n5:cpu,cpuacct:/a\n3:memory:/a\n0::/pod/job\n");
    put("sys/fs/cgroup/pod/job/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/pod/job/memory.max", "max\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_NEAR(fire_cores_quota(root()), 0, 0);
    CHECK_NEAR(fire_memory_limit(root()), 0, 0);
}

TEST(quotas_of_the_first_version_count)
{
    put("proc/self/cgroup", "5:cpuacct,cpu:/a/b\n4:cpuset:/a\n3:memory:/a/b\n");
    put("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "250000\n");
    put("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576\n");
    CHECK_NEAR(fire_cores_quota(root()), 2.5, 0);
    CHECK_NEAR(fire_memory_limit(root()), 1048576, 0);
}

/* Inside a container the file names the host's group, and the limits are at the top. */
TEST(a_group_whose_folder_is_not_there_has_the_limits_at_the_top)
{
    put("proc/self/cgroup", "0::/kubepods/pod12/job\n");
    put("sys/fs/cgroup/cpu.max", "300000 100000\n");
    CHECK_NEAR(fire_cores_quota(root()), 3, 0);
}

TEST(strange_files_limit_nothing)
{
    CHECK_NEAR(fire_cores_quota(root()), 0, 0); /* no file */
    put("proc/self/cgroup", "\nx\n:\n::\n7:cpu\n0::\n9:acpu,cpub:/a\n");
    put("sys/fs/cgroup/cpu.max", "-5 0\n");
    put("sys/fs/cgroup/memory.max", "0\n");
    CHECK_NEAR(fire_cores_quota(root()), 0, 0);
    CHECK_NEAR(fire_memory_limit(root()), 0, 0);
}

TEST(this_process_has_a_core_and_memory)
{
    CHECK(fire_cores() >= 1);
    CHECK(fire_cores_of_machine() >= fire_cores());
    CHECK(fire_memory_size() > 1 << 20);
}
