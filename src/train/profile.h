/* profile.h - where the time of one worker goes: sums per phase and per layer and,
 * while they are wanted, single activities with begin and end. Only the trainer's
 * thread uses a profile. */
#ifndef FIRE_TRAIN_PROFILE_H
#define FIRE_TRAIN_PROFILE_H
#include "net/net.h"
#include "runlog/measured.h"

typedef struct fire_profile {
    const fire_net_t   *net;
    fire_layer_label_t *label;              /* [nlayer] */
    double             *forward, *backward; /* [nlayer] seconds since create() */
    int64_t             passes;             /* that these sum up */

    fire_times_t times;      /* since create() */
    fire_times_t done;       /* times when the last iteration ended */
    fire_times_t taken;      /* done at the last take() */
    int64_t      iterations; /* that ended since then */
    double       stalled;    /* seconds that a GPU has waited for data, so far */
    double       data;       /* phase[FIRE_PHASE_DATA] when the iteration began */

    bool             recording;       /* activities are kept */
    double           recording_since; /* fire_clock_now() */
    fire_activity_t *activity;
    int64_t          nactivity, activity_cap;
    int32_t          nrecorded; /* iterations with activities */

    /* The same moment by two clocks: activities count from clock_zero. */
    double zero;            /* fire_clock_unix() */
    double clock_zero;      /* fire_clock_now() */
    double began;           /* the present layer or update */
    double iteration_began; /* the present iteration */
} fire_profile_t;

/* Measure this net: takes its `watch` hooks until destroy. */
fire_status_t fire_profile_create(fire_net_t *net, fire_profile_t **profile_p);
void          fire_profile_destroy(fire_profile_t *p); /* NULL is allowed */

/* Around an iteration, and around an update inside of it. These do nothing for NULL, so
 * that callers need not ask whether they are measured. */
void fire_profile_iteration_begin(fire_profile_t *p);
void fire_profile_iteration_end(fire_profile_t *p);
void fire_profile_update_begin(fire_profile_t *p);
void fire_profile_update_end(fire_profile_t *p);
/* The data layers of this iteration cost nothing: a GPU was still at work on the
 * iteration before while they ran. */
void fire_profile_hide_data(fire_profile_t *p);

/* Keep activities from now on, or stop. */
void fire_profile_record(fire_profile_t *p, bool yes);
/* Keep this one, if activities are kept; begin and end by fire_clock_now(). */
fire_status_t fire_profile_add(fire_profile_t *p, fire_activity_kind_t kind,
                               int32_t index, double begin, double end);

/* Times of the iterations that ended since the last call, and how many did. */
fire_times_t fire_profile_take(fire_profile_t *p, int64_t *iterations_p);
/* Times of the layers so far; valid until destroy. */
fire_layer_times_t fire_profile_layers(const fire_profile_t *p);
#endif
