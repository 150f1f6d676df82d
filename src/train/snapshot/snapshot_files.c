/* snapshot_files.c - finds snapshots on disk and checks them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sha256.h"
#include "model/load.h"
#include "train/snapshot/snapshot.h"

/* ---- checksums ---- */

enum { CHUNK = 1 << 16 };

static fire_status_t hash_file(const char *path, char hex[65])
{
    fire_sha256_t s;
    uint8_t       digest[FIRE_SHA256_SIZE], chunk[CHUNK];
    FILE         *f = fopen(path, "rb");
    size_t        n;
    bool          failed;

    if (f == NULL)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot open \"%s\": %s", path, strerror(errno));
    fire_sha256_init(&s);
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
        fire_sha256_add(&s, chunk, n);
    failed = ferror(f) != 0;
    fclose(f);
    if (failed) return FIRE_FAIL(FIRE_ERR_IO, "cannot read \"%s\"", path);
    fire_sha256_final(&s, digest);
    fire_sha256_hex(digest, hex);
    return FIRE_OK;
}

static uint32_t add_blobs(uint32_t crc, Caffe__BlobProto *const *blob, size_t n)
{
    for (size_t i = 0; i < n; i++)
        crc = fire_crc32c(crc, blob[i]->data, blob[i]->n_data * sizeof(float));
    return crc;
}

/* CRC32C of the iteration, the history and the residuals, as states have it that were
 * written before there were seals. */
static uint32_t checksum(const Caffe__SolverState *s)
{
    uint32_t crc = fire_crc32c(0, &s->iter, sizeof(s->iter));

    crc = add_blobs(crc, s->history, s->n_history);
    return add_blobs(crc, s->fire->residual, s->fire->n_residual);
}

fire_status_t fire_snapshot_seal(Caffe__SolverState *state, const char *model)
{
    char hex[65];

    FIRE_TRY(hash_file(model, hex));
    return fire_message_add_string(state->fire, "weights_sha256", hex);
}

/* Both checksums; a file without them passes. model: its path, or NULL. */
static fire_status_t check(const char *path, const Caffe__SolverState *state,
                           const char *model)
{
    const Caffe__FireState *ours = state->fire;
    char                    hex[65];

    if (ours == NULL) return FIRE_OK;
    if (ours->has_crc32c && ours->crc32c != checksum(state))
        return FIRE_FAIL(FIRE_ERR_PARSE, "\"%s\" is damaged: checksum mismatch", path);
    if (ours->weights_sha256 == NULL || model == NULL) return FIRE_OK;
    FIRE_TRY(hash_file(model, hex));
    if (strcmp(hex, ours->weights_sha256) != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "\"%s\" is not the model that \"%s\" was written with: it is "
                         "damaged or was replaced; to begin from it, use --weights",
                         model, path);
    return FIRE_OK;
}

/* ---- one snapshot ---- */

/* A state names its model as a path from the directory in which the training ran. If
 * there is no such file, look for one of that name in the directory of the state. */
static fire_status_t find_model(const char *named, const char *state_path,
                                char **path_p)
{
    const char *base  = strrchr(named, '/');
    const char *slash = strrchr(state_path, '/');
    int         dir   = slash != NULL ? (int)(slash - state_path) + 1 : 0;
    char       *sibling;

    if (access(named, R_OK) == 0) return fire_strdup(named, path_p);
    FIRE_TRY(fire_asprintf(&sibling, "%.*s%s", dir, state_path,
                           base != NULL ? base + 1 : named));
    if (access(sibling, R_OK) != 0) {
        fire_free(sibling);
        return FIRE_FAIL(FIRE_ERR_IO,
                         "cannot open \"%s\", the model that \"%s\" was written with, "
                         "nor find it beside that file",
                         named, state_path);
    }
    *path_p = sibling;
    return FIRE_OK;
}

fire_status_t fire_snapshot_open(const char *path, Caffe__SolverState **state_p,
                                 char **model_p)
{
    Caffe__SolverState *state;
    char               *model = NULL;
    fire_status_t       st    = FIRE_OK;

    FIRE_TRY(fire_solver_state_load(path, &state));
    if (state->learned_net != NULL) st = find_model(state->learned_net, path, &model);
    if (st >= 0) st = check(path, state, model);
    if (st < 0) {
        fire_message_free(state);
        fire_free(model);
        return st;
    }
    *state_p = state;
    *model_p = model;
    return FIRE_OK;
}

/* ---- all snapshots of a prefix ---- */

/* n of <prefix>_iter_<n>.solverstate[.h5]; -1 for another name. */
static long long iteration_of(const char *path, size_t prefix)
{
    const char *number = path + prefix + strlen("_iter_");
    char       *rest;
    long long   iter = strtoll(number, &rest, 10);

    if (rest == number ||
        (strcmp(rest, ".solverstate") != 0 && strcmp(rest, ".solverstate.h5") != 0))
        return -1;
    return iter;
}

int64_t fire_snapshot_iteration(const char *path)
{
    const char *last = NULL;

    for (const char *at = path; (at = strstr(at, "_iter_")) != NULL; at++)
        last = at;
    return last != NULL ? iteration_of(path, (size_t)(last - path)) : -1;
}

/* Was it written at or after `since`? A file that cannot be looked at was not. */
static bool is_since(const char *path, double since)
{
    struct stat s;

    return stat(path, &s) == 0 &&
           (double)s.st_mtim.tv_sec + 1e-9 * (double)s.st_mtim.tv_nsec >= since;
}

static bool all_finite(Caffe__BlobProto *const *blob, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < blob[i]->n_data; k++)
            if (!isfinite(blob[i]->data[k])) return false;
        for (size_t k = 0; k < blob[i]->n_double_data; k++)
            if (!isfinite(blob[i]->double_data[k])) return false;
    }
    return true;
}

static fire_status_t check_finite(const char *path, const Caffe__SolverState *state,
                                  const char *model)
{
    bool                 finite = all_finite(state->history, state->n_history);
    Caffe__NetParameter *net;

    if (finite && model != NULL) {
        FIRE_TRY(fire_net_param_load_weights(model, &net));
        for (size_t i = 0; i < net->n_layer; i++)
            finite = finite && all_finite(net->layer[i]->blobs, net->layer[i]->n_blobs);
        fire_message_free(net);
    }
    if (finite) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "\"%s\" holds numbers that are not finite: training had diverged",
                     path);
}

/* Reads the whole snapshot; says in the log why one is skipped. */
static bool is_good(const char *path)
{
    Caffe__SolverState *state = NULL;
    char               *model = NULL;
    fire_status_t       st    = fire_snapshot_open(path, &state, &model);

    if (st >= 0) st = check_finite(path, state, model);
    if (st < 0) FIRE_LOG(WARNING, "not resuming from it: %s", fire_last_error());
    fire_message_free(state);
    fire_free(model);
    return st >= 0;
}

/* Try the highest iteration first, then lower ones, until one is good. */
static const char *choose(const glob_t *found, size_t prefix, double since,
                          long long below)
{
    for (;;) {
        const char *best = NULL;
        long long   most = -1;

        for (size_t i = 0; i < found->gl_pathc; i++) {
            long long n = iteration_of(found->gl_pathv[i], prefix);

            if (n <= most || n >= below || !is_since(found->gl_pathv[i], since))
                continue;
            most = n;
            best = found->gl_pathv[i];
        }
        if (best == NULL || is_good(best)) return best;
        below = most;
    }
}

fire_status_t fire_snapshot_find(const char *prefix, double since, char **path_p)
{
    return fire_snapshot_find_below(prefix, since, INT64_MAX, path_p);
}

fire_status_t fire_snapshot_find_below(const char *prefix, double since, int64_t below,
                                       char **path_p)
{
    const char   *best;
    glob_t        found;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_path_glob(prefix, "_iter_*.solverstate*", &found));
    *path_p = NULL;
    best    = choose(&found, strlen(prefix), since, below);
    if (best != NULL) st = fire_strdup(best, path_p);
    globfree(&found);
    return st;
}

/* Remove a state, its model and the means of the weights. */
static void drop(const char *path, size_t prefix, long long iter)
{
    static const char *const extension[] = {"caffemodel", "average.caffemodel"};
    const char              *hdf5 = fire_path_has_suffix(path, ".h5") ? ".h5" : "";

    unlink(path);
    for (int i = 0; i < 2; i++) {
        char *model;

        if (fire_asprintf(&model, "%.*s_iter_%lld.%s%s", (int)prefix, path, iter,
                          extension[i], hdf5) < 0)
            return;
        unlink(model);
        fire_free(model);
    }
}

/* The n-th highest iteration that is below or equal to `upto`; -1: there are fewer. */
static long long nth_highest(const glob_t *found, size_t prefix, int64_t upto, int n)
{
    long long below = upto + 1;

    for (; n > 0 && below >= 0; n--) {
        long long most = -1;

        for (size_t i = 0; i < found->gl_pathc; i++) {
            long long iter = iteration_of(found->gl_pathv[i], prefix);

            if (iter > most && iter < below) most = iter;
        }
        below = most;
    }
    return below;
}

fire_status_t fire_snapshot_prune(const char *prefix, int64_t iter, int keep)
{
    size_t    n = strlen(prefix);
    glob_t    found;
    long long last;

    FIRE_TRY(fire_path_glob(prefix, "_iter_*.solverstate*", &found));
    last = nth_highest(&found, n, iter, keep);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        long long k = iteration_of(found.gl_pathv[i], n);

        if (k >= 0 && k < last) drop(found.gl_pathv[i], n, k);
    }
    globfree(&found);
    return FIRE_OK;
}

void fire_snapshot_clean(const char *prefix)
{
    glob_t found;

    if (fire_path_glob(prefix, "_iter_*.tmp.*", &found) < 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

fire_status_t fire_snapshot_now(const char *prefix, double *now_p)
{
    char         *probe;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&probe, "%s.clock.%d", prefix, (int)getpid()));
    st = fire_file_probe(probe, now_p);
    fire_free(probe);
    return st;
}
