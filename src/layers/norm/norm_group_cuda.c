/* norm_group_cuda.c - which layers the GPU kernels of BatchNorm and Scale absorb. */
#include "layers/norm/norm_group.h"

#include <string.h>

#include "layers/common/eltwise.h"
#include "layers/layer_cuda.h"
#include "layers/activation/relu.h"
#include "layers/norm/batch_norm.h"
#include "layers/norm/scale.h"

static bool is_a(const fire_layer_t *l, const char *type)
{
    return strcmp(l->ops->type, type) == 0;
}

/* Take gain and shift from a Scale. */
static void use_scale(const fire_layer_t *l, fire_norm_group_t *g)
{
    int bias = FIRE_STATE(l, fire_scale_t)->bias;

    g->gain_is_bottom = l->nbottom > 1;
    g->gain           = g->gain_is_bottom ? l->bottom[1] : l->blob[0];
    g->gain_gradient  = g->gain_is_bottom ? l->propagate_down[1] : l->param_gradient[0];
    g->per_channel    = FIRE_STATE(l, fire_scale_t)->axis == 1 && g->gain->ndim == 1;
    if (bias < 0) return;
    g->shift          = l->blob[bias];
    g->shift_gradient = l->param_gradient[bias];
}

/* Take them from the BatchNorm itself, if it has them. */
static void use_norm(const fire_layer_t *l, fire_norm_group_t *g)
{
    fire_batch_norm_blobs_t at = FIRE_STATE(l, fire_batch_norm_t)->at;

    g->per_channel = true;
    if (at.gain < 0) return;
    g->gain           = l->blob[at.gain];
    g->shift          = l->blob[at.shift];
    g->gain_gradient  = l->param_gradient[at.gain];
    g->shift_gradient = l->param_gradient[at.shift];
}

fire_norm_group_t fire_norm_group(const fire_layer_t *l)
{
    const fire_layer_t *scale = fire_layer_follower(l, "Scale");
    fire_norm_group_t   g     = {.relu  = fire_layer_follower(l, "ReLU"),
                                 .sum   = fire_layer_follower(l, "Eltwise"),
                                 .split = fire_layer_follower(l, "Split"),
                                 .out   = l->top[0]};

    if (is_a(l, "Scale"))
        use_scale(l, &g);
    else if (scale != NULL)
        use_scale(scale, &g);
    else
        use_norm(l, &g);
    if (g.sum != NULL) {
        g.out   = g.sum->top[0];
        g.other = g.sum->bottom[0] == l->top[0] ? 1 : 0;
    }
    g.in_place = g.out == l->bottom[0] && l->fusion.borrower == NULL;
    return g;
}

/* ---- which layers may be absorbed ---- */

static bool absorbs_relu(const fire_layer_t *next)
{
    return is_a(next, "ReLU") && FIRE_STATE(next, fire_relu_t)->slope >= 0;
}

/* A layer that is not in place keeps its own top, whose diff the group would not write:
 * so only where nobody looks at it. */
static bool may_absorb(const fire_layer_t *l)
{
    return l->top[0] == l->bottom[0] || l->ctx->lean;
}

bool fire_batch_norm_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    fire_norm_group_t g = fire_norm_group(l), scale = {0};

    if (!may_absorb(l) || g.relu != NULL || g.split != NULL) return false;
    if (g.sum != NULL) return fire_is_plain_relu(next);
    if (absorbs_relu(next)) return true;
    if (l->fusion.nfollower > 0 || !is_a(next, "Scale") || next->nbottom > 1)
        return false;
    use_scale(next, &scale);
    return scale.per_channel && !fire_batch_norm_has_gain(l);
}

/* An Eltwise that adds two different blobs without coefficients. */
static bool is_plain_sum(const fire_layer_t *l)
{
    const fire_eltwise_t *e = FIRE_STATE(l, fire_eltwise_t);
    const float          *c = fire_eltwise_coeffs(e);

    return l->nbottom == 2 && l->bottom[0] != l->bottom[1] &&
           e->op == FIRE_ELTWISE(SUM) && (c == NULL || (c[0] == 1 && c[1] == 1));
}

/* A join: the sum at the end of a residual branch, then a Split of its result in
 * two. */
bool fire_norm_cuda_absorbs_join(const fire_layer_t *l, const fire_layer_t *next)
{
    fire_norm_group_t g = fire_norm_group(l);

    if (!fire_is_batch_norm(l) || g.split != NULL) return false;
    if (g.sum != NULL) return is_a(next, "Split") && next->ntop == 2;
    return g.relu == NULL && is_a(next, "Eltwise") && is_plain_sum(next);
}

/* Compute the BatchNorm at the end of the other branch together with the sum. */
bool fire_norm_cuda_borrows(const fire_layer_t *l, const fire_layer_t *from)
{
    fire_norm_group_t g = fire_norm_group(l), f = fire_norm_group(from);

    return g.sum != NULL && fire_is_batch_norm(from) && f.relu == NULL &&
           f.sum == NULL && f.out == g.sum->bottom[g.other] && f.out == from->bottom[0];
}

/* Only at the end of a residual branch, where it is faster. */
bool fire_norm_cuda_writes_even(const fire_layer_t *l)
{
    return fire_norm_group(l).sum != NULL &&
           fire_gpu_format(l, l->bottom[0]).layout == FIRE_NHWC;
}

bool fire_scale_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next)
{
    return may_absorb(l) && l->fusion.nfollower == 0 && absorbs_relu(next);
}

/* In place, y takes x's blob; the kernel keeps x itself. */
unsigned fire_norm_cuda_backward_reads(const fire_layer_t *l)
{
    return fire_norm_group(l).in_place ? FIRE_READS_COPY : FIRE_READS_BOTTOM;
}
