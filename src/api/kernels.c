/* kernels.c - looks for kernels by name, among those of layers and of solvers. */
#include "api/kernels.h"

#include <string.h>

#include "base/alloc.h"
#include "layers/plugin/plugin.h"
#include "solver/solver.h"

static bool has_kernel(const fire_layer_ops_t *ops, const char *name)
{
    for (int i = 0; ops->kernels[i] != NULL; i++)
        if (strcmp(ops->kernels[i]->name, name) == 0) return true;
    return false;
}

static bool any_has_kernel(const char *name)
{
    for (int i = 0; fire_layer_at(i) != NULL; i++)
        if (has_kernel(fire_layer_at(i), name)) return true;
    return false;
}

/* Check one request TYPE=KERNEL. A type may also be a solver's, whose kernels are ref
 * and fast. */
static fire_status_t check_choice(const char *who, const char *type, const char *kernel)
{
    const fire_layer_ops_t *ops;
    const fire_rule_t      *rule;
    bool                    known;

    if (strcmp(type, "all") == 0)
        known = any_has_kernel(kernel);
    else if (fire_layer_find(type, &ops) >= 0)
        known = has_kernel(ops, kernel);
    else if (fire_rule_find(type, &rule) >= 0)
        known = strcmp(kernel, "ref") == 0 || strcmp(kernel, "fast") == 0;
    else
        return fire_error_prefix(fire_layer_find(type, &ops), "%s", who);
    if (known) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "%s %s=%s: there is no such kernel (`firecaffe net --coverage` "
                     "lists those of each type)",
                     who, type, kernel);
}

fire_status_t fire_kernels_check(const char *who, const char *list)
{
    char         *copy, *rest;
    fire_status_t st = FIRE_OK;

    if (list == NULL) return FIRE_OK;
    FIRE_TRY(fire_plugin_load_environment());
    FIRE_TRY(fire_strdup(list, &copy));
    for (char *request = strtok_r(copy, ",", &rest); request != NULL && st >= 0;
         request       = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(request, '=');

        if (equals == NULL) {
            st = FIRE_FAIL(FIRE_ERR_INVALID,
                           "%s \"%s\": write TYPE=KERNEL, or all=KERNEL", who, request);
        } else {
            *equals = '\0';
            st      = check_choice(who, request, equals + 1);
        }
    }
    fire_free(copy);
    return st;
}
