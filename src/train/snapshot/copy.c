/* copy.c - copies weights and history, and writes the copies. The model is complete on
 * disk before the state that names it is written, so a state always has its model. */
#include "train/snapshot/copy.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "model/load.h"
#include "train/snapshot/snapshot.h"
#include "train/trainer_state.h"

enum { OWN_MODE = 0600 };

/* ---- taking ---- */

static bool is_hdf5(const fire_trainer_t *t)
{
    return t->param->snapshot_format == CAFFE__SOLVER_PARAMETER__SNAPSHOT_FORMAT__HDF5;
}

/* With .h5 for HDF5. */
static fire_status_t name_file(const fire_trainer_t *t, const fire_copy_t *c,
                               const char *extension, char **name_p)
{
    return fire_asprintf(name_p, "%s_iter_%lld.%s%s", c->prefix, (long long)c->iter,
                         extension, is_hdf5(t) ? ".h5" : "");
}

static fire_status_t name_files(const fire_trainer_t *t, fire_copy_t *c)
{
    const char *format = is_hdf5(t) ? "HDF5" : "binary proto";

    FIRE_TRY(name_file(t, c, "caffemodel", &c->model));
    FIRE_TRY(name_file(t, c, "solverstate", &c->path));
    if (t->follow.averaged > 0 && !c->in_memory)
        FIRE_TRY(name_file(t, c, "average.caffemodel", &c->average));
    if (c->in_memory) return FIRE_OK;
    FIRE_LOG(INFO, "Snapshotting to %s file %s", format, c->model);
    FIRE_LOG(INFO, "Snapshotting solver state to %s file %s", format, c->path);
    if (c->average != NULL)
        FIRE_LOG(INFO, "Snapshotting to %s file %s", format, c->average);
    return FIRE_OK;
}

/* The means of the weights as a model, beside that of the weights. */
static fire_status_t copy_means(fire_trainer_t *t, fire_copy_t *c)
{
    fire_status_t st, back;

    if (c->average == NULL) return FIRE_OK;
    FIRE_TRY(fire_average_swap(t));
    st   = fire_net_save(t->net, t->param->snapshot_diff, &c->means);
    back = fire_average_swap(t);
    return st >= 0 ? back : st;
}

int64_t fire_copy_bytes(const fire_trainer_t *t)
{
    int64_t n = 0;

    for (int i = 0; i < t->net->nparam; i++)
        n += fire_blob_count(t->net->learn[i].blob);
    return n * (int64_t)sizeof(float) * (1 + t->solver->rule->nhistory);
}

static fire_status_t make_copy(fire_trainer_t *t, const fire_copy_place_t *place,
                               fire_copy_t *c)
{
    c->keep      = place->keep;
    c->best      = place->best;
    c->in_memory = place->in_memory;
    c->iter      = t->solver->iter;
    c->bytes     = fire_copy_bytes(t);
    FIRE_TRY(fire_strdup(place->prefix, &c->prefix));
    FIRE_TRY(name_files(t, c));
    FIRE_TRY(fire_trainer_make_state(t, &c->state));
    FIRE_TRY(fire_net_save(t->net, t->param->snapshot_diff, &c->weights));
    return copy_means(t, c);
}

/* With a sharded update each worker holds the history of its own share only. */
static fire_status_t gather_history(fire_trainer_t *t)
{
    const fire_reducer_ops_t *ops = t->reducer->ops;

    if (ops->gather == NULL || t->grads->weights == NULL) return FIRE_OK;
    for (int i = 0; i < t->solver->rule->nhistory * t->net->nparam; i++) {
        fire_blob_t *h     = t->solver->history[i];
        int64_t      first = t->grads->offset[i % t->net->nparam];
        float       *x;

        FIRE_TRY(fire_blob_update(h, FIRE_DATA, FIRE_CPU, &x));
        FIRE_TRY(ops->gather(t->reducer, first, h->count, x));
    }
    return FIRE_OK;
}

static fire_status_t take(fire_trainer_t *t, const fire_copy_place_t *place,
                          fire_copy_t *c)
{
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_trainer_wait(t));
    FIRE_TRY(gather_history(t));
    if (c != NULL) st = make_copy(t, place, c);
    FIRE_TRY(fire_trainer_agree(t, st));
    return fire_trainer_save_residual(t, c != NULL ? c->state->fire : NULL);
}

fire_status_t fire_copy_take(fire_trainer_t *t, const fire_copy_place_t *place,
                             bool writes, fire_copy_t **copy_p)
{
    fire_copy_t  *c  = NULL;
    fire_status_t st = writes ? FIRE_NEW(&c, 1) : FIRE_OK;

    FIRE_TRY(fire_trainer_agree(t, st));
    st = take(t, place, c);
    if (st < 0) {
        fire_copy_free(c);
        return st;
    }
    *copy_p = c;
    return FIRE_OK;
}

void fire_copy_free(fire_copy_t *c)
{
    if (c == NULL) return;
    fire_message_free(c->weights);
    fire_message_free(c->means);
    fire_message_free(c->state);
    fire_free(c->model);
    fire_free(c->average);
    fire_free(c->path);
    fire_free(c->prefix);
    fire_free(c);
}

/* ---- writing ---- */

/* A model whose state could not be written is of no use, and takes room that the next try
 * needs; unless there is a state of an earlier run, which names it. */
static void drop_model(const fire_copy_t *c)
{
    if (access(c->path, F_OK) != 0) unlink(c->model);
}

/* The means can be had from the state: in memory they are left out. The model first: the
 * state contains its checksum. */
static fire_status_t write_files(fire_copy_t *c)
{
    FIRE_TRY(fire_net_param_save_weights(c->model, c->weights));
    if (c->in_memory) chmod(c->model, OWN_MODE);
    FIRE_TRY(fire_message_add_string(c->state, "learned_net", c->model));
    FIRE_TRY(fire_snapshot_seal(c->state, c->model));
    FIRE_TRY(fire_solver_state_save(c->path, c->state));
    if (c->in_memory) chmod(c->path, OWN_MODE);
    if (c->means != NULL) FIRE_TRY(fire_net_param_save_weights(c->average, c->means));
    return c->keep > 0 ? fire_snapshot_prune(c->prefix, c->iter, c->keep) : FIRE_OK;
}

fire_status_t fire_copy_write(fire_copy_t *c)
{
    fire_status_t st = write_files(c);

    if (st < 0) drop_model(c);
    return st;
}
