/* moment.h - where in the training a worker is: seed, step, lane. All that is random or
 * ordered (dropout masks, crops, sample order) is a function of the moment, never of
 * the number of workers or of what ran before.
 *
 * The global batch is cut into lanes (docs/design/0002-lanes.md). A worker runs its
 * lanes one after another; `lane` is the one that it runs now. */
#ifndef FIRE_BASE_RANDOM_MOMENT_H
#define FIRE_BASE_RANDOM_MOMENT_H
#include <fire/api.h>

FIRE_BEGIN_C
typedef enum fire_batch_rule {
    FIRE_BATCH_GLOBAL,     /* batch_size is the global batch, cut into lanes */
    FIRE_BATCH_PER_WORKER, /* as BVLC Caffe: each lane takes batch_size, interleaved */
} fire_batch_rule_t;

typedef struct fire_moment {
    uint64_t seed;
    int64_t  step;   /* forward passes done: iteration * iter_size + k */
    int64_t  origin; /* step at which data began at record 0 */
    int64_t  batch;  /* global batch of the training net; 0: not known */
    int      lane, lanes;
    /* The order in which this worker runs moments, so that data can be read ahead:
     * lane_steps steps (iter_size; 0: 1) with each of its lanes lane_first ...
     * lane_first + lane_count - 1 (count 0: only `lane`), then step_stride steps on (0:
     * 1). If this is wrong, training is slower but has the same result. */
    int               lane_first, lane_count;
    int               lane_steps, step_stride;
    fire_batch_rule_t rule;
    bool              shuffle; /* every Data layer shuffles each epoch */
    /* Layers with statistics (BatchNorm) put this lane's contribution into the
     * parameter's diff instead of updating the parameter; the solver combines the
     * lanes. */
    bool defer_stats;
} fire_moment_t;

#define FIRE_MOMENT_INIT ((fire_moment_t){.seed = 1, .lanes = 1})

/* The samples of one lane at one step: first, first + stride, ..., n of them. Samples
 * are counted over all steps since data began. */
typedef struct fire_slice {
    int64_t first, stride, n;
} fire_slice_t;

/* First sample of a lane in the global batch. If the batch cannot be divided evenly,
 * lane sizes differ by one, larger ones first. */
static inline int64_t fire_lane_first(int64_t batch, int lane, int lanes)
{
    int64_t base = batch / lanes, extra = batch % lanes;

    return lane * base + (lane < extra ? lane : extra);
}

/* The samples that a data layer with this batch_size reads at this moment. */
static inline fire_slice_t fire_moment_slice(const fire_moment_t *m, int64_t batch_size)
{
    int64_t      step = m->step - m->origin;
    fire_slice_t s;

    if (m->rule == FIRE_BATCH_PER_WORKER) {
        s.n      = batch_size;
        s.stride = m->lanes;
        s.first  = step * batch_size * m->lanes + m->lane;
    } else {
        int64_t at = fire_lane_first(batch_size, m->lane, m->lanes);

        s.n      = fire_lane_first(batch_size, m->lane + 1, m->lanes) - at;
        s.stride = 1;
        s.first  = step * batch_size + at;
    }
    return s;
}

/* The moment that this worker runs after m, by lane_first ... step_stride. */
static inline fire_moment_t fire_moment_next(fire_moment_t m)
{
    int steps = m.lane_steps > 1 ? m.lane_steps : 1;

    if ((m.step + 1) % steps != 0) {
        m.step++;
    } else if (m.lane_count > 0 && m.lane + 1 < m.lane_first + m.lane_count) {
        m.lane++;
        m.step -= steps - 1;
    } else {
        if (m.lane_count > 0) m.lane = m.lane_first;
        m.step += m.step_stride > 0 ? m.step_stride : 1;
    }
    return m;
}

/* The number, in the global batch, of row i of a blob that has n rows in this lane.
 * Dropout uses it as the index of its random numbers. */
static inline int64_t fire_moment_row(const fire_moment_t *m, int64_t n, int64_t i)
{
    int64_t at = fire_lane_first(m->batch, m->lane, m->lanes);

    if (m->rule == FIRE_BATCH_PER_WORKER) return i * m->lanes + m->lane;
    if (fire_lane_first(m->batch, m->lane + 1, m->lanes) - at == n) return at + i;
    return m->lane * n + i;
}
FIRE_END_C
#endif
