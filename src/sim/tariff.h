/* tariff.h - how long an allreduce of any size takes on so many workers. Simulating
 * each is exact but slow for many workers, so a tariff simulates a few sizes: between
 * them time is a straight line, and beyond the last one the pipeline is full and time
 * grows with the bytes, not faster than a worker can send them. Servers, rings and
 * all-to-all exchanges of very many workers, whose workers all do the same, have
 * formulas. */
#ifndef FIRE_SIM_TARIFF_H
#define FIRE_SIM_TARIFF_H
#include "sim/collective.h"

enum { FIRE_TARIFF_POINTS = 5 };

typedef struct fire_mode {
    const fire_algo_t  *algo;
    const fire_codec_t *codec;  /* NULL: float32 on the wire */
    int                 colors; /* 0: 4 */
    size_t              piece; /* bytes of the longest message; 0: as comm chooses it */
} fire_mode_t;

typedef struct fire_tariff {
    double       bytes[FIRE_TARIFF_POINTS];
    fire_price_t price[FIRE_TARIFF_POINTS];
    double       card; /* bytes/s that a worker can send at best */
} fire_tariff_t;

fire_status_t fire_tariff_make(const fire_cluster_t *cluster, const fire_mode_t *mode,
                               int workers, fire_tariff_t *tariff_p);
fire_price_t  fire_tariff_price(const fire_tariff_t *t, double bytes);

/* One size, without shortcuts. */
fire_status_t fire_mode_simulate(const fire_cluster_t *cluster, const fire_mode_t *mode,
                                 int workers, double bytes, fire_price_t *price_p);
#endif
