/* measured.h - what workers measured about some iterations, as plain numbers: they are
 * sent between workers, summed up, written to run.jsonl and drawn in traces. */
#ifndef FIRE_RUNLOG_MEASURED_H
#define FIRE_RUNLOG_MEASURED_H
#include <fire/trainer.h>

/* What the training thread spends an iteration on, one phase at a time. Together the
 * phases make up the iteration, but for the little work between them. */
typedef enum fire_phase {
    FIRE_PHASE_DATA, /* data layers: waiting for input */
    FIRE_PHASE_FORWARD,
    FIRE_PHASE_BACKWARD,
    FIRE_PHASE_EXPOSED, /* waiting for gradients or weights of other workers */
    FIRE_PHASE_UPDATE,
    FIRE_NPHASE,
} fire_phase_t;

extern const char *const fire_phase_names[FIRE_NPHASE]; /* keys of run.jsonl */

/* One worker, over some iterations. */
typedef struct fire_times {
    double  seconds;            /* in iterations; tests and snapshots do not count */
    double  phase[FIRE_NPHASE]; /* seconds of them */
    double  hidden;             /* seconds of communication while the worker computed */
    int64_t bytes;              /* sent */
} fire_times_t;

void fire_times_add(fire_times_t *sum, const fire_times_t *t);

typedef enum fire_activity_kind {
    FIRE_ACTIVITY_FORWARD,  /* index: layer */
    FIRE_ACTIVITY_BACKWARD, /* index: layer */
    FIRE_ACTIVITY_EXCHANGE, /* index: bucket */
    FIRE_ACTIVITY_WAIT,
    FIRE_ACTIVITY_UPDATE,
    FIRE_ACTIVITY_ITERATION, /* index: 0 for the first one with activities, 1 ... */
} fire_activity_kind_t;

extern const char *const fire_activity_names[]; /* "forward", ... */

/* One stretch of work. Seconds count from the measurement's `zero`. */
typedef struct fire_activity {
    double               begin, end;
    fire_activity_kind_t kind;
    int32_t              index;
} fire_activity_t;

typedef struct fire_layer_label {
    const char *name;      /* its type, if the layer has no name */
    bool        is_source; /* brings data */
} fire_layer_label_t;

/* Seconds per layer on the first worker, summed over `passes` since the run began. */
typedef struct fire_layer_times {
    int                       nlayer;
    const fire_layer_label_t *label;    /* [nlayer] */
    const double             *forward;  /* [nlayer] */
    const double             *backward; /* [nlayer] */
    int64_t                   passes;
} fire_layer_times_t;

/* All workers, over the iterations since the last measurement. */
typedef struct fire_measured {
    int64_t                       iterations;
    int                           nworker;
    const fire_times_t           *times;     /* [nworker] */
    const int64_t                *nactivity; /* [nworker], mostly 0 */
    const fire_activity_t *const *activity;  /* [nworker][nactivity], in order of end */
    double                        zero;      /* of activities, in Unix time */
    bool               timeline; /* the last iteration is one to draw: show it */
    fire_layer_times_t layers;
} fire_measured_t;

/* The name of what a worker did: "conv1", "bucket 3", "wait"; returns buf. */
const char *fire_activity_name(const fire_layer_times_t *layers,
                               const fire_activity_t *a, char *buf, size_t size);
/* Does it belong to a data layer? */
bool fire_activity_is_data(const fire_layer_times_t *layers, const fire_activity_t *a);
#endif
