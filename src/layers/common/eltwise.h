/* eltwise.h - settings of Eltwise, for its kernels and for those that absorb it. */
#ifndef FIRE_LAYERS_COMMON_ELTWISE_H
#define FIRE_LAYERS_COMMON_ELTWISE_H
#include "layers/layer.h"

FIRE_BEGIN_C
#define FIRE_ELTWISE(op) CAFFE__ELTWISE_PARAMETER__ELTWISE_OP__##op
typedef Caffe__EltwiseParameter__EltwiseOp fire_eltwise_op_t;

enum { FIRE_ELTWISE_MOST = 16 }; /* bottoms that fast kernels take at most */

typedef struct fire_eltwise {
    const Caffe__EltwiseParameter *param; /* NULL: the defaults, a plain sum */
    fire_eltwise_op_t              op;

    int    *winner; /* MAX: which bottom each element came from */
    int64_t cap;
} fire_eltwise_t;

/* A fast kernel's declines(). */
static inline const char *fire_eltwise_declines(const fire_layer_t *l)
{
    return l->nbottom > FIRE_ELTWISE_MOST ? "it has more than 16 bottoms" : NULL;
}

/* [nbottom] factors of a sum, or NULL: all are 1. */
static inline const float *fire_eltwise_coeffs(const fire_eltwise_t *s)
{
    return s->param != NULL && s->param->n_coeff > 0 ? s->param->coeff : NULL;
}

/* The backward pass of Split, a sum too; in eltwise.cu. */
fire_status_t fire_split_cuda_backward(fire_layer_t *l);
FIRE_END_C
#endif
