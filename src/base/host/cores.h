/* cores.h - how many cores this process may use. */
#ifndef FIRE_BASE_HOST_CORES_H
#define FIRE_BASE_HOST_CORES_H

/* The cores that this process is bound to, or fewer where its control group (a container)
 * grants less time: a quota of 1.5 cores is work for two threads. At least 1. */
int fire_cores(void);

/* The same of the whole machine, whatever this process is bound to. */
int fire_cores_of_machine(void);

/* The quota of the process's control group in cores, or 0: none. `root` is "" but in
 * tests: the folder with proc/self/cgroup and sys/fs/cgroup. */
double fire_cores_quota(const char *root);
#endif
