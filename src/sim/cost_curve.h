/* cost_curve.h - how long an allreduce of any size takes on so many workers. Simulating
 * each is exact but slow for many workers, so a cost curve simulates a few sizes: between
 * them time is a straight line, and beyond the last one the pipeline is full and time
 * grows with the bytes, not faster than a worker can send them. Servers, rings and
 * all-to-all exchanges of very many workers, whose workers all do the same, have
 * formulas. */
#ifndef FIRE_SIM_COST_CURVE_H
#define FIRE_SIM_COST_CURVE_H
#include "sim/collective.h"

enum { FIRE_COST_CURVE_POINTS = 5 };

typedef struct fire_mode {
    const fire_algo_t  *algo;
    const fire_codec_t *codec;  /* NULL: float32 on the wire */
    int                 colors; /* 0: 4 */
    size_t              piece; /* bytes of the longest message; 0: as comm chooses it */
} fire_mode_t;

typedef struct fire_cost_curve {
    double       bytes[FIRE_COST_CURVE_POINTS];
    fire_price_t price[FIRE_COST_CURVE_POINTS];
    double       card; /* bytes/s that a worker can send at best */
} fire_cost_curve_t;

fire_status_t fire_cost_curve_make(const fire_cluster_t *cluster,
                                   const fire_mode_t *mode, int workers,
                                   fire_cost_curve_t *curve_p);
fire_price_t  fire_cost_curve_price(const fire_cost_curve_t *curve, double bytes);

/* One size, without shortcuts. */
fire_status_t fire_mode_simulate(const fire_cluster_t *cluster, const fire_mode_t *mode,
                                 int workers, double bytes, fire_price_t *price_p);
#endif
