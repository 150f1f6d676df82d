/* profile.h - where the time of one worker goes: sums per phase and per layer, and,
 * while somebody wants them, the single stretches of work with begin and end. */
#ifndef FIRE_TRAIN_PROFILE_H
#define FIRE_TRAIN_PROFILE_H
#include "net/net.h"

/* What the training thread is doing. Together they make up an iteration, but for the
 * little work in between. */
typedef enum fire_phase {
    FIRE_PHASE_DATA, /* layers that bring data: waiting for input */
    FIRE_PHASE_FORWARD,
    FIRE_PHASE_BACKWARD,
    FIRE_PHASE_EXPOSED, /* waiting for gradients or weights of other workers */
    FIRE_PHASE_UPDATE,
    FIRE_NPHASE,
} fire_phase_t;

extern const char *const fire_phase_names[FIRE_NPHASE];

/* Of one worker over some iterations. Plain numbers: workers send them around. */
typedef struct fire_times {
    double  seconds; /* in iterations; tests and snapshots do not count */
    double  phase[FIRE_NPHASE];
    double  hidden; /* communication that ran beside computation */
    int64_t bytes;  /* sent */
} fire_times_t;

/* A stretch of work. Seconds count from fire_profile_t.zero. */
typedef enum fire_activity_kind {
    FIRE_ACTIVITY_FORWARD, /* index: layer */
    FIRE_ACTIVITY_BACKWARD,
    FIRE_ACTIVITY_EXCHANGE, /* index: bucket */
    FIRE_ACTIVITY_WAIT,
    FIRE_ACTIVITY_UPDATE,
    FIRE_ACTIVITY_ITERATION, /* index: which one, counted from the first with spans */
} fire_activity_kind_t;

typedef struct fire_activity {
    double               begin, end;
    fire_activity_kind_t work;
    int32_t              index;
} fire_activity_t;

typedef struct fire_profile {
    const fire_net_t *net;
    fire_times_t      times;      /* of the whole run */
    fire_times_t      done;       /* as they were when the last iteration ended */
    fire_times_t      taken;      /* as they were at the last fire_profile_take() */
    int64_t           iterations; /* done since then */
    double           *forward, *backward; /* seconds per layer, whole run */
    int64_t           passes;             /* that they sum up */
    double            stalled; /* seconds that a GPU waited for data, so far */
    double            data;    /* of times, when the iteration began */

    bool             recording; /* spans are kept */
    double           recording_since;
    fire_activity_t *span;
    int64_t          nspan, span_cap;
    int32_t          nrecorded; /* iterations */

    double zero; /* Unix time that goes with clock_zero */
    double clock_zero, began, iteration_began;
} fire_profile_t;

/* What all workers measured over the last iterations. */
typedef struct fire_measured {
    int64_t                       iterations;
    int                           nworker;
    const fire_times_t           *times;    /* [nworker] */
    const int64_t                *nspan;    /* [nworker], mostly 0 */
    const fire_activity_t *const *span;     /* seconds from `zero`, by every clock */
    double                        zero;     /* Unix time */
    bool                          timeline; /* spans end with one to show */
    const fire_profile_t         *own;      /* for the times of layers */
} fire_measured_t;

/* Begin to measure this net: takes its `watch` hooks until destroy. */
fire_status_t fire_profile_create(fire_net_t *net, fire_profile_t **profile_p);
void          fire_profile_destroy(fire_profile_t *p); /* NULL is allowed */

/* Around an iteration, and around an update inside of it. All of these do nothing for
 * NULL, so that who is measured need not care. */
void fire_profile_iteration_begin(fire_profile_t *p);
void fire_profile_iteration_end(fire_profile_t *p);
void fire_profile_update_begin(fire_profile_t *p);
void fire_profile_update_end(fire_profile_t *p);
/* While data layers ran, a GPU was still at work on the iteration before. */
void fire_profile_hide_data(fire_profile_t *p);

/* Note a span, given by fire_clock_now(), if spans are wanted. */
fire_status_t fire_profile_span(fire_profile_t *p, fire_activity_kind_t work,
                                int32_t index, double begin, double end);

/* Keep spans from now on, or do not. */
void fire_profile_record(fire_profile_t *p, bool yes);

/* Times of the iterations that ended since the last call, and how many did. */
fire_times_t fire_profile_take(fire_profile_t *p, int64_t *iterations_p);

/* Unix time in seconds. */
double fire_profile_unix_now(void);
#endif
