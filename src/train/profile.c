/* profile.c - takes the time around layers, updates and iterations. */
#include "train/profile.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "net/net_state.h"

fire_status_t fire_profile_add(fire_profile_t *p, fire_activity_kind_t kind,
                               int32_t index, double begin, double end)
{
    if (!p->recording) return FIRE_OK;
    FIRE_TRY(fire_grow(&p->activity, &p->activity_cap, p->nactivity + 1,
                       sizeof(*p->activity)));
    p->activity[p->nactivity++] = (fire_activity_t){
        .begin = begin - p->clock_zero,
        .end   = end - p->clock_zero,
        .kind  = kind,
        .index = index,
    };
    return FIRE_OK;
}

void fire_profile_record(fire_profile_t *p, bool yes)
{
    if (yes && !p->recording) p->recording_since = fire_clock_now();
    p->recording = yes;
}

/* ---- around layers ---- */

static fire_status_t begin(void *arg, int layer)
{
    fire_profile_t *p = arg;

    (void)layer;
    p->began = fire_clock_now();
    return FIRE_OK;
}

/* A pass is counted when the first layer has run. */
static fire_status_t after_forward(void *arg, int layer)
{
    fire_profile_t *p       = arg;
    double          now     = fire_clock_now();
    bool            is_data = p->label[layer].is_source;

    p->times.phase[is_data ? FIRE_PHASE_DATA : FIRE_PHASE_FORWARD] += now - p->began;
    p->forward[layer] += now - p->began;
    if (layer == 0) p->passes++;
    return fire_profile_add(p, FIRE_ACTIVITY_FORWARD, layer, p->began, now);
}

static fire_status_t after_backward(void *arg, int layer)
{
    fire_profile_t *p   = arg;
    double          now = fire_clock_now();

    p->times.phase[FIRE_PHASE_BACKWARD] += now - p->began;
    p->backward[layer] += now - p->began;
    return fire_profile_add(p, FIRE_ACTIVITY_BACKWARD, layer, p->began, now);
}

/* Names belong to the net's description and end with the net. */
static fire_status_t make_labels(fire_profile_t *p)
{
    FIRE_TRY(FIRE_NEW(&p->label, p->net->nlayer));
    for (int i = 0; i < p->net->nlayer; i++) {
        const fire_layer_t *l = &p->net->layer[i].base;

        p->label[i] = (fire_layer_label_t){
            .name      = l->param->name != NULL ? l->param->name : l->param->type,
            .is_source = l->ops->flags & FIRE_LAYER_SOURCE};
    }
    return FIRE_OK;
}

fire_status_t fire_profile_create(fire_net_t *net, fire_profile_t **profile_p)
{
    fire_profile_t *p;
    fire_status_t   st;

    FIRE_TRY(FIRE_NEW(&p, 1));
    p->net = net;
    FIRE_TRY_GOTO(st, make_labels(p), err_profile);
    FIRE_TRY_GOTO(st, FIRE_NEW(&p->forward, net->nlayer), err_profile);
    FIRE_TRY_GOTO(st, FIRE_NEW(&p->backward, net->nlayer), err_profile);
    p->zero       = fire_clock_unix();
    p->clock_zero = fire_clock_now();
    net->watch    = (fire_net_hooks_t){.arg             = p,
                                       .before_forward  = begin,
                                       .after_forward   = after_forward,
                                       .before_backward = begin,
                                       .after_backward  = after_backward};
    *profile_p    = p;
    return FIRE_OK;

err_profile:
    fire_profile_destroy(p);
    return st;
}

void fire_profile_destroy(fire_profile_t *p)
{
    if (p == NULL) return;
    fire_free(p->label);
    fire_free(p->forward);
    fire_free(p->backward);
    fire_free(p->activity);
    fire_free(p);
}

/* ---- around iterations ---- */

void fire_profile_iteration_begin(fire_profile_t *p)
{
    if (p == NULL) return;
    p->iteration_began = fire_clock_now();
    p->data            = p->times.phase[FIRE_PHASE_DATA];
}

void fire_profile_hide_data(fire_profile_t *p)
{
    if (p != NULL) p->times.phase[FIRE_PHASE_DATA] = p->data;
}

/* A GPU that waited for images counts as waiting for data too. */
static void add_stalls(fire_profile_t *p)
{
    double stalled = 0;

    for (int i = 0; i < p->net->nlayer; i++)
        stalled += p->net->layer[i].base.stalled;
    p->times.phase[FIRE_PHASE_DATA] += stalled - p->stalled;
    p->stalled = stalled;
}

void fire_profile_iteration_end(fire_profile_t *p)
{
    double now;

    if (p == NULL) return;
    add_stalls(p);
    now = fire_clock_now();
    p->times.seconds += now - p->iteration_began;
    p->done = p->times;
    p->iterations++;
    fire_profile_add(p, FIRE_ACTIVITY_ITERATION, p->nrecorded, p->iteration_began, now);
    if (p->recording) p->nrecorded++;
}

void fire_profile_update_begin(fire_profile_t *p)
{
    if (p != NULL) p->began = fire_clock_now();
}

void fire_profile_update_end(fire_profile_t *p)
{
    double now;

    if (p == NULL) return;
    now = fire_clock_now();
    p->times.phase[FIRE_PHASE_UPDATE] += now - p->began;
    fire_profile_add(p, FIRE_ACTIVITY_UPDATE, 0, p->began, now);
}

/* Differences of running sums, so that nothing between two calls is lost. */
fire_times_t fire_profile_take(fire_profile_t *p, int64_t *iterations_p)
{
    const fire_times_t *a = &p->taken, *b = &p->done;
    fire_times_t        t = {.seconds = b->seconds - a->seconds,
                             .hidden  = b->hidden - a->hidden,
                             .bytes   = b->bytes - a->bytes};

    for (int i = 0; i < FIRE_NPHASE; i++)
        t.phase[i] = b->phase[i] - a->phase[i];
    *iterations_p = p->iterations;
    p->taken      = p->done;
    p->iterations = 0;
    return t;
}

fire_layer_times_t fire_profile_layers(const fire_profile_t *p)
{
    return (fire_layer_times_t){.nlayer   = p->net->nlayer,
                                .label    = p->label,
                                .forward  = p->forward,
                                .backward = p->backward,
                                .passes   = p->passes};
}
