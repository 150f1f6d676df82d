/* lanes.h - how many lanes each worker gets (docs/design/0002-lanes.md). */
#ifndef FIRE_TRAIN_LANES_H
#define FIRE_TRAIN_LANES_H
#include "base/error.h"

/* Share lanes out so that the slowest worker is done early: weight[r] is the speed of
 * worker r, NULL: all are equally fast. Each gets one at least. Worker r runs lanes
 * lane[r] ... lane[r + 1] - 1; lanes >= workers. */
void fire_lanes_share(int lanes, int workers, const double *weight, int *lane);
/* "3,2,3": the first `most` numbers into weight; *n_p: how many there are. */
fire_status_t fire_lane_weights_parse(const char *text, double *weight, int most,
                                      int *n_p);
#endif
