/* conv_cudnn.c - cuDNN's convolutions for the emulator: simple loops in float32, for
 * two spatial axes, in place of src/device/cuda/cudnn/conv_cudnn.c. */
#include "device/cuda/cudnn/conv_cudnn.h"

#include <stdlib.h>
#include <string.h>

#include "device/cpu/convert.h"

void emulator_enter(void);
void emulator_leave(void);

/* A tensor (a, b, h, w); with `last` its memory is (a, h, w, b), b padded to pitch. */
typedef struct tensor {
    void        *ptr;
    fire_dtype_t type;
    bool         last;
    int64_t      b, pitch, h, w;
} tensor_t;

static int64_t at(const tensor_t *t, int64_t a, int64_t b, int64_t h, int64_t w)
{
    return t->last ? ((a * t->h + h) * t->w + w) * t->pitch + b
                   : ((a * t->b + b) * t->h + h) * t->w + w;
}

static float get(const tensor_t *t, int64_t i)
{
    uint32_t u;
    float    f;

    if (t->type == FIRE_F32) return ((const float *)t->ptr)[i];
    if (t->type == FIRE_F16) return (float)((const _Float16 *)t->ptr)[i];
    u = (uint32_t)((const uint16_t *)t->ptr)[i] << 16;
    memcpy(&f, &u, sizeof(f));
    return f;
}

static void put(const tensor_t *t, int64_t i, float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    if (t->type == FIRE_F32)
        ((float *)t->ptr)[i] = f;
    else if (t->type == FIRE_F16)
        ((_Float16 *)t->ptr)[i] = (_Float16)f;
    else
        ((uint16_t *)t->ptr)[i] = (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

/* Float32 sums in the layout of the tensors; a pass uses the one it computes. */
typedef struct sums {
    float *x, *w, *y;
} sums_t;

/* Visit every product of the convolution once, and add it to the sum that the pass
 * wants. */
static void each_product(const fire_cudnn_conv_t *c, fire_cudnn_pass_t pass,
                         const tensor_t *x, const tensor_t *w, const tensor_t *y,
                         const sums_t *sum)
{
    int64_t in = c->in_channels / c->group, out = c->out_channels / c->group;

    for (int64_t n = 0; n < c->num; n++)
        for (int64_t k = 0; k < c->out_channels; k++)
            for (int64_t i = 0; i < c->out[0] * c->out[1]; i++)
                for (int64_t t = 0; t < in * c->kernel[0] * c->kernel[1]; t++) {
                    int64_t r = t / c->kernel[1] % c->kernel[0], q = t % c->kernel[1];
                    int64_t b  = t / c->kernel[1] / c->kernel[0];
                    int64_t oh = i / c->out[1], ow = i % c->out[1];
                    int64_t h = oh * c->stride[0] - c->pad[0] + r * c->dilation[0];
                    int64_t v = ow * c->stride[1] - c->pad[1] + q * c->dilation[1];
                    int64_t ix, iw = at(w, k, b, r, q), iy = at(y, n, k, oh, ow);

                    if (h < 0 || h >= c->in[0] || v < 0 || v >= c->in[1]) continue;
                    ix = at(x, n, k / out * in + b, h, v);
                    if (pass == FIRE_CUDNN_FORWARD)
                        sum->y[iy] += get(x, ix) * get(w, iw);
                    else if (pass == FIRE_CUDNN_DATA)
                        sum->x[ix] += get(y, iy) * get(w, iw);
                    else
                        sum->w[iw] += get(x, ix) * get(y, iy);
                }
}

fire_status_t fire_cudnn_conv_find(fire_stream_t *s, const fire_cudnn_conv_t *conv,
                                   fire_cudnn_pass_t             pass,
                                   const fire_cudnn_conv_args_t *args,
                                   const fire_cudnn_op_t       **op_p)
{
    fire_cudnn_op_t *op = calloc(1, sizeof(*op));

    (void)args;
    op->conv     = *conv;
    op->pass     = pass;
    op->fused    = pass == FIRE_CUDNN_FORWARD && (conv->bias || conv->relu);
    op->weights  = conv->dtype;
    op->next     = s->cudnn_ops;
    s->cudnn_ops = op;
    *op_p        = op;
    return FIRE_OK;
}

/* Round the sums to the tensor `to`, with bias (per b) and ReLU if fused. */
static void finish(const fire_cudnn_op_t *op, const tensor_t *to, int64_t rows,
                   const float *sum, const float *bias)
{
    for (int64_t a = 0; a < rows; a++)
        for (int64_t b = 0; b < to->b; b++)
            for (int64_t i = 0; i < to->h * to->w; i++) {
                int64_t k = at(to, a, b, i / to->w, i % to->w);
                float   v = sum[k];

                if (op->fused && bias != NULL) v += bias[b];
                put(to, k, op->fused && op->conv.relu && !(v > 0) ? 0 : v);
            }
}

fire_status_t fire_cudnn_conv_run(fire_stream_t *s, const fire_cudnn_op_t *op,
                                  const fire_cudnn_conv_args_t *args)
{
    const fire_cudnn_conv_t *c  = &op->conv;
    int64_t                  in = c->in_channels / c->group;
    tensor_t                 x  = {args->x,     c->dtype, c->last, c->in_channels,
                                   c->in_pitch, c->in[0], c->in[1]};
    tensor_t w = {args->w, op->weights, c->last, in, in, c->kernel[0], c->kernel[1]};
    tensor_t y = {args->y,      c->dtype,  c->last,  c->out_channels,
                  c->out_pitch, c->out[0], c->out[1]};
    const tensor_t *to   = op->pass == FIRE_CUDNN_FORWARD ? &y
                           : op->pass == FIRE_CUDNN_DATA  ? &x
                                                          : &w;
    int64_t         rows = to == &w ? c->out_channels : c->num;
    int64_t         n    = rows * (to->last ? to->pitch : to->b) * to->h * to->w;
    float          *sum  = calloc((size_t)n, sizeof(*sum));

    (void)s;
    emulator_enter();
    each_product(c, op->pass, &x, &w, &y, &(sums_t){sum, sum, sum});
    finish(op, to, rows, sum, c->bias ? args->bias : NULL);
    emulator_leave();
    free(sum);
    return FIRE_OK;
}

bool fire_cudnn_is_available(fire_stream_t *s)
{
    (void)s;
    return true;
}

void fire_cudnn_close(fire_stream_t *s)
{
    while (s->cudnn_ops != NULL) {
        fire_cudnn_op_t *op = s->cudnn_ops;

        s->cudnn_ops = op->next;
        free(op);
    }
}
