/* formulas.h - the element-wise layers that are the same on the CPU and on a GPU: their
 * settings (l->state), y of x, and dx of x, y and dy. CPU kernels pass these functions
 * to neuron.h, GPU kernels to neuron_cuda.h. The expressions, with their order and
 * their changes to double, are Caffe's, so that `ref` gives Caffe's bits. */
#ifndef FIRE_LAYERS_NEURON_FORMULAS_H
#define FIRE_LAYERS_NEURON_FORMULAS_H
#include <math.h>

#include "layers/neuron/neuron.h"

/* ---- relu: y = max(x, 0) + slope min(x, 0) ---- */

typedef struct fire_relu {
    float       slope;
    fire_kept_t kept;
} fire_relu_t;

FIRE_EVERYWHERE float fire_relu_y(const void *state, float x)
{
    return fire_max(x, 0.0f) + ((const fire_relu_t *)state)->slope * fire_min(x, 0.0f);
}

FIRE_EVERYWHERE float fire_relu_dx(const void *state, float x, float y, float dy)
{
    (void)y;
    return dy *
           ((float)(x > 0) + ((const fire_relu_t *)state)->slope * (float)(x <= 0));
}

/* ---- relu6: y = min(max(x, 0), 6) ---- */

FIRE_EVERYWHERE float fire_relu6_y(const void *state, float x)
{
    (void)state;
    return fire_min(fire_max(x, 0.0f), 6.0f);
}

/* y tells where x was between the kinks, so no copy of x is kept in place. */
FIRE_EVERYWHERE float fire_relu6_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)x;
    return dy * (float)(y > 0.0f && y < 6.0f);
}

/* ---- elu: y = x for x > 0, alpha (exp(x) - 1) otherwise ---- */

typedef struct fire_elu {
    float       alpha;
    fire_kept_t kept;
} fire_elu_t;

FIRE_EVERYWHERE float fire_elu_y(const void *state, float x)
{
    float alpha = ((const fire_elu_t *)state)->alpha;

    return fire_max(x, 0.0f) + alpha * (expf(fire_min(x, 0.0f)) - 1.0f);
}

FIRE_EVERYWHERE float fire_elu_dx(const void *state, float x, float y, float dy)
{
    float alpha = ((const fire_elu_t *)state)->alpha;

    return dy * ((float)(x > 0) + (alpha + y) * (float)(x <= 0));
}

/* ---- sigmoid: y = 1 / (1 + exp(-x)), dy/dx = y (1 - y) ---- */

FIRE_EVERYWHERE float fire_sigmoid_y(const void *state, float x)
{
    (void)state;
    return (float)(0.5 * tanh(0.5 * x) + 0.5);
}

FIRE_EVERYWHERE float fire_sigmoid_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)x;
    return (float)(dy * y * (1.0 - y));
}

/* ---- swish: y = x sigmoid(beta x) ---- */

typedef struct fire_swish {
    float       beta;
    fire_kept_t kept;
} fire_swish_t;

FIRE_EVERYWHERE float fire_swish_y(const void *state, float x)
{
    return x * fire_sigmoid_y(NULL, x * ((const fire_swish_t *)state)->beta);
}

FIRE_EVERYWHERE float fire_swish_dx(const void *state, float x, float y, float dy)
{
    float beta = ((const fire_swish_t *)state)->beta;

    return (float)(dy * (beta * y + fire_sigmoid_y(NULL, x * beta) * (1.0 - beta * y)));
}

/* ---- tanh: dy/dx = 1 - y^2 ---- */

FIRE_EVERYWHERE float fire_tanh_y(const void *state, float x)
{
    (void)state;
    return tanhf(x);
}

FIRE_EVERYWHERE float fire_tanh_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)x;
    return dy * (1 - y * y);
}

/* ---- bnll: y = log(1 + exp(x)), dy/dx = sigmoid(x) ---- */

FIRE_EVERYWHERE float fire_bnll_y(const void *state, float x)
{
    (void)state;
    return (float)(x > 0 ? x + log(1.0 + expf(-x)) : log(1.0 + expf(x)));
}

FIRE_EVERYWHERE float fire_bnll_dx(const void *state, float x, float y, float dy)
{
    float e = expf(fire_min(x, 50.0f)); /* from there on e / (e + 1) is 1 */

    (void)state, (void)y;
    return (float)(dy * e / (e + 1.0));
}

/* ---- absval: y = |x|, dy/dx = sign(x) ---- */

FIRE_EVERYWHERE float fire_absval_y(const void *state, float x)
{
    (void)state;
    return fabsf(x);
}

FIRE_EVERYWHERE float fire_absval_dx(const void *state, float x, float y, float dy)
{
    (void)state, (void)y;
    return fire_sign(x) * dy;
}

/* ---- power: y = (scale x + shift)^power ---- */

typedef struct fire_power {
    float       power, scale, shift;
    float       slope; /* power * scale; 0: y is constant */
    fire_kept_t kept;
} fire_power_t;

FIRE_EVERYWHERE float fire_power_y(const void *state, float x)
{
    const fire_power_t *s    = (const fire_power_t *)state;
    float               base = s->slope == 0.0f ? s->shift : x * s->scale + s->shift;

    if (s->power == 1.0f) return base;
    return s->power == 0.0f ? 1.0f : powf(base, s->power);
}

/* dy/dx = slope * base^(power - 1), computed from y where that saves a powf(). */
FIRE_EVERYWHERE float fire_power_slope(const fire_power_t *s, float x, float y)
{
    float base = x * s->scale + s->shift;

    if (s->slope == 0.0f || s->power == 1.0f) return s->slope;
    if (s->power == 2.0f) return x * (s->slope * s->scale) + s->slope * s->shift;
    if (base == 0.0f) return powf(base, s->power - 1.0f) * s->slope;
    return s->shift == 0.0f ? y / x * s->power : y / base * s->slope;
}

FIRE_EVERYWHERE float fire_power_dx(const void *state, float x, float y, float dy)
{
    float slope = fire_power_slope((const fire_power_t *)state, x, y);

    return slope == 0.0f ? 0.0f : dy * slope; /* +0, where dy * slope may be -0 */
}

/* ---- exp: y = outer exp(inner x), dy/dx = inner y ---- */

typedef struct fire_exp {
    float inner, outer; /* inner = scale ln(base), outer = base^shift */
} fire_exp_t;

FIRE_EVERYWHERE float fire_exp_y(const void *state, float x)
{
    const fire_exp_t *s = (const fire_exp_t *)state;

    return expf(x * s->inner) * s->outer;
}

FIRE_EVERYWHERE float fire_exp_dx(const void *state, float x, float y, float dy)
{
    (void)x;
    return y * dy * ((const fire_exp_t *)state)->inner;
}

/* ---- log: y = outer log(scale x + shift) ---- */

typedef struct fire_log {
    float       scale, shift;
    float       outer; /* 1 / ln(base) */
    float       slope; /* scale / ln(base) */
    fire_kept_t kept;
} fire_log_t;

FIRE_EVERYWHERE float fire_log_y(const void *state, float x)
{
    const fire_log_t *s = (const fire_log_t *)state;

    return logf(x * s->scale + s->shift) * s->outer;
}

FIRE_EVERYWHERE float fire_log_dx(const void *state, float x, float y, float dy)
{
    const fire_log_t *s = (const fire_log_t *)state;

    (void)y;
    return dy * (1.0f / (x * s->scale + s->shift) * s->slope);
}

/* ---- clip: y = min(max(x, min), max) ---- */

typedef struct fire_clip {
    float       min, max;
    fire_kept_t kept;
} fire_clip_t;

FIRE_EVERYWHERE float fire_clip_y(const void *state, float x)
{
    const fire_clip_t *s = (const fire_clip_t *)state;

    return fire_max(s->min, fire_min(x, s->max));
}

FIRE_EVERYWHERE float fire_clip_dx(const void *state, float x, float y, float dy)
{
    const fire_clip_t *s = (const fire_clip_t *)state;

    (void)y;
    return dy * (float)(x >= s->min && x <= s->max);
}

/* ---- threshold: y = 1 for x > threshold, else 0; no gradient ---- */

typedef struct fire_threshold {
    float threshold;
} fire_threshold_t;

FIRE_EVERYWHERE float fire_threshold_y(const void *state, float x)
{
    return x > ((const fire_threshold_t *)state)->threshold ? 1.0f : 0.0f;
}
#endif
