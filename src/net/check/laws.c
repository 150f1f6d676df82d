/* laws.c - checks of forward, and of whole passes: what may change nothing. */
#include "net/check/laws.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/cpu/parallel.h"
#include "model/message.h"

void fire_finding_wrong(fire_finding_t *f, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(f->text, sizeof(f->text), format, ap);
    va_end(ap);
    f->wrong = true;
}

void fire_finding_left_out(fire_finding_t *f, const char *why)
{
    snprintf(f->text, sizeof(f->text), "%s", why);
    f->left_out = true;
}

static fire_status_t make(const fire_subject_t *s, fire_rig_t *r)
{
    return fire_rig_create(s->options, s->param, s->kernel, false, r);
}

/* ---- twins: two nets that must compute the same ---- */

typedef struct twins {
    fire_rig_t a, b;
} twins_t;

static fire_status_t pass(fire_rig_t *r)
{
    return fire_rig_has_backward(r) ? fire_rig_pass(r) : fire_rig_forward(r);
}

/* Compare what they computed; `allowed` 0: the same bits. */
static fire_status_t compare(twins_t *t, double allowed, const char *why,
                             fire_finding_t *f)
{
    bool   backward = fire_rig_has_backward(&t->a) && fire_rig_has_backward(&t->b);
    double d;
    char   what[96];

    FIRE_TRY(fire_rig_differ(&t->a, &t->b, backward, &d, what));
    if (!(d <= allowed))
        fire_finding_wrong(f, "%s differs by %.2g of its largest value: %s", what, d,
                           why);
    else if (allowed > 0)
        snprintf(f->text, sizeof(f->text), "largest difference %.1e of %.1e", d,
                 allowed);
    return FIRE_OK;
}

static void part(twins_t *t)
{
    fire_rig_destroy(&t->a);
    fire_rig_destroy(&t->b);
}

/* Make both of the subject, run `bend` on the second, then a pass of each; compare. */
static fire_status_t with_twin(const fire_subject_t *s, fire_finding_t         *f,
                               fire_status_t (*bend)(fire_rig_t *), const char *why)
{
    twins_t       t  = {0};
    fire_status_t st = make(s, &t.a);

    if (st >= 0) st = make(s, &t.b);
    if (st >= 0) st = bend(&t.b);
    if (st >= 0) st = pass(&t.a);
    if (st >= 0) st = pass(&t.b);
    if (st >= 0) st = compare(&t, 0, why, f);
    part(&t);
    return st;
}

/* A pass before the one that is compared. */
static fire_status_t pass_before(fire_rig_t *r)
{
    FIRE_TRY(pass(r));
    return fire_rig_fill(r);
}

fire_status_t fire_law_repeats(const fire_subject_t *s, fire_finding_t *f)
{
    return with_twin(s, f, pass_before, "a second pass must not depend on the first");
}

/* A pass with twice the batch, then back. */
static fire_status_t stretch_and_back(fire_rig_t *r)
{
    FIRE_TRY(fire_rig_stretch(r, 2));
    FIRE_TRY(fire_rig_fill(r));
    FIRE_TRY(pass(r));
    FIRE_TRY(fire_rig_stretch(r, 1));
    return fire_rig_fill(r);
}

fire_status_t fire_law_reshapes(const fire_subject_t *s, fire_finding_t *f)
{
    return with_twin(s, f, stretch_and_back,
                     "after a reshape and back the layer must be as new");
}

static fire_status_t spoil_tops(fire_rig_t *r)
{
    FIRE_TRY(pass_before(r));
    for (int i = 0; i < r->l->ntop; i++)
        if (r->l->ntop > 0 && !fire_rig_is_input(r, r->l->top[i]))
            FIRE_TRY(fire_rig_set(r->l->top[i], FIRE_DATA, 1e6f));
    return fire_rig_fill(r);
}

fire_status_t fire_law_overwrites_tops(const fire_subject_t *s, fire_finding_t *f)
{
    return with_twin(
        s, f, spoil_tops,
        "forward must write every element of its tops, whatever they hold");
}

/* ---- threads ---- */

/* Run with so many threads from now on. */
static fire_status_t pass_with(fire_rig_t *r, int threads)
{
    int           before = fire_threads();
    fire_status_t st;

    fire_net_set_threads(r->net, threads);
    st = pass(r);
    fire_threads_set(before);
    return st;
}

/* Other sums in the last bits are no fault; libraries have them. */
static fire_status_t compare_threads(twins_t *t, fire_finding_t *f)
{
    FIRE_TRY(compare(t, 1e-5, "with three threads instead of one", f));
    if (f->wrong) return FIRE_OK;
    FIRE_TRY(compare(t, 0, "results depend on --threads", f));
    f->noted = f->wrong;
    f->wrong = false;
    if (!f->noted) f->text[0] = '\0';
    return FIRE_OK;
}

fire_status_t fire_law_threads(const fire_subject_t *s, fire_finding_t *f)
{
    twins_t       t  = {0};
    fire_status_t st = make(s, &t.a);

    if (st >= 0) st = make(s, &t.b);
    if (st >= 0) st = pass_with(&t.a, 1);
    if (st >= 0) st = pass_with(&t.b, 3);
    if (st >= 0) st = compare_threads(&t, f);
    part(&t);
    return st;
}

/* ---- other kernels ---- */

fire_status_t fire_law_agrees_with_ref(const fire_subject_t *s, fire_finding_t *f)
{
    twins_t t       = {0};
    bool    gpu     = s->options->ctx.place == FIRE_GPU;
    bool    rounded = s->options->ctx.precision != FIRE_F32 || s->options->ctx.tf32;
    fire_status_t st;

    if (strcmp(s->kernel, s->ref) == 0) {
        fire_finding_left_out(f, "it is what others are compared with");
        return FIRE_OK;
    }
    st = make(s, &t.a);
    if (st >= 0) st = fire_rig_create(&s->on_host, s->param, s->ref, false, &t.b);
    if (st >= 0) st = pass(&t.a);
    if (st >= 0) st = pass(&t.b);
    if (st >= 0)
        st = compare(&t, rounded ? 5e-2 : gpu ? 1e-4 : 1e-5, "kernels must agree", f);
    part(&t);
    return st;
}

/* ---- in place ---- */

/* The layer's own top renamed to its bottom; NULL if it cannot work in place, or does so
 * already, or others read one of the two. */
static fire_status_t make_in_place(const fire_rig_t          *r,
                                   const Caffe__NetParameter *param,
                                   Caffe__NetParameter      **variant_p)
{
    const Caffe__LayerParameter *l = r->l->param;
    ProtobufCMessage            *copy;
    Caffe__LayerParameter       *last;
    fire_status_t                st;

    *variant_p = NULL;
    if (!(r->l->ops->flags & FIRE_LAYER_INPLACE) || l->n_bottom != 1 || l->n_top != 1 ||
        strcmp(l->bottom[0], l->top[0]) == 0 ||
        strcmp(param->layer[param->n_layer - 1]->name, l->name) != 0)
        return FIRE_OK;
    FIRE_TRY(fire_message_copy(param, &copy));
    last = ((Caffe__NetParameter *)copy)->layer[param->n_layer - 1];
    fire_free(last->top[0]);
    last->top[0] = NULL;
    st           = fire_strdup(l->bottom[0], &last->top[0]);
    if (st < 0)
        fire_message_free(copy);
    else
        *variant_p = (Caffe__NetParameter *)copy;
    return st;
}

/* Top and bottom are one blob in b, so values and diffs are compared by hand. */
static fire_status_t compare_in_place(twins_t *t, fire_finding_t *f)
{
    fire_layer_t *a = t->a.l, *b = t->b.l;
    const float  *x;
    double        d;

    FIRE_TRY(fire_rig_forward(&t->a));
    FIRE_TRY(fire_rig_forward(&t->b));
    FIRE_TRY(fire_blob_read(a->top[0], FIRE_DATA, FIRE_CPU, &x));
    FIRE_TRY(fire_rig_compare(b->top[0], FIRE_DATA, x, &d));
    if (d > 0) fire_finding_wrong(f, "in place, the top differs by %.2g", d);
    if (f->wrong || !fire_rig_has_backward(&t->a)) return FIRE_OK;
    FIRE_TRY(fire_rig_set(a->top[0], FIRE_DIFF, 0.5f));
    FIRE_TRY(fire_rig_set(b->top[0], FIRE_DIFF, 0.5f));
    FIRE_TRY(fire_net_backward(t->a.net, -1, 0));
    FIRE_TRY(fire_net_backward(t->b.net, -1, 0));
    FIRE_TRY(fire_blob_read(a->bottom[0], FIRE_DIFF, FIRE_CPU, &x));
    FIRE_TRY(fire_rig_compare(b->bottom[0], FIRE_DIFF, x, &d));
    if (d > 0) fire_finding_wrong(f, "in place, the bottom's diff differs by %.2g", d);
    return FIRE_OK;
}

fire_status_t fire_law_in_place(const fire_subject_t *s, fire_finding_t *f)
{
    twins_t              t       = {0};
    Caffe__NetParameter *variant = NULL;
    fire_status_t        st      = make(s, &t.a);

    if (st >= 0) st = make_in_place(&t.a, s->param, &variant);
    if (st >= 0 && variant == NULL)
        fire_finding_left_out(f, "it does not work in place");
    if (st >= 0 && variant != NULL)
        st = fire_rig_create(s->options, variant, s->kernel, false, &t.b);
    if (st >= 0 && variant != NULL) st = compare_in_place(&t, f);
    part(&t);
    fire_message_free(variant);
    return st;
}

/* ---- saving, lean nets ---- */

fire_status_t fire_law_survives_saving(const fire_subject_t *s, fire_finding_t *f)
{
    fire_check_options_t other = *s->options;
    twins_t              t     = {0};
    Caffe__NetParameter *saved = NULL;
    fire_status_t        st    = make(s, &t.a);

    other.seed++;
    if (st >= 0) st = fire_rig_create(&other, s->param, s->kernel, false, &t.b);
    if (st >= 0) st = fire_net_save(t.a.net, false, &saved);
    if (st >= 0) st = fire_net_load(t.b.net, saved, "the saved net");
    t.b.options = s->options; /* the same inputs */
    if (st >= 0) t.b.net->moment.seed = s->options->seed;
    if (st >= 0) st = fire_rig_fill(&t.b);
    if (st >= 0) st = pass(&t.a);
    if (st >= 0) st = pass(&t.b);
    if (st >= 0)
        st = compare(&t, 0, "saved and loaded again it must compute the same", f);
    fire_message_free(saved);
    part(&t);
    return st;
}

fire_status_t fire_law_lean(const fire_subject_t *s, fire_finding_t *f)
{
    twins_t       t  = {0};
    fire_status_t st = make(s, &t.a);

    if (st >= 0) st = fire_rig_create(s->options, s->param, s->kernel, true, &t.b);
    if (st >= 0) st = pass(&t.a);
    if (st >= 0) st = pass(&t.b);
    if (st >= 0)
        st = compare(&t, 1e-5,
                     "a training frees values that nobody reads (the kernel's `reads`)",
                     f);
    part(&t);
    return st;
}
