/* load.c - loads and saves nets, solvers and solver states by the type of the file. */
#include "model/load.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/seal.h"
#include "base/log.h"
#include "model/hdf5.h"
#include "model/tensors/tensors.h"
#include "model/upgrade.h"

/* Upgrade a loaded net; it is freed on failure. */
static fire_status_t upgrade_net(const char *path, ProtobufCMessage *msg,
                                 Caffe__NetParameter **net_p)
{
    fire_status_t st = fire_net_param_upgrade((Caffe__NetParameter *)msg, path);

    if (st == FIRE_OK)
        *net_p = (Caffe__NetParameter *)msg;
    else
        fire_message_free(msg);
    return st;
}

fire_status_t fire_net_param_load_text(const char *path, Caffe__NetParameter **net_p)
{
    ProtobufCMessage *msg = NULL;

    FIRE_TRY(fire_message_load_text(path, &caffe__net_parameter__descriptor, &msg));
    return upgrade_net(path, msg, net_p);
}

fire_status_t fire_net_param_load_binary(const char *path, Caffe__NetParameter **net_p)
{
    ProtobufCMessage *msg = NULL;

    FIRE_TRY(fire_message_load_binary(path, &caffe__net_parameter__descriptor, &msg));
    return upgrade_net(path, msg, net_p);
}

fire_status_t fire_net_param_load_weights(const char *path, Caffe__NetParameter **net_p)
{
    if (fire_path_has_suffix(path, ".h5")) return fire_net_param_load_hdf5(path, net_p);
    if (fire_tensors_is_file(path)) return fire_tensors_load(path, net_p);
    return fire_net_param_load_binary(path, net_p);
}

fire_status_t fire_net_param_save_text(const char *path, const Caffe__NetParameter *net)
{
    return fire_message_save_text(path, net);
}

fire_status_t fire_net_param_save_binary(const char                *path,
                                         const Caffe__NetParameter *net)
{
    return fire_message_save_binary(path, net);
}

fire_status_t fire_net_param_save_weights(const char                *path,
                                          const Caffe__NetParameter *net)
{
    if (fire_path_has_suffix(path, ".h5")) return fire_net_param_save_hdf5(path, net);
    if (fire_tensors_is_file(path)) return fire_tensors_save(path, net);
    return fire_message_save_binary(path, net);
}

/* For "dir/solver.prototxt": *stem_p is the index of "solver", *dot_p that of the last
 * dot, or the length if there is none (a leading dot does not count). */
static void split_path(const char *path, size_t *stem_p, size_t *dot_p)
{
    const char *slash = strrchr(path, '/');
    const char *stem  = slash != NULL ? slash + 1 : path;
    const char *dot   = strrchr(stem, '.');

    *stem_p = (size_t)(stem - path);
    *dot_p  = dot != NULL && dot != stem ? (size_t)(dot - path) : strlen(path);
}

/* Complete snapshot_prefix from the path of the solver file. */
static fire_status_t settle_snapshot_prefix(Caffe__SolverParameter *solver,
                                            const char             *path)
{
    const char   *given = solver->snapshot_prefix;
    size_t        stem, dot;
    struct stat   info;
    char         *prefix;
    fire_status_t st;

    split_path(path, &stem, &dot);
    if (given == NULL)
        FIRE_TRY(fire_asprintf(&prefix, "%.*s", (int)dot, path));
    else if (stat(given, &info) == 0 && S_ISDIR(info.st_mode))
        FIRE_TRY(fire_asprintf(&prefix, "%s%s%.*s", given,
                               fire_path_has_suffix(given, "/") ? "" : "/",
                               (int)(dot - stem), path + stem));
    else
        return FIRE_OK;
    FIRE_LOG(INFO, "snapshot_prefix %s and is set to %s",
             given == NULL ? "was not specified" : "was a directory", prefix);
    st = fire_message_add_string(solver, "snapshot_prefix", prefix);
    fire_free(prefix);
    return st;
}

/* A solver is always text. */
fire_status_t fire_solver_param_load(const char              *path,
                                     Caffe__SolverParameter **solver_p)
{
    ProtobufCMessage       *msg = NULL;
    Caffe__SolverParameter *solver;
    fire_status_t           st;

    FIRE_TRY(fire_message_load_text(path, &caffe__solver_parameter__descriptor, &msg));
    solver = (Caffe__SolverParameter *)msg;
    st     = fire_solver_param_upgrade(solver, path);
    if (st == FIRE_OK) st = settle_snapshot_prefix(solver, path);
    if (st == FIRE_OK)
        *solver_p = solver;
    else
        fire_message_free(msg);
    return st;
}

static fire_status_t load_state(const char *path, Caffe__SolverState **state_p)
{
    if (fire_path_has_suffix(path, ".h5"))
        return fire_solver_state_load_hdf5(path, state_p);
    return fire_message_load_binary(path, &caffe__solver_state__descriptor,
                                    (ProtobufCMessage **)state_p);
}

/* A solver that says snapshot_format: HDF5 adds .h5 to the name. */
static fire_status_t check_name(const char *path)
{
    char *hdf5;
    bool  other;

    if (access(path, F_OK) == 0) return FIRE_OK;
    FIRE_TRY(fire_asprintf(&hdf5, "%s.h5", path));
    other = access(hdf5, F_OK) == 0;
    fire_free(hdf5);
    if (!other) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_IO, "there is no \"%s\", but \"%s.h5\": resume from that",
                     path, path);
}

/* States that we wrote before there were seals have a checksum of their numbers
 * (crc32c). One with neither has lost its seal. */
fire_status_t fire_solver_state_load(const char *path, Caffe__SolverState **state_p)
{
    Caffe__SolverState *state;
    bool                sealed;

    FIRE_TRY(check_name(path));
    FIRE_TRY(fire_seal_check(path, &sealed));
    FIRE_TRY(load_state(path, &state));
    if (!sealed && state->fire != NULL && !state->fire->has_crc32c) {
        fire_message_free(state);
        return FIRE_FAIL(FIRE_ERR_PARSE, "\"%s\" is damaged: its checksum is missing",
                         path);
    }
    state->has_seal = false; /* it is the file's, not the state's */
    state->seal     = 0;
    *state_p        = state;
    return FIRE_OK;
}

fire_status_t fire_solver_state_save(const char *path, const Caffe__SolverState *state)
{
    if (fire_path_has_suffix(path, ".h5"))
        return fire_solver_state_save_hdf5(path, state);
    return fire_message_save_sealed(path, state);
}

#ifndef FIRE_HAVE_HDF5
/* The functions of hdf5.h in a build without HDF5. */
static fire_status_t fail_no_hdf5(const char *path)
{
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "\"%s\": this build has no HDF5; install libhdf5-dev and build "
                     "again, or use files without .h5",
                     path);
}

fire_status_t fire_net_param_load_hdf5(const char *path, Caffe__NetParameter **net_p)
{
    (void)net_p;
    return fail_no_hdf5(path);
}

fire_status_t fire_net_param_save_hdf5(const char *path, const Caffe__NetParameter *net)
{
    (void)net;
    return fail_no_hdf5(path);
}

fire_status_t fire_solver_state_load_hdf5(const char          *path,
                                          Caffe__SolverState **state_p)
{
    (void)state_p;
    return fail_no_hdf5(path);
}

fire_status_t fire_solver_state_save_hdf5(const char               *path,
                                          const Caffe__SolverState *state)
{
    (void)state;
    return fail_no_hdf5(path);
}
#endif
