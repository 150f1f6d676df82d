/* rig.c - makes nets with a layer under test, fills them and compares them. */
#include "net/check/rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

static fire_rng_key_t key_of(const fire_rig_t *r, const char *name)
{
    return fire_rng_key(r->options->seed, FIRE_RNG_TEST, fire_rng_name(name), 0);
}

static const fire_check_fill_t *fill_of(const fire_rig_t *r, const char *blob)
{
    for (int i = 0; i < r->options->nfill; i++)
        if (strcmp(r->options->fill[i].blob, blob) == 0) return &r->options->fill[i];
    return NULL;
}

static double value_of(const fire_check_fill_t *f, fire_rng_key_t key, int64_t n,
                       int64_t i)
{
    double u = (double)fire_rng_uniform(key, (uint64_t)i), x;

    if (f == NULL)
        return 0.1 * ((double)fire_rng_permute(key, (uint64_t)n, (uint64_t)i) -
                      (double)(n / 2)) +
               0.05;
    x = f->low + u * (f->high - f->low);
    return f->whole ? floor(x) : x;
}

bool fire_rig_is_input(const fire_rig_t *r, const fire_blob_t *b)
{
    for (int i = 0; i < r->net->nlayer; i++) {
        const fire_layer_t *l = &r->net->layer[i].base;

        for (int k = 0; k < l->ntop && strcmp(l->ops->type, "Input") == 0; k++)
            if (l->top[k] == b) return true;
    }
    return false;
}

fire_status_t fire_rig_fill(fire_rig_t *r)
{
    for (int i = 0; i < r->net->nblob; i++) {
        fire_blob_t   *b    = r->net->blob[i].blob;
        const char    *name = r->net->blob[i].name;
        fire_rng_key_t key  = key_of(r, name);
        float         *x;

        if (!fire_rig_is_input(r, b)) continue;
        FIRE_TRY(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &x));
        for (int64_t k = 0; k < b->count; k++)
            x[k] = (float)value_of(fill_of(r, name), key, b->count, k);
    }
    return FIRE_OK;
}

/* What fillers gave, and a little more, so that no two elements are alike. */
static fire_status_t shake_params(fire_rig_t *r)
{
    for (int i = 0; i < r->net->nparam; i++) {
        const fire_param_t *p = &r->net->learn[i];
        char                name[64];
        float              *x;

        if (p->kind != FIRE_PARAM_WEIGHT) continue;
        snprintf(name, sizeof(name), "parameter %d", i);
        FIRE_TRY(fire_blob_update(p->blob, FIRE_DATA, FIRE_CPU, &x));
        for (int64_t k = 0; k < p->blob->count; k++)
            x[k] += 0.4f * (fire_rng_uniform(key_of(r, name), (uint64_t)k) - 0.5f);
    }
    return FIRE_OK;
}

fire_status_t fire_rig_stretch(fire_rig_t *r, int64_t times)
{
    for (int i = 0; i < r->net->nlayer; i++) {
        const fire_layer_t          *l = &r->net->layer[i].base;
        const Caffe__BlobShape      *shape;
        int64_t                      dim[FIRE_MAX_DIMS];
        const Caffe__InputParameter *p = l->param->input_param;

        for (int k = 0; k < l->ntop && strcmp(l->ops->type, "Input") == 0; k++) {
            shape = p->shape[p->n_shape == 1 ? 0 : k];
            for (size_t d = 0; d < shape->n_dim; d++)
                dim[d] = shape->dim[d] * (d == 0 ? times : 1);
            FIRE_TRY(fire_blob_reshape(l->top[k], (int)shape->n_dim, dim));
        }
    }
    return FIRE_OK;
}

/* ---- the net ---- */

/* The layer under test among those of the message. */
static fire_status_t find_param(const fire_check_options_t   *o,
                                const Caffe__NetParameter    *param,
                                const Caffe__LayerParameter **layer_p)
{
    if (param->n_layer == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the net has no layers");
    *layer_p = param->layer[param->n_layer - 1];
    if (o->layer == NULL) return FIRE_OK;
    for (size_t i = 0; i < param->n_layer; i++) {
        *layer_p = param->layer[i];
        if ((*layer_p)->name != NULL && strcmp((*layer_p)->name, o->layer) == 0)
            return FIRE_OK;
    }
    return FIRE_FAIL(FIRE_ERR_INVALID, "the net has no layer \"%s\"", o->layer);
}

static fire_status_t find_layer(fire_rig_t *r, const char *name)
{
    for (int i = 0; i < r->net->nlayer; i++)
        if (strcmp(r->net->layer[i].base.param->name, name) == 0) {
            r->layer = i;
            r->l     = &r->net->layer[i].base;
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "layer \"%s\" is not in the net of this phase, level and stage",
                     name);
}

fire_status_t fire_rig_create(const fire_check_options_t *o,
                              const Caffe__NetParameter *param, const char *kernel,
                              bool lean, fire_rig_t *r)
{
    fire_net_options_t           n = FIRE_NET_OPTIONS_INIT;
    const Caffe__LayerParameter *under_test;

    memset(r, 0, sizeof(*r));
    r->options = o;
    FIRE_TRY(find_param(o, param, &under_test));
    if (kernel != NULL)
        snprintf(r->request, sizeof(r->request), "%s=%s", under_test->type, kernel);
    n.ctx         = o->ctx;
    n.ctx.lean    = lean;
    n.ctx.kernels = kernel != NULL ? r->request : NULL;
    n.moment.seed = o->seed;
    n.phase       = o->phase;
    n.level       = o->level;
    n.nstage      = o->nstage;
    n.stage       = o->stage;
    FIRE_TRY(fire_net_create(param, &n, &r->net));
    if (!lean) FIRE_TRY(fire_net_unfuse(r->net)); /* the layer runs by itself */
    FIRE_TRY(find_layer(r, under_test->name));
    FIRE_TRY(shake_params(r));
    return fire_rig_fill(r);
}

void fire_rig_destroy(fire_rig_t *r)
{
    fire_net_destroy(r->net);
    r->net = NULL;
}

/* ---- running ---- */

bool fire_rig_has_backward(const fire_rig_t *r)
{
    return r->net->layer[r->layer].need_backward && r->l->kernel->backward != NULL;
}

fire_status_t fire_rig_forward(fire_rig_t *r)
{
    return fire_net_forward(r->net, 0, -1, NULL);
}

bool fire_rig_has_gradient(const fire_rig_t *r, int blob)
{
    for (int i = 0; i < r->net->nlayer; i++) {
        const fire_net_layer_t *l = &r->net->layer[i];

        for (int k = 0; k < l->base.nbottom; k++)
            if (l->bottom_id[k] == blob && l->need_backward &&
                l->base.propagate_down[k] && l->base.kernel->backward != NULL)
                return true;
    }
    return false;
}

/* Gradients of the outputs: random, but for a loss, whose is its weight. */
static fire_status_t seed_outputs(fire_rig_t *r)
{
    static const fire_check_fill_t some = {.low = -1, .high = 1};

    for (int i = 0; i < r->net->noutput; i++) {
        const fire_net_blob_t *b      = &r->net->blob[r->net->output[i]];
        float                  weight = fire_net_loss_weight(r->net, r->net->output[i]);
        fire_rng_key_t         key    = key_of(r, b->name);
        float                 *dy;

        FIRE_TRY(fire_blob_write(b->blob, FIRE_DIFF, FIRE_CPU, &dy));
        for (int64_t k = 0; k < b->blob->count; k++)
            dy[k] =
                weight != 0 ? weight : (float)value_of(&some, key, b->blob->count, k);
    }
    return FIRE_OK;
}

fire_status_t fire_rig_backward(fire_rig_t *r)
{
    FIRE_TRY(seed_outputs(r));
    return fire_net_backward(r->net, -1, 0);
}

fire_status_t fire_rig_pass(fire_rig_t *r)
{
    FIRE_TRY(fire_rig_forward(r));
    FIRE_TRY(fire_net_clear_diffs(r->net));
    return fire_rig_backward(r);
}

fire_status_t fire_rig_objective(fire_rig_t *r, double *sum_p)
{
    double sum = 0;

    for (int i = 0; i < r->net->noutput; i++) {
        fire_blob_t *b = r->net->blob[r->net->output[i]].blob;
        const float *y, *dy;

        FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &y));
        FIRE_TRY(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &dy));
        for (int64_t k = 0; k < b->count; k++)
            sum += (double)y[k] * (double)dy[k];
    }
    *sum_p = sum;
    return FIRE_OK;
}

/* ---- comparing ---- */

fire_status_t fire_rig_copy(fire_blob_t *b, fire_part_t part, float **copy_p)
{
    const float *x;

    FIRE_TRY(fire_blob_read(b, part, FIRE_CPU, &x));
    FIRE_TRY(FIRE_NEW(copy_p, b->count));
    memcpy(*copy_p, x, (size_t)b->count * sizeof(*x));
    return FIRE_OK;
}

fire_status_t fire_rig_set(fire_blob_t *b, fire_part_t part, float value)
{
    float *x;

    FIRE_TRY(fire_blob_write(b, part, FIRE_CPU, &x));
    for (int64_t i = 0; i < b->count; i++)
        x[i] = value;
    return FIRE_OK;
}

fire_status_t fire_rig_compare(fire_blob_t *b, fire_part_t part, const float *x,
                               double *d_p)
{
    double       worst = 0, scale = 1e-30;
    const float *y;

    FIRE_TRY(fire_blob_read(b, part, FIRE_CPU, &y));
    *d_p = 0;
    if (memcmp(x, y, (size_t)b->count * sizeof(*x)) == 0) return FIRE_OK;
    for (int64_t i = 0; i < b->count; i++) {
        double d = x[i] == y[i] ? 0 : fabs((double)x[i] - (double)y[i]);

        if (isnan(x[i]) && isnan(y[i])) d = 0;
        if (isnan(d)) d = INFINITY;
        worst = fmax(worst, d);
        scale = fmax(scale, fabs((double)y[i]));
    }
    *d_p = fmax(worst / scale, 1e-30); /* 0 and -0 have other bits */
    return FIRE_OK;
}

/* Compare one blob of each net; the worst one so far is kept. */
static fire_status_t compare(fire_blob_t *a, fire_blob_t *b, fire_part_t part,
                             const char *what, const char *name, double *worst_p,
                             char text[96])
{
    const float *x;
    double       d = INFINITY;

    if (fire_blob_same_shape(a, b)) {
        FIRE_TRY(fire_blob_read(b, part, FIRE_CPU, &x));
        FIRE_TRY(fire_rig_compare(a, part, x, &d));
    }
    if (d > *worst_p) {
        *worst_p = d;
        snprintf(text, 96, "%s %.70s", what, name);
    }
    return FIRE_OK;
}

fire_status_t fire_rig_differ(fire_rig_t *a, fire_rig_t *b, bool backward, double *d_p,
                              char what[96])
{
    fire_net_t *net = a->net;

    *d_p    = 0;
    what[0] = '\0';
    for (int i = 0; i < net->noutput; i++)
        FIRE_TRY(compare(net->blob[net->output[i]].blob,
                         b->net->blob[b->net->output[i]].blob, FIRE_DATA, "output",
                         net->blob[net->output[i]].name, d_p, what));
    for (int i = 0; i < net->nparam && backward; i++) {
        char number[16];

        snprintf(number, sizeof(number), "%d", i);
        if (net->learn[i].kind == FIRE_PARAM_WEIGHT)
            FIRE_TRY(compare(net->learn[i].blob, b->net->learn[i].blob, FIRE_DIFF,
                             "gradient of parameter", number, d_p, what));
    }
    for (int i = 0; i < net->nblob && backward; i++)
        if (fire_rig_is_input(a, net->blob[i].blob) && fire_rig_has_gradient(a, i))
            FIRE_TRY(compare(net->blob[i].blob, b->net->blob[i].blob, FIRE_DIFF,
                             "gradient of", net->blob[i].name, d_p, what));
    return FIRE_OK;
}
