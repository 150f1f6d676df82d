/* backward.c - checks of gradients: against finite differences, and how they are
 * written. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "net/check/laws.h"

/* ---- finite differences ---- */

/* d objective / d x[i] by central differences. */
static fire_status_t slope(fire_rig_t *r, fire_blob_t *b, int64_t i, double *slope_p)
{
    double step = r->options->step, side[2];
    float *x, kept;

    for (int s = 0; s < 2; s++) {
        FIRE_TRY(fire_blob_update(b, FIRE_DATA, FIRE_CPU, &x));
        kept = x[i];
        x[i] = (float)((double)kept + (s == 0 ? -step : step));
        FIRE_TRY(fire_rig_forward(r));
        FIRE_TRY(fire_rig_objective(r, &side[s]));
        FIRE_TRY(fire_blob_update(b, FIRE_DATA, FIRE_CPU, &x));
        x[i] = kept;
    }
    *slope_p = (side[1] - side[0]) / (2 * step);
    return FIRE_OK;
}

/* Compare a blob's diff, dx, with slopes; large blobs at some places only. */
static fire_status_t compare_slopes(fire_rig_t *r, fire_blob_t *b, const float *dx,
                                    const char *what, fire_finding_t *f)
{
    enum { PLACES = 60 };
    int64_t stride = b->count / PLACES + 1;
    double  scale = 0.01, worst = 0;

    for (int64_t i = 0; i < b->count; i++) /* fmax() here breaks GCC 12 for arm64 */
        if (fabs((double)dx[i]) > scale) scale = fabs((double)dx[i]);
    for (int64_t i = 0; i < b->count; i += stride) {
        double want, error;

        FIRE_TRY(slope(r, b, i, &want));
        error = fabs(want - (double)dx[i]) / scale;
        if (!(error <= r->options->tolerance)) {
            fire_finding_wrong(f,
                               "backward gives %g for %s[%lld], finite differences %g "
                               "(largest %g, allowed error %g of it)",
                               (double)dx[i], what, (long long)i, want, scale,
                               r->options->tolerance);
            return FIRE_OK;
        }
        worst = fmax(worst, error);
    }
    snprintf(f->text, sizeof(f->text), "largest error %.1e of %.1e", worst,
             r->options->tolerance);
    return FIRE_OK;
}

static fire_status_t check_slopes(fire_rig_t *r, fire_blob_t *b, const char *what,
                                  fire_finding_t *f)
{
    float        *dx;
    fire_status_t st;

    FIRE_TRY(fire_rig_copy(b, FIRE_DIFF, &dx));
    st = compare_slopes(r, b, dx, what, f);
    fire_free(dx);
    return st;
}

static fire_status_t all_slopes(fire_rig_t *r, fire_finding_t *f)
{
    fire_net_t *net = r->net;
    int         n   = 0;
    char        what[96];

    FIRE_TRY(fire_rig_pass(r));
    for (int i = 0; i < net->nblob && !f->wrong; i++) {
        if (!fire_rig_is_input(r, net->blob[i].blob) || !fire_rig_has_gradient(r, i))
            continue;
        n++;
        FIRE_TRY(check_slopes(r, net->blob[i].blob, net->blob[i].name, f));
    }
    for (int i = 0; i < net->nparam && !f->wrong; i++) {
        const fire_param_t *p = &net->learn[i];

        if (p->kind != FIRE_PARAM_WEIGHT) continue;
        n++;
        snprintf(what, sizeof(what), "parameter %d of \"%.60s\"", p->index,
                 net->layer[p->layer].base.param->name);
        FIRE_TRY(check_slopes(r, p->blob, what, f));
    }
    if (n == 0) fire_finding_left_out(f, "no input and no parameter takes one");
    return FIRE_OK;
}

/* A net for the subject; *skip_p, with a reason, if its layer has no gradient. */
static fire_status_t open_rig(const fire_subject_t *s, fire_rig_t *r, fire_finding_t *f,
                              bool *skip_p)
{
    FIRE_TRY(fire_rig_create(s->options, s->param, s->kernel, false, r));
    *skip_p = !fire_rig_has_backward(r);
    if (*skip_p) fire_finding_left_out(f, "the layer has no gradient");
    return FIRE_OK;
}

/* Open, run the body, close. */
static fire_status_t with_rig(const fire_subject_t *s, fire_finding_t *f,
                              fire_status_t (*body)(fire_rig_t *, fire_finding_t *))
{
    fire_rig_t    r;
    bool          skip = false;
    fire_status_t st   = open_rig(s, &r, f, &skip);

    if (st >= 0 && !skip) st = body(&r, f);
    fire_rig_destroy(&r);
    return st;
}

fire_status_t fire_law_gradients(const fire_subject_t *s, fire_finding_t *f)
{
    if (s->options->ctx.precision != FIRE_F32 || s->options->ctx.tf32) {
        fire_finding_left_out(f, "differences of rounded numbers tell nothing");
        return FIRE_OK;
    }
    return with_rig(s, f, all_slopes);
}

/* ---- what backward writes ---- */

/* Is bottom i a blob of its own, not the layer's top too? */
static bool is_apart(const fire_layer_t *l, int i)
{
    for (int k = 0; k < l->ntop; k++)
        if (l->top[k]->part[FIRE_DIFF] == l->bottom[i]->part[FIRE_DIFF]) return false;
    return true;
}

/* Backward of the layer alone; the diffs of its tops are those of the last pass. */
static fire_status_t again(fire_rig_t *r)
{
    return r->l->kernel->backward(r->l);
}

/* The same gradients, whatever the diffs of the bottoms held before. */
static fire_status_t overwrite(fire_rig_t *r, fire_finding_t *f)
{
    fire_layer_t *l = r->l;

    FIRE_TRY(fire_rig_pass(r));
    for (int i = 0; i < l->nbottom && !f->wrong; i++) {
        float        *dx;
        double        d;
        fire_status_t st;

        if (!l->propagate_down[i] || !is_apart(l, i)) continue;
        FIRE_TRY(fire_rig_copy(l->bottom[i], FIRE_DIFF, &dx));
        st = fire_rig_set(l->bottom[i], FIRE_DIFF, 1e6f);
        if (st >= 0) st = again(r);
        if (st >= 0) st = fire_rig_compare(l->bottom[i], FIRE_DIFF, dx, &d);
        fire_free(dx);
        FIRE_TRY(st);
        if (d > 0)
            fire_finding_wrong(f,
                               "the diff of bottom %d depends on what it held before: "
                               "write it, do not add to it",
                               i);
    }
    return FIRE_OK;
}

fire_status_t fire_law_overwrites_diffs(const fire_subject_t *s, fire_finding_t *f)
{
    return with_rig(s, f, overwrite);
}

/* Backward twice gives twice the gradient of each parameter. */
static fire_status_t add(fire_rig_t *r, fire_finding_t *f)
{
    fire_layer_t *l = r->l;
    int           n = 0;

    FIRE_TRY(fire_rig_pass(r));
    for (int i = 0; i < l->nblob && !f->wrong; i++) {
        float        *dw;
        double        d;
        fire_status_t st;

        if (!l->param_gradient[i]) continue;
        n++;
        FIRE_TRY(fire_rig_pass(r));
        FIRE_TRY(fire_rig_copy(l->blob[i], FIRE_DIFF, &dw));
        for (int64_t k = 0; k < l->blob[i]->count; k++)
            dw[k] *= 2;
        st = again(r);
        if (st >= 0) st = fire_rig_compare(l->blob[i], FIRE_DIFF, dw, &d);
        fire_free(dw);
        FIRE_TRY(st);
        if (!(d <= 1e-5))
            fire_finding_wrong(f,
                               "backward run twice does not double the diff of "
                               "parameter %d: add to it, do not write it",
                               i);
    }
    if (n == 0) fire_finding_left_out(f, "no parameter learns");
    return FIRE_OK;
}

fire_status_t fire_law_adds_to_params(const fire_subject_t *s, fire_finding_t *f)
{
    return with_rig(s, f, add);
}

/* A diff that is not wanted keeps what it holds. */
static fire_status_t keeps(fire_rig_t *r, fire_blob_t *b, bool *wanted, bool *keeps_p)
{
    bool          before = *wanted;
    float        *marks;
    double        d;
    fire_status_t st;

    FIRE_TRY(fire_rig_set(b, FIRE_DIFF, 12345));
    FIRE_TRY(fire_rig_copy(b, FIRE_DIFF, &marks));
    *wanted = false;
    st      = again(r);
    *wanted = before;
    if (st >= 0) st = fire_rig_compare(b, FIRE_DIFF, marks, &d);
    fire_free(marks);
    *keeps_p = st >= 0 && d == 0;
    return st;
}

static fire_status_t unwanted(fire_rig_t *r, fire_finding_t *f)
{
    fire_layer_t *l    = r->l;
    bool          kept = true;

    FIRE_TRY(fire_rig_pass(r));
    for (int i = 0; i < l->nbottom && kept; i++) {
        if (!is_apart(l, i)) continue;
        FIRE_TRY(keeps(r, l->bottom[i], &l->propagate_down[i], &kept));
        if (!kept)
            fire_finding_wrong(
                f,
                "the diff of bottom %d is written where it is not wanted "
                "(fire_layer_wants_bottom)",
                i);
    }
    for (int i = 0; i < l->nblob && kept; i++) {
        FIRE_TRY(keeps(r, l->blob[i], &l->param_gradient[i], &kept));
        if (!kept)
            fire_finding_wrong(f,
                               "the diff of parameter %d is written where it is not "
                               "wanted (fire_layer_wants_param)",
                               i);
    }
    return FIRE_OK;
}

fire_status_t fire_law_unwanted(const fire_subject_t *s, fire_finding_t *f)
{
    return with_rig(s, f, unwanted);
}

/* ---- what backward reads ---- */

/* Do the bottoms' and tops' values lie apart? */
static bool data_apart(const fire_layer_t *l)
{
    for (int i = 0; i < l->nbottom; i++)
        for (int k = 0; k < l->ntop; k++)
            if (l->top[k]->part[FIRE_DATA] == l->bottom[i]->part[FIRE_DATA])
                return false;
    return true;
}

/* Destroy the values that the kernel says backward does not read. */
static fire_status_t spoil(fire_layer_t *l, unsigned reads)
{
    for (int i = 0; i < l->nbottom && !(reads & FIRE_READS_BOTTOM); i++)
        FIRE_TRY(fire_rig_set(l->bottom[i], FIRE_DATA, 1e6f));
    for (int i = 0; i < l->ntop && !(reads & FIRE_READS_TOP); i++)
        FIRE_TRY(fire_rig_set(l->top[i], FIRE_DATA, 1e6f));
    return FIRE_OK;
}

static fire_status_t compare_spoilt(fire_rig_t *r, unsigned reads, fire_finding_t *f)
{
    fire_layer_t *l = r->l;

    for (int i = 0; i < l->nbottom && !f->wrong; i++) {
        float        *dx;
        double        d;
        fire_status_t st;

        if (!l->propagate_down[i]) continue;
        FIRE_TRY(fire_rig_pass(r));
        FIRE_TRY(fire_rig_copy(l->bottom[i], FIRE_DIFF, &dx));
        st = spoil(l, reads);
        if (st >= 0) st = again(r);
        if (st >= 0) st = fire_rig_compare(l->bottom[i], FIRE_DIFF, dx, &d);
        fire_free(dx);
        FIRE_TRY(st);
        FIRE_TRY(fire_rig_fill(r));
        if (d > 0)
            fire_finding_wrong(f,
                               "backward reads more than the kernel's `reads` says: a "
                               "net frees these values before");
    }
    return FIRE_OK;
}

static fire_status_t read_only(fire_rig_t *r, fire_finding_t *f)
{
    unsigned reads = fire_layer_backward_reads(r->l);

    if ((reads & FIRE_READS_BOTTOM) && (reads & FIRE_READS_TOP))
        fire_finding_left_out(f, "it may read bottoms and tops");
    else if (!data_apart(r->l))
        fire_finding_left_out(f, "bottoms and tops share memory");
    else
        return compare_spoilt(r, reads, f);
    return FIRE_OK;
}

fire_status_t fire_law_reads(const fire_subject_t *s, fire_finding_t *f)
{
    return with_rig(s, f, read_only);
}
