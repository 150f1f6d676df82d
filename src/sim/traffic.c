/* traffic.c - plans all ranks and matches sends with receives. */
#include "sim/traffic.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "comm/exec/exec_state.h"

/* One end of a message. Sending ends and receiving ends, each sorted by pipe and then
 * in the executor's order, match one to one. */
typedef struct end {
    int     from, to, color;
    int     block, round, chunk;
    int64_t step;
} end_t;

typedef struct ends {
    end_t  *end;
    int64_t n, cap;
} ends_t;

static bool is_local(fire_step_kind_t kind)
{
    return fire_step_is_local(kind) || kind == FIRE_NATIVE;
}

static int compare_pipes(const end_t *a, const end_t *b)
{
    int d = a->from - b->from;

    if (d == 0) d = a->to - b->to;
    return d != 0 ? d : a->color - b->color;
}

static int compare_ends(const void *pa, const void *pb)
{
    const end_t *a = pa, *b = pb;
    int          d = compare_pipes(a, b);

    if (d == 0) d = a->block - b->block;
    if (d == 0) d = a->round - b->round;
    if (d == 0) d = a->chunk - b->chunk;
    return d != 0 ? d : a->step < b->step ? -1 : a->step > b->step;
}

static fire_status_t add_end(ends_t *e, end_t end)
{
    FIRE_TRY(fire_grow(&e->end, &e->cap, e->n + 1, sizeof(*e->end)));
    e->end[e->n++] = end;
    return FIRE_OK;
}

/* Bytes of a step's message; 4 per element of a local step. */
static double wire_bytes(const fire_codec_t *codec, const fire_step_t *s)
{
    if (codec == NULL || is_local(s->kind)) return 4.0 * (double)s->span.len;
    return (double)codec->bound(s->span.len);
}

static fire_status_t add_chain(fire_traffic_t *t, int block, bool new_group)
{
    FIRE_TRY(fire_grow(&t->chain, &t->chain_cap, t->nchain + 1, sizeof(*t->chain)));
    if (new_group) {
        FIRE_TRY(fire_grow(&t->group, &t->group_cap, t->ngroup + 1, sizeof(*t->group)));
        t->group[t->ngroup++].front = t->nchain;
    }
    t->chain[t->nchain++]       = (fire_sim_chain_t){.first = t->nstep,
                                                     .next  = t->nstep,
                                                     .end   = t->nstep,
                                                     .round = -1,
                                                     .block = block,
                                                     .group = (int)(t->ngroup - 1)};
    t->group[t->ngroup - 1].end = t->nchain;
    return FIRE_OK;
}

static fire_status_t add_step(fire_traffic_t *t, int rank, const fire_step_t *s,
                              const fire_codec_t *codec, ends_t *out, ends_t *in)
{
    const fire_sim_chain_t *chain = &t->chain[t->nchain - 1];
    end_t end = {rank, s->peer, s->color, chain->block, s->round, s->chunk, t->nstep};

    FIRE_TRY(fire_grow(&t->step, &t->step_cap, t->nstep + 1, sizeof(*t->step)));
    t->step[t->nstep++] = (fire_sim_step_t){.kind    = s->kind,
                                            .rank    = rank,
                                            .round   = s->round,
                                            .chain   = (int)(t->nchain - 1),
                                            .message = -1,
                                            .bytes   = wire_bytes(codec, s)};
    t->chain[t->nchain - 1].end++;
    if (fire_step_is_out(s->kind)) return add_end(out, end);
    end.from = s->peer;
    end.to   = rank;
    return is_local(s->kind) ? FIRE_OK : add_end(in, end);
}

static fire_status_t plan_rank(const fire_algo_t *algo, const fire_coll_t *c,
                               const fire_codec_t *codec, fire_traffic_t *t,
                               ends_t *out, ends_t *in)
{
    fire_sched_t  sched = {0};
    fire_status_t st    = fire_sched_plan(&sched, algo, c);

    for (int64_t i = 0; st >= 0 && i < sched.n; i++) {
        const fire_step_t *s = &sched.step[i], *b = s - 1;
        bool               new_color = i == 0 || s->color != b->color;

        if (new_color || s->chunk != b->chunk)
            st = add_chain(t, fire_sched_block(&sched, s->chunk), new_color);
        if (st >= 0) st = add_step(t, c->rank, s, codec, out, in);
    }
    fire_sched_fini(&sched);
    return st;
}

static fire_status_t match(fire_traffic_t *t, const fire_algo_t *algo,
                           const ends_t *out, const ends_t *in)
{
    FIRE_TRY(FIRE_NEW(&t->message, out->n));
    FIRE_TRY(FIRE_NEW(&t->pipe, out->n));
    for (int64_t i = 0; i < out->n; i++) {
        const end_t *o = &out->end[i];

        if (i >= in->n || compare_pipes(o, &in->end[i]) != 0)
            return FIRE_FAIL(FIRE_ERR_COMM,
                             "algorithm %s: rank %d sends what rank %d does not await",
                             algo->name, o->from, o->to);
        if (i == 0 || compare_pipes(o, o - 1) != 0)
            t->pipe[t->npipe++] = (fire_sim_pipe_t){i, i, 0, i, i, i, i, i, i, i, i, 0};
        t->pipe[t->npipe - 1].end++;
        t->message[i] = (fire_sim_message_t){
            .out = o->step, .in = in->end[i].step, .pipe = t->npipe - 1};
        t->step[o->step].message = t->step[in->end[i].step].message = i;
    }
    t->nmessage = out->n;
    return FIRE_OK;
}

/* The windows that exec_setup.c would choose. */
static void choose_windows(fire_traffic_t *t, bool few)
{
    for (int64_t i = 0; i < t->npipe; i++) {
        fire_sim_pipe_t *p     = &t->pipe[i];
        double           most  = 1;
        bool             loans = true;

        for (int64_t k = p->first; k < p->end; k++) {
            const fire_sim_step_t *st = &t->step[t->message[k].out];

            if (st->bytes > most) most = st->bytes;
            loans = loans && st->kind == FIRE_LEND;
        }
        p->window =
            loans ? FIRE_WINDOW_MOST
                  : fire_window_of(few ? FIRE_WINDOW : FIRE_WINDOW_MOST, (size_t)most);
    }
}

fire_status_t fire_traffic_plan(const fire_algo_t *algo, const fire_coll_t *c,
                                const fire_codec_t *codec, bool shared,
                                fire_traffic_t *t)
{
    fire_coll_t   mine = *c;
    ends_t        out = {0}, in = {0};
    fire_status_t st = FIRE_OK;

    for (mine.rank = 0; st >= 0 && mine.rank < c->size; mine.rank++)
        st = plan_rank(algo, &mine, codec, t, &out, &in);
    if (st >= 0 && out.n > 0) {
        qsort(out.end, (size_t)out.n, sizeof(*out.end), compare_ends);
        qsort(in.end, (size_t)in.n, sizeof(*in.end), compare_ends);
    }
    if (st >= 0) st = match(t, algo, &out, &in);
    if (st >= 0) choose_windows(t, shared || fire_algo_is_pipeline(algo));
    fire_free(out.end);
    fire_free(in.end);
    return st;
}

void fire_traffic_fini(fire_traffic_t *t)
{
    fire_free(t->step);
    fire_free(t->message);
    fire_free(t->pipe);
    fire_free(t->chain);
    fire_free(t->group);
    *t = (fire_traffic_t){0};
}
