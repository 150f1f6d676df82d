/* raw.h - element-wise work on arrays of n elements in memory order, whatever their
 * layout: float32 or bfloat16. y may be x. All of it maps zeros to zeros, so that the
 * padding of blocked layouts stays zero. Threads share long arrays. */
#ifndef FIRE_DEVICE_CPU_RAW_H
#define FIRE_DEVICE_CPU_RAW_H
#include "device/device.h"

/* y = x > 0 ? x : slope * x. And its gradient, dx = y > 0 ? dy : slope * dy. */
void fire_raw_relu(fire_dtype_t t, int64_t n, float slope, const void *x, void *y);
void fire_raw_relu_back(fire_dtype_t t, int64_t n, float slope, const void *y,
                        const void *dy, void *dx);
/* y = relu(c[0] x[0] + c[1] x[1] + ...) of k arrays, added in this order in float32; c
 * NULL: all 1; slope: of the ReLU, 1: none. y may be one of x. */
void fire_raw_sum(fire_dtype_t t, int64_t n, int k, const float *c,
                  const void *const *x, float slope, void *y);
/* Its gradients: dx[j] = c[j] * (y > 0 ? dy : slope * dy); y: the result of
 * fire_raw_sum(), NULL where it had no ReLU. dy may be one of dx. */
void fire_raw_spread(fire_dtype_t t, int64_t n, float slope, const void *y,
                     const void *dy, int k, const float *c, void *const *dx);
/* Copy rows of n elements; they begin every x_step and y_step elements. */
void fire_raw_rows(fire_dtype_t t, int64_t rows, int64_t n, const void *x,
                   int64_t x_step, void *y, int64_t y_step);
#endif
