/* pooling.h - what the kernels of Pooling share. */
#ifndef FIRE_LAYERS_POOLING_POOLING_H
#define FIRE_LAYERS_POOLING_POOLING_H
#include "layers/pooling/pool.h"

FIRE_BEGIN_C
#define FIRE_POOL(method) CAFFE__POOLING_PARAMETER__POOL_METHOD__##method

typedef struct fire_pooling {
    fire_pool_windows_t                 shape;
    Caffe__PoolingParameter__PoolMethod method;
    bool                                global, round_down;
} fire_pooling_t;

FIRE_END_C
#endif
