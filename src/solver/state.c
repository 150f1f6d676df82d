/* state.c - a solver's state to and from Caffe's SolverState message. History blobs are
 * in Caffe's order: all first ones, [nparam], then all second ones. */
#include "base/log.h"
#include "model/blob_proto.h"
#include "net/net_state.h"
#include "solver/solver.h"

static int history_count(const fire_solver_t *s)
{
    return s->rule->nhistory * s->net->nparam;
}

static fire_status_t save_history(fire_blob_t *h, Caffe__SolverState *state)
{
    Caffe__BlobProto *proto;
    const float      *x;

    FIRE_TRY(fire_message_add_message(state, "history", &proto));
    FIRE_TRY(fire_blob_proto_set_shape(proto, h->ndim, h->dim));
    FIRE_TRY(fire_blob_read(h, FIRE_DATA, FIRE_CPU, &x));
    return fire_blob_proto_write(proto, FIRE_DATA, h->count, x);
}

fire_status_t fire_solver_save(const fire_solver_t *s, Caffe__SolverState **state_p)
{
    Caffe__SolverState *state;
    fire_status_t       st;

    FIRE_TRY(fire_message_create(&caffe__solver_state__descriptor,
                                 (ProtobufCMessage **)&state));
    state->has_iter = state->has_current_step = true;
    state->iter                               = (int32_t)s->iter;
    state->current_step                       = s->current_step;
    for (int i = 0; i < history_count(s); i++)
        FIRE_TRY_GOTO(st, save_history(s->history[i], state), err_state);
    *state_p = state;
    return FIRE_OK;

err_state:
    fire_message_free(state);
    return st;
}

/* The history must fit rule and net: as many blobs, of the same shapes. */
fire_status_t fire_solver_load(fire_solver_t *s, const Caffe__SolverState *state,
                               const char *source)
{
    if ((int)state->n_history != history_count(s))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "%s holds %zu history blobs, this net and solver type %s need %d: "
            "it belongs to another net or solver",
            source, state->n_history, s->rule->type, history_count(s));
    for (int i = 0; i < history_count(s); i++) {
        fire_blob_t *h = s->history[i];
        float       *x;

        if (!fire_blob_proto_fits(state->history[i], h->ndim, h->dim))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%s: history blob %d has another shape than the net's "
                             "parameter",
                             source, i);
        FIRE_TRY(fire_blob_write(h, FIRE_DATA, FIRE_CPU, &x));
        FIRE_TRY(
            fire_blob_proto_read(state->history[i], FIRE_DATA, source, h->count, x));
    }
    s->iter         = state->iter;
    s->current_step = state->current_step;
    FIRE_LOG(INFO, "Restored iteration %lld from %s", (long long)s->iter, source);
    return FIRE_OK;
}
