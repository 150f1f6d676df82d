/* run_solver.c - the solver file of a run directory: complete in itself, since the
 * files that it named may change. */
#include "train/run_solver.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "model/load.h"
#include "runlog/rundir.h"

/* Load the net of a file into `field`, which holds nets by value. */
static fire_status_t take_in(Caffe__SolverParameter *param, const char *path,
                             const char *field)
{
    Caffe__NetParameter *net, *inside;
    fire_status_t        st;

    FIRE_TRY(fire_net_param_load_text(path, &net));
    st = fire_message_add_message(param, field, &inside);
    if (st >= 0) st = fire_message_merge(net, inside);
    fire_message_free(net);
    return st;
}

static fire_status_t take_in_nets(Caffe__SolverParameter *param)
{
    if (param->net != NULL) {
        FIRE_TRY(take_in(param, param->net, "net_param"));
        fire_message_clear_field(param, "net");
    }
    if (param->train_net != NULL) {
        FIRE_TRY(take_in(param, param->train_net, "train_net_param"));
        fire_message_clear_field(param, "train_net");
    }
    for (size_t i = 0; i < param->n_test_net; i++)
        FIRE_TRY(take_in(param, param->test_net[i], "test_net_param"));
    fire_message_clear_field(param, "test_net");
    return FIRE_OK;
}

fire_status_t fire_run_dir_adopt(const char *dir, Caffe__SolverParameter *param)
{
    const char   *old   = param->snapshot_prefix != NULL ? param->snapshot_prefix : "";
    const char   *slash = strrchr(old, '/'), *name = slash != NULL ? slash + 1 : old;
    char         *prefix;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&prefix, "%s/%s", dir, name[0] != '\0' ? name : "snapshot"));
    fire_message_clear_field(param, "snapshot_prefix");
    st = fire_message_add_string(param, "snapshot_prefix", prefix);
    fire_free(prefix);
    FIRE_TRY(st);
    return take_in_nets(param);
}

static fire_status_t save(const char *dir, const char *name, const void *message)
{
    char         *path;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&path, "%s/%s", dir, name));
    st = fire_message_save_text(path, message);
    fire_free(path);
    return st;
}

fire_status_t fire_run_dir_prepare(const char *dir, bool resumed,
                                   const Caffe__SolverParameter *param)
{
    const Caffe__NetParameter *net =
        param->net_param != NULL ? param->net_param : param->train_net_param;

    FIRE_TRY(resumed ? fire_dir_make(dir) : fire_run_dir_clear(dir));
    if (net != NULL) FIRE_TRY(save(dir, "net.prototxt", net));
    return save(dir, "solver.prototxt", param);
}

/* The first layer in Python of a net, or NULL. */
static const char *python_layer(const Caffe__NetParameter *net)
{
    for (size_t i = 0; net != NULL && i < net->n_layer; i++)
        if (net->layer[i]->type != NULL && strcmp(net->layer[i]->type, "Python") == 0)
            return net->layer[i]->name != NULL ? net->layer[i]->name : "";
    return NULL;
}

fire_status_t fire_run_dir_check_code(const char                   *path,
                                      const Caffe__SolverParameter *param)
{
    const char *python = python_layer(param->net_param);

    if (param->fire != NULL && param->fire->n_plugin > 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "%s loads the plug-in \"%s\", which is a program: if you trust "
            "it, add --trust",
            path, param->fire->plugin[0]);
    if (param->net != NULL || param->train_net != NULL || param->n_test_net > 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "%s names nets in other files, which no run directory does: if "
            "you trust it, add --trust",
            path);
    if (python == NULL) python = python_layer(param->train_net_param);
    for (size_t i = 0; python == NULL && i < param->n_test_net_param; i++)
        python = python_layer(param->test_net_param[i]);
    if (python == NULL) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "%s has the layer \"%s\" in Python, which is a program: if you "
                     "trust it, add --trust",
                     path, python);
}
