/* cgroup.h - the control groups of this process, which limit what it may use. */
#ifndef FIRE_BASE_HOST_CGROUP_H
#define FIRE_BASE_HOST_CGROUP_H
#include <stdbool.h>

/* Limit that the files of one control group state, or 0: none. */
typedef double (*fire_cgroup_limit_t)(const char *folder);

/* The lowest limit of the groups of this process and of those that contain them. `kind` is
 * the controller ("cpu", "memory"); v1 reads folders of the first version of control
 * groups, v2 those of the second. `root` is "" but in tests. */
double fire_cgroup_lowest(const char *root, const char *kind, fire_cgroup_limit_t v1,
                          fire_cgroup_limit_t v2);

/* Read `n` (1 or 2) numbers from the first line of FOLDER/NAME; false if there are fewer,
 * as in "max 100000". */
bool fire_cgroup_read(const char *folder, const char *name, int n, double *number);
#endif
