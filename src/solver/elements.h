/* elements.h - the update rules for one element, the same source for the CPU and for
 * GPU kernels. w: weight; g: in the gradient, out what was subtracted from w; h:
 * history.
 *
 * Caffe adds products with BLAS axpy, which uses fused multiply-adds; so does this
 * (fmaf). Caffe also calls powf for squares and roots, and scales gradients twice. That
 * is slower and differs in the last bit only, so it is done only if u->literal is
 * set. */
#ifndef FIRE_SOLVER_ELEMENTS_H
#define FIRE_SOLVER_ELEMENTS_H
#include <math.h>

#include "base/everywhere.h"
#include "solver/update.h"

FIRE_EVERYWHERE float fire_element_square(const fire_update_t *u, float x)
{
    volatile float two; /* keeps the compiler from turning powf into a product */

    if (!u->literal) return x * x;
    two = 2;
    return powf(x, two);
}

FIRE_EVERYWHERE float fire_element_root(const fire_update_t *u, float x)
{
    return u->literal ? powf(x, 0.5f) : sqrtf(x);
}

/* The gradient that a rule applies: scaled (clipping, 1 / iter_size) and regularised,
 * g + decay * w (L2) or g + decay * sign(w) (L1). */
FIRE_EVERYWHERE float fire_element_gradient(const fire_update_t *u, float g, float w)
{
    if (u->scale != 1) g *= u->scale;
    if (u->literal && u->share != 1) g *= u->share;
    if (u->decay == 0) return g;
    return u->decay_l1 ? fmaf(u->decay, (float)((w > 0) - (w < 0)), g)
                       : fmaf(u->decay, w, g);
}

/* h = rate * g + momentum * h;  w -= h */
FIRE_EVERYWHERE void fire_element_sgd(const fire_update_t *u, float *w, float *g,
                                      float *h, float *unused)
{
    (void)unused;
    *h = fmaf(u->rate, fire_element_gradient(u, *g, *w), u->momentum * *h);
    *g = *h;
    *w -= *h;
}

/* h' = rate * g + momentum * h;  w -= (1 + momentum) * h' - momentum * h */
FIRE_EVERYWHERE void fire_element_nesterov(const fire_update_t *u, float *w, float *g,
                                           float *h, float *unused)
{
    float old = *h;

    (void)unused;
    *h = fmaf(u->rate, fire_element_gradient(u, *g, *w), u->momentum * old);
    *g = fmaf(1 + u->momentum, *h, -u->momentum * old);
    *w -= *g;
}

/* h += g^2;  w -= rate * g / (sqrt(h) + delta) */
FIRE_EVERYWHERE void fire_element_adagrad(const fire_update_t *u, float *w, float *g,
                                          float *h, float *unused)
{
    float x = fire_element_gradient(u, *g, *w);

    (void)unused;
    *h = fire_element_square(u, x) + *h;
    *g = u->rate * (x / (fire_element_root(u, *h) + u->delta));
    *w -= *g;
}

/* h = d * h + (1 - d) * g^2;  w -= rate * g / (sqrt(h) + delta) */
FIRE_EVERYWHERE void fire_element_rmsprop(const fire_update_t *u, float *w, float *g,
                                          float *h, float *unused)
{
    float x = fire_element_gradient(u, *g, *w);

    (void)unused;
    *h = fmaf(1 - u->rms_decay, fire_element_square(u, x), u->rms_decay * *h);
    *g = u->rate * (x / (fire_element_root(u, *h) + u->delta));
    *w -= *g;
}

/* h0 = m * h0 + (1 - m) * g^2;  x = g * sqrt((h1 + delta) / (h0 + delta));
 * h1 = m * h1 + (1 - m) * x^2;  w -= rate * x                      (m: momentum) */
FIRE_EVERYWHERE void fire_element_adadelta(const fire_update_t *u, float *w, float *g,
                                           float *h0, float *h1)
{
    float x = fire_element_gradient(u, *g, *w), keep = u->momentum;

    *h0 = fmaf(1 - keep, fire_element_square(u, x), keep * *h0);
    x *= fire_element_root(u, (*h1 + u->delta) / (*h0 + u->delta));
    *h1 = fmaf(1 - keep, fire_element_square(u, x), keep * *h1);
    *g  = u->rate * x;
    *w -= *g;
}

/* m = b1 * m + (1 - b1) * g;  v = b2 * v + (1 - b2) * g^2;
 * w -= rate * correction * m / (sqrt(v) + delta) */
FIRE_EVERYWHERE void fire_element_adam(const fire_update_t *u, float *w, float *g,
                                       float *m, float *v)
{
    float x = fire_element_gradient(u, *g, *w);

    *m = fmaf(1 - u->momentum, x, u->momentum * *m);
    *v = fmaf(1 - u->momentum2, fire_element_square(u, x), u->momentum2 * *v);
    *g = u->rate * u->correction * (*m / (fire_element_root(u, *v) + u->delta));
    *w -= *g;
}
#endif
