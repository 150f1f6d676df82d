/* raw.h - element-wise work on arrays as they lie in memory, whatever their layout:
 * float32 or bfloat16, y may be x. All of it keeps zeros zero, as blocked layouts need
 * of their padding. Threads share long arrays. */
#ifndef FIRE_DEVICE_CPU_RAW_H
#define FIRE_DEVICE_CPU_RAW_H
#include "device/device.h"

/* y = x > 0 ? x : slope * x, and its gradient where y says what x was. */
void fire_raw_relu(fire_dtype_t t, int64_t n, float slope, const void *x, void *y);
void fire_raw_relu_back(fire_dtype_t t, int64_t n, float slope, const void *y,
                        const void *dy, void *dx);
/* y = x[0] + x[1] + ... of k arrays, in this order, in float32; each times its c, unless
 * c is NULL. A ReLU of this slope comes behind (1: none). y may be one of them. */
void fire_raw_sum(fire_dtype_t t, int64_t n, int k, const float *c,
                  const void *const *x, float slope, void *y);
/* Its gradient: dx[0], dx[1] ... = dy, each times its c; y is the sum behind the ReLU, or
 * NULL where there is none. dy may be one of them. */
void fire_raw_spread(fire_dtype_t t, int64_t n, float slope, const void *y,
                     const void *dy, int k, const float *c, void *const *dx);
/* Rows of n elements, which begin every x_step and y_step elements. */
void fire_raw_rows(fire_dtype_t t, int64_t rows, int64_t n, const void *x,
                   int64_t x_step, void *y, int64_t y_step);
#endif
