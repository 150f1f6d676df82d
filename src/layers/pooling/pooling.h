/* pooling.h - what the kernels of Pooling share. */
#ifndef FIRE_LAYERS_POOLING_POOLING_H
#define FIRE_LAYERS_POOLING_POOLING_H
#include "layers/pooling/pool.h"

FIRE_BEGIN_C
/* FIRE_POOL(MAX): a value of the prototxt's `pool`. */
#define FIRE_POOL(method) CAFFE__POOLING_PARAMETER__POOL_METHOD__##method

/* State of the layer. */
typedef struct fire_pooling {
    fire_pool_windows_t                 shape;
    Caffe__PoolingParameter__PoolMethod method;
    bool                                global;     /* the kernel is the whole plane */
    bool                                round_down; /* the number of windows */
} fire_pooling_t;

FIRE_END_C
#endif
