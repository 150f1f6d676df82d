/* price.c - what the cost model says of an allreduce, in seconds:
 *
 *     bench_price MACHINE.json ALGORITHM WORKERS BYTES [PIECE_BYTES] */
#include <stdio.h>
#include <stdlib.h>
#include "sim/cost_curve.h"

static fire_status_t run(char **argv)
{
    fire_mode_t    mode = {0};
    fire_cluster_t cluster;
    fire_price_t   price;

    FIRE_TRY(fire_cluster_load(argv[1], &cluster));
    FIRE_TRY(fire_algo_find(argv[2], &mode.algo));
    if (argv[5] != NULL) mode.piece = (size_t)atof(argv[5]);
    FIRE_TRY(fire_mode_simulate(&cluster, &mode, atoi(argv[3]), atof(argv[4]), &price));
    printf("%.6g\n", price.seconds);
    return FIRE_OK;
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6) return 2;
    if (run(argv) >= 0) return 0;
    fprintf(stderr, "%s\n", fire_last_error());
    return 1;
}
