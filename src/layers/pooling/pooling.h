/* pooling.h - what the kernels of Pooling share. */
#ifndef FIRE_LAYERS_POOLING_POOLING_H
#define FIRE_LAYERS_POOLING_POOLING_H
#include "layers/pooling/pool.h"
#include "layers/pooling/pool_nd.h"

FIRE_BEGIN_C
/* FIRE_POOL(MAX): a value of the prototxt's `pool`. */
#define FIRE_POOL(method) CAFFE__POOLING_PARAMETER__POOL_METHOD__##method

/* State of the layer. */
typedef struct fire_pooling {
    fire_pool_windows_t                 shape; /* of two spatial axes */
    fire_pool_nd_t                      nd;    /* of any number of them */
    Caffe__PoolingParameter__PoolMethod method;
    bool                                global;     /* the kernel is the whole plane */
    bool                                round_down; /* the number of windows */
} fire_pooling_t;

/* Read kernel, stride and padding for p->axes spatial axes; a kernel of 0 stands for
 * global_pooling. */
fire_status_t fire_pooling_read(const Caffe__PoolingParameter *p, fire_pool_nd_t *w);

FIRE_END_C
#endif
