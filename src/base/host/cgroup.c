/* cgroup.c - finds the control groups of this process in the file system. */
#include "base/host/cgroup.h"

#include <stdio.h>
#include <string.h>

enum { PATH_LENGTH = 4096 };

bool fire_cgroup_read(const char *folder, const char *name, int n, double *number)
{
    char  path[PATH_LENGTH + 64], line[256];
    FILE *f;
    bool  ok;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f  = fopen(path, "re");
    ok = f != NULL && fgets(line, sizeof(line), f) != NULL &&
         (n == 1 ? sscanf(line, "%lf", number)
                 : sscanf(line, "%lf %lf", number, number + 1)) == n;
    if (f != NULL) fclose(f);
    return ok;
}

static double lower(double a, double b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* The limits of TOP/a/b, TOP/a and TOP. A container often has its group's files at the
 * top, although the group has the name that the host knows. */
static double lowest_up_to(const char *top, const char *group,
                           fire_cgroup_limit_t limit)
{
    char   folder[PATH_LENGTH];
    double lowest = limit(top);
    char  *slash;

    if (snprintf(folder, sizeof(folder), "%s%s", top, group) >= (int)sizeof(folder))
        return lowest;
    while (strlen(folder) > strlen(top)) {
        lowest = lower(lowest, limit(folder));
        slash  = strrchr(folder + strlen(top), '/');
        if (slash == NULL) break;
        *slash = '\0';
    }
    return lowest;
}

/* Is `kind` one of "cpu,cpuacct"? */
static bool lists(const char *kinds, const char *kind)
{
    size_t n = strlen(kind);

    for (const char *p = kinds; (p = strstr(p, kind)) != NULL; p += n)
        if ((p == kinds || p[-1] == ',') && (p[n] == '\0' || p[n] == ',')) return true;
    return false;
}

/* A line is "5:cpu,cpuacct:/a/b" in the first version, one per hierarchy, and "0::/a/b" in
 * the second. */
double fire_cgroup_lowest(const char *root, const char *kind, fire_cgroup_limit_t v1,
                          fire_cgroup_limit_t v2)
{
    char   top[PATH_LENGTH], line[PATH_LENGTH];
    double lowest = 0;
    FILE  *f;

    snprintf(top, sizeof(top), "%s/proc/self/cgroup", root);
    f = fopen(top, "re");
    if (f == NULL) return 0;
    while (fgets(line, sizeof(line), f) != NULL) {
        char *kinds = strchr(line, ':'), *group;

        if (kinds == NULL || (group = strchr(++kinds, ':')) == NULL) continue;
        *group++                    = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (*kinds == '\0') {
            snprintf(top, sizeof(top), "%s/sys/fs/cgroup", root);
            lowest = lower(lowest, lowest_up_to(top, group, v2));
        } else if (lists(kinds, kind)) {
            snprintf(top, sizeof(top), "%s/sys/fs/cgroup/%s", root, kind);
            lowest = lower(lowest, lowest_up_to(top, group, v1));
        }
    }
    fclose(f);
    return lowest;
}
