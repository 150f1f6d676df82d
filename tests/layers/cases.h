/* cases.h - tests/layers/cases/TYPE.prototxt: small nets around one layer type, which
 * generic tests put through everything that must hold for any layer.
 *
 * A file holds several nets. Lines that begin with "#:" separate and describe them:
 *
 *     #: case stride and padding      begins a net; the rest is its name
 *     #: phase TRAIN                  (default TEST)
 *     #: input label integers 5       0 ... 4, instead of `distinct`
 *     #: input parameter0 list 1 2    the first parameter, instead of random
 *     #: output y 0 0.5 1             what forward writes into a blob, to 6 digits
 *     #: step 0.01                    of the finite differences
 *     #: tolerance 0.01               of the gradient, relative to its largest element
 *     #: fixed                        inputs cannot take another batch size
 *     #: forward                      there is no gradient to check
 *     #: estimate x                   this input's gradient is not the slope of what
 *                                     comes out, by the layer's definition: kernels must
 *                                     agree on it, finite differences need not
 *     #: says no number of outputs    in tests/layers/wrong, which holds what must not
 *                                     work: part of the message
 *
 * Kinds of inputs: `distinct` (multiples of 0.1 around 0, no two alike and none near a
 * kink at 0), `uniform LO HI`, `integers N`, `list A B C ...` (repeated). The layer under
 * test is the last one of the net. */
#ifndef FIRE_TESTS_LAYERS_CASES_H
#define FIRE_TESTS_LAYERS_CASES_H
#include "net/net.h"
#include "test.h"

enum { CASE_MAX_INPUTS = 8, CASE_MAX_LIST = 64 };

typedef struct case_input {
    char   blob[64], kind[16];
    int    nvalue;
    double value[CASE_MAX_LIST];
} case_input_t;

typedef struct layer_case {
    char                 file[64], name[96], says[160], estimate[64];
    Caffe__NetParameter *param;
    Caffe__Phase         phase;
    double               step, tolerance;
    bool                 fixed, forward_only;
    int                  ninput;
    case_input_t         input[CASE_MAX_INPUTS];
    case_input_t         output; /* nvalue 0: not given */
} layer_case_t;

/* Call f for every case of every file; it returns NULL or what is wrong, which is
 * printed. The test fails if anything was. */
typedef const char *(*case_check_t)(const layer_case_t *c);
void cases_each(case_check_t f);
void cases_each_wrong(case_check_t f); /* the same for tests/layers/wrong */

/* The layer under test. */
const Caffe__LayerParameter *case_layer(const layer_case_t *c);
const fire_layer_ops_t      *case_ops(const layer_case_t *c);

/* A net for the case, the kernel of the layer under test chosen by name. `ref` runs on
 * the CPU, others on the GPU if the tests do. */
fire_status_t case_create(const layer_case_t *c, const Caffe__NetParameter *param,
                          const char *kernel, fire_net_t **net_p);
/* The same with inputs filled, parameters random (by `seed`). */
fire_net_t *case_net(const layer_case_t *c, const Caffe__NetParameter *param,
                     const char *kernel, uint64_t seed);
void        case_fill_inputs(const layer_case_t *c, fire_net_t *net);

/* Give the net's outputs random gradients (losses: their weight), clear those of
 * parameters, run backward. The second adds to those of parameters. */
void case_backward(fire_net_t *net);
void case_backward_more(fire_net_t *net);
/* What that makes the net's objective: sum of outputs times their gradients. */
double case_objective(fire_net_t *net);

/* Largest difference of two blobs relative to the largest value, or infinity where
 * shapes differ. */
double case_difference(fire_blob_t *a, fire_blob_t *b, fire_part_t part);
#endif
