/* line.h - a training that is small enough for tests of the public headers: a net that
 * learns a linear function. */
#ifndef FIRE_TESTS_API_LINE_H
#define FIRE_TESTS_API_LINE_H
#include <fire/fire.h>
#include <stdlib.h>
#include "test.h"

/* Learns a linear function of noise; 12 values each pass, the same on each run. */
#define LINE_NET                                                                      \
    "net_param { name: 'line' "                                                       \
    "layer { name: 'data' type: 'DummyData' top: 'x' top: 't' dummy_data_param { "    \
    "  shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 } "                              \
    "  data_filler { type: 'gaussian' std: 1 } data_filler { value: 0.5 } } } "       \
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' "                   \
    "  inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } } "     \
    "layer { name: 'relu' type: 'ReLU' bottom: 'y' top: 'z' } "                       \
    "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'z' bottom: 't' top: 'loss' " \
    "} } "

#define LINE_SOLVER                                                                  \
    LINE_NET "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: 6 display: 2 " \
             "test_iter: 2 test_interval: 3 snapshot_after_train: false "            \
             "random_seed: 7 solver_mode: CPU "

/* The six weights and two biases of a trainer. */
typedef struct weights {
    float w[8];
} line_weights_t;

/* A trainer of LINE_SOLVER and more lines; snapshots go to "snap" in test_tmpdir(). */
fire_trainer_t *line_make(const char *more, const fire_trainer_config_t *config);
const float    *line_values(fire_blob_t *b, fire_part_t part);
line_weights_t  line_weights(const fire_trainer_t *t);
bool            line_same(line_weights_t a, line_weights_t b);
/* The weights after so many iterations of another trainer. */
line_weights_t line_trained(const char *more, int iterations);
#endif
