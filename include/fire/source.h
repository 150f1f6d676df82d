/* source.h - samples that the program brings itself, pass by pass. */
#ifndef FIRE_SOURCE_H
#define FIRE_SOURCE_H
#include <fire/layer.h>

FIRE_BEGIN_C
/* Samples: first, first + stride, ..., n of them. They are counted from the beginning of
 * the training, over all epochs and workers. */
typedef struct fire_samples {
    int64_t first, stride, n;
} fire_samples_t;

/* Bring the samples of a pass: set *data_p to float32 (samples[0].n, channels, height,
 * width) and *labels_p to as many labels. Both stay valid until the next call or the end
 * of the net. samples[1 ... nsamples - 1] are those of the passes after this one, to be
 * loaded ahead; the next call may be for others (after a resume, or where a test begins
 * again). A function that fails reports why with fire_fail(). */
typedef fire_status_t (*fire_fetch_t)(void *arg, const fire_samples_t *samples,
                                      int nsamples, const float **data_p,
                                      const float **labels_p);

/* Give a layer of type "MemoryData" a function that brings its samples, instead of arrays
 * (fire_net_set_arrays()). The thread that runs the net calls it in each pass. Which
 * samples it is asked for follows the position of the training: each worker gets its
 * own, and a resumed training goes on where it was. The caller keeps `arg` valid until
 * the end of the net or the next call for this layer. Fails with FIRE_ERR_INVALID if the
 * layer is of another type. */
FIRE_CALL fire_net_set_source(fire_net_t *net, int layer, fire_fetch_t fetch,
                              void *arg);

/* For a layer written in Python (python.h) that brings data, in reshape and forward: the
 * samples of this pass and of those after it, n in all, if the whole batch has `batch`
 * of them. */
FIRE_API void fire_python_samples(const fire_layer_t *layer, int64_t batch, int n,
                                  fire_samples_t *samples);
FIRE_END_C
#endif
