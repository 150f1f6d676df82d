/* rig.h - one data layer, alone: built from its prototxt, run at chosen moments. */
#ifndef FIRE_TESTS_DATA_RIG_H
#define FIRE_TESTS_DATA_RIG_H
#include "data/source/writer.h"
#include "gpu.h"
#include "layers/layer.h"
#include "test.h"

typedef struct rig {
    fire_layer_t           layer;
    Caffe__LayerParameter *param;
    fire_ctx_t             ctx;
    fire_moment_t          moment;
    fire_blob_t           *top[4];
} rig_t;

/* text: the fields of a LayerParameter. Tops are made as it names them. */
fire_status_t rig_open(rig_t *r, const char *text, Caffe__Phase phase);
fire_status_t rig_open_on(rig_t *r, fire_ctx_t ctx, const char *text,
                          Caffe__Phase phase);
fire_status_t rig_forward(rig_t *r); /* at r->moment */
const float  *rig_top(rig_t *r, int i);
void          rig_close(rig_t *r);

/* A name in the test's own directory; valid for the next 63 calls. */
const char *tmp_path(const char *name);
/* printf for prototxts; the same lifetime. */
const char *format(const char *text, ...) FIRE_PRINTF(1, 2);

/* Put a raw Datum. Pixel k of record i is (i * 7 + k) % 256. */
void put_raw(fire_writer_t *w, const char *key, int i, int channels, int height,
             int width, int label);
/* A database of n such records, keys %08d, labels 0 ... n-1. */
const char *make_db(const char *backend, const char *name, int n, int channels,
                    int height, int width);
#endif
