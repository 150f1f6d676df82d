/* pool.c - pooling of planes on the CPU in Caffe's order of operations: the
 * specification for all faster kernels. One thread. */
#include "layers/pooling/pool.h"

#include <float.h>
#include <math.h>
#include <string.h>

int64_t fire_pool_places(int64_t in, int64_t kernel, int64_t stride, int64_t pad,
                         bool pads, bool round_down)
{
    float   steps = (float)(in + 2 * pad - kernel) / (float)stride;
    int64_t n     = (int64_t)(round_down ? floorf(steps) : ceilf(steps)) + 1;

    return pads && (n - 1) * stride >= in + pad ? n - 1 : n;
}

fire_status_t fire_pool_reshape(fire_pool_windows_t *p, bool round_down)
{
    for (int i = 0; i < 2; i++) {
        p->out[i] = fire_pool_places(p->in[i], p->kernel[i], p->stride[i], p->pad[i],
                                     p->pad[0] > 0 || p->pad[1] > 0, round_down);
        if (p->out[i] <= 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the kernel is larger than the input: %s is %lld, the "
                             "input has %lld + 2 * %lld of padding",
                             i == 0 ? "its height" : "its width",
                             (long long)p->kernel[i], (long long)p->in[i],
                             (long long)p->pad[i]);
    }
    return FIRE_OK;
}

/* The functions below compute one output from its window b in plane x. *index: where in
 * the plane it came from, -1: nowhere. */
static float max_of(const fire_pool_windows_t *p, fire_pool_box_t b, const float *x,
                    int32_t *index)
{
    float best = -FLT_MAX;

    *index = -1;
    for (int64_t h = b.begin[0]; h < b.end[0]; h++)
        for (int64_t w = b.begin[1]; w < b.end[1]; w++)
            if (x[h * p->in[1] + w] > best) {
                *index = (int32_t)(h * p->in[1] + w);
                best   = x[*index];
            }
    return best;
}

static float sum_of(const fire_pool_windows_t *p, fire_pool_box_t b, const float *x)
{
    float sum = 0.0f;

    for (int64_t h = b.begin[0]; h < b.end[0]; h++)
        for (int64_t w = b.begin[1]; w < b.end[1]; w++)
            sum += x[h * p->in[1] + w];
    return sum;
}

/* The first element at which the running sum reaches u times the sum of the window. */
static float draw_of(const fire_pool_windows_t *p, fire_pool_box_t b, const float *x,
                     float u, int32_t *index)
{
    float limit = u * sum_of(p, b, x), sum = 0.0f;

    *index = -1;
    for (int64_t h = b.begin[0]; h < b.end[0]; h++)
        for (int64_t w = b.begin[1]; w < b.end[1]; w++) {
            *index = (int32_t)(h * p->in[1] + w);
            sum += x[*index];
            if (sum >= limit) return x[*index];
        }
    return *index >= 0 ? x[*index] : 0.0f;
}

/* sum x^2 / sum x: the mean of x under probabilities proportional to x. */
static float expect_of(const fire_pool_windows_t *p, fire_pool_box_t b, const float *x)
{
    float sum = FLT_MIN, squares = 0.0f;

    for (int64_t h = b.begin[0]; h < b.end[0]; h++)
        for (int64_t w = b.begin[1]; w < b.end[1]; w++) {
            sum += x[h * p->in[1] + w];
            squares += x[h * p->in[1] + w] * x[h * p->in[1] + w];
        }
    return squares / sum;
}

/* y[o] = result for every output o, which is at (row, column) of its plane; x steps
 * from plane to plane. */
#define EACH_OUTPUT(p, planes, result)                                    \
    for (int64_t plane = 0, o = 0; plane < (planes); plane++) {           \
        for (int64_t row = 0; row < (p)->out[0]; row++)                   \
            for (int64_t column = 0; column < (p)->out[1]; column++, o++) \
                y[o] = (result);                                          \
        x += (p)->in[0] * (p)->in[1];                                     \
    }

void fire_pool_max(const fire_pool_windows_t *p, int64_t planes, const float *x,
                   float *y, int32_t *index)
{
    EACH_OUTPUT(p, planes, max_of(p, fire_pool_box(p, row, column), x, index + o));
}

void fire_pool_draw(const fire_pool_windows_t *p, int64_t planes, const float *u,
                    const float *x, float *y, int32_t *index)
{
    EACH_OUTPUT(p, planes,
                draw_of(p, fire_pool_box(p, row, column), x, u[o], index + o));
}

void fire_pool_expect(const fire_pool_windows_t *p, int64_t planes, const float *x,
                      float *y)
{
    EACH_OUTPUT(p, planes, expect_of(p, fire_pool_box(p, row, column), x));
}

static float ave_of(const fire_pool_windows_t *p, fire_pool_box_t b, const float *x)
{
    return b.area != 0 ? sum_of(p, b, x) / (float)b.area : 0.0f;
}

void fire_pool_ave(const fire_pool_windows_t *p, int64_t planes, const float *x,
                   float *y)
{
    EACH_OUTPUT(p, planes, ave_of(p, fire_pool_box(p, row, column), x));
}

static void clear(const fire_pool_windows_t *p, int64_t planes, float *dx)
{
    memset(dx, 0, (size_t)(planes * p->in[0] * p->in[1]) * sizeof(*dx));
}

void fire_pool_pick_back(const fire_pool_windows_t *p, int64_t planes, const float *dy,
                         const int32_t *index, float *dx)
{
    int64_t in = p->in[0] * p->in[1], out = p->out[0] * p->out[1];

    clear(p, planes, dx);
    for (int64_t k = 0; k < planes; k++, dx += in, dy += out, index += out)
        for (int64_t o = 0; o < out; o++)
            if (index[o] >= 0) dx[index[o]] += dy[o];
}

static void spread(const fire_pool_windows_t *p, fire_pool_box_t b, float dy, float *dx)
{
    for (int64_t h = b.begin[0]; h < b.end[0]; h++)
        for (int64_t w = b.begin[1]; w < b.end[1]; w++)
            dx[h * p->in[1] + w] += dy / (float)b.area;
}

void fire_pool_ave_back(const fire_pool_windows_t *p, int64_t planes, const float *dy,
                        float *dx)
{
    int64_t in = p->in[0] * p->in[1];

    clear(p, planes, dx);
    for (int64_t k = 0; k < planes; k++, dx += in)
        for (int64_t row = 0; row < p->out[0]; row++)
            for (int64_t column = 0; column < p->out[1]; column++)
                spread(p, fire_pool_box(p, row, column), *dy++, dx);
}
