/* twins.h - the same net twice, with `ref` kernels and with the fastest ones: all that a
 * user can see must agree. */
#ifndef FIRE_TESTS_LAYERS_TWINS_H
#define FIRE_TESTS_LAYERS_TWINS_H
#include "net/net.h"
#include "test.h"

typedef struct twins {
    fire_net_t *ref, *fast;
} twins_t;

/* The text of a prototxt of the source tree; valid until the next call. */
const char *twins_layers(const char *path);

/* Layers as a prototxt gives them; `in` is an Input layer's shape, "2 16 9 9". The
 * context of the fast net may be changed by the caller first. */
twins_t twins_make(const char *in, const char *layers, Caffe__Phase phase,
                   const fire_ctx_t *fast);
/* For inference alone: lean, phase TEST, never run backward. */
twins_t twins_make_inference(const char *in, const char *layers);
/* Random inputs forward, random gradients backward, twice; compare everything. An error
 * may be `tolerance` times the largest value of the blob, or 1. */
void twins_agree(twins_t *t, double tolerance);
void twins_end(twins_t *t);
/* Is this layer's fast kernel called so? */
void twins_kernel_is(const twins_t *t, const char *layer, const char *kernel);

/* All in one for nets of one input; layer "it" must run kernel `kernel`. */
void twins_check(const char *in, const char *layers, const char *kernel,
                 double tolerance);
#endif
