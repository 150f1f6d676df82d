/* cost_curve.h - how long an allreduce of any size takes on so many workers.
 *
 *   seconds |            . '      past the last point: the pipeline is full, time grows
 *           |        *            with the bytes, not faster than a worker can send
 *           |    *
 *           | *                   * simulated; straight lines in between
 *           +--------------- bytes
 *
 * Simulating every size would be exact but slow for many workers. Parameter server,
 * ring and all-to-all exchange among very many workers have formulas instead: their
 * workers all do the same. */
#ifndef FIRE_SIM_COST_CURVE_H
#define FIRE_SIM_COST_CURVE_H
#include "sim/collective.h"

enum { FIRE_COST_CURVE_POINTS = 5 };

/* A way to do an allreduce. */
typedef struct fire_mode {
    const fire_algo_t  *algo;
    const fire_codec_t *codec;  /* NULL: float32 on the wire */
    int                 colors; /* 0: 4 */
    size_t              piece;  /* bytes of the longest message; 0: fire_piece_of() */
} fire_mode_t;

typedef struct fire_cost_curve {
    double       bytes[FIRE_COST_CURVE_POINTS]; /* ascending */
    fire_price_t price[FIRE_COST_CURVE_POINTS]; /* of these */
    double       card;                          /* bytes/s that a worker can send */
} fire_cost_curve_t;

fire_status_t fire_cost_curve_make(const fire_cluster_t *cluster,
                                   const fire_mode_t *mode, int workers,
                                   fire_cost_curve_t *curve_p);
fire_price_t  fire_cost_curve_price(const fire_cost_curve_t *curve, double bytes);

/* Simulate one size. */
fire_status_t fire_mode_simulate(const fire_cluster_t *cluster, const fire_mode_t *mode,
                                 int workers, double bytes, fire_price_t *price_p);
#endif
