/* What holds for every layer, on the nets of tests/layers/cases: the kernels that
 * src/layers/select.c may choose give what `ref` gives. */
#include <stdlib.h>

#include "cases.h"
#include "gpu.h"
#include "model/message.h"
#include "net/net_state.h"

static char wrong[512]; /* what the last check found */

/* Kernels of the layer under test that this machine can run. */
static const char *kernel_name(const layer_case_t *c, int i)
{
    const fire_kernel_t *const *k = case_ops(c)->kernels;

    for (; *k != NULL; k++)
        if (((*k)->where == FIRE_GPU) == test_on_gpu() && i-- == 0) return (*k)->name;
    return NULL;
}

static bool takes(const layer_case_t *c, const char *kernel)
{
    fire_net_t *net;
    bool        ok = case_create(c, c->param, kernel, &net) >= 0;

    if (ok) fire_net_destroy(net);
    return ok;
}

/* The kernel to check what any must fulfil; NULL: a GPU has none. */
static const char *main_kernel(const layer_case_t *c)
{
    if (!test_on_gpu()) return "ref";
    for (int i = 0; kernel_name(c, i) != NULL; i++)
        if (takes(c, kernel_name(c, i))) return kernel_name(c, i);
    return NULL;
}

/* ---- finite differences ---- */

/* d objective / d x[i] by central differences. */
static double slope(const layer_case_t *c, fire_net_t *net, fire_blob_t *blob,
                    int64_t i)
{
    double side[2];
    float *x, kept;

    for (int s = 0; s < 2; s++) {
        CHECK_OK(fire_blob_update(blob, FIRE_DATA, FIRE_CPU, &x));
        kept = x[i];
        x[i] = (float)((double)kept + (s == 0 ? -c->step : c->step));
        CHECK_OK(fire_net_forward(net, 0, -1, NULL));
        side[s] = case_objective(net);
        CHECK_OK(fire_blob_update(blob, FIRE_DATA, FIRE_CPU, &x));
        x[i] = kept;
    }
    return (side[1] - side[0]) / (2 * c->step);
}

/* Compare a blob's diff with slopes; large blobs at some places only. */
static void check_blob(const layer_case_t *c, fire_net_t *net, fire_blob_t *blob,
                       const char *what)
{
    enum { PLACES = 60 };
    int64_t      stride = blob->count / PLACES + 1, n = blob->count;
    float       *diff  = malloc((size_t)n * sizeof(*diff));
    double       scale = 0.01;
    const float *dx;

    CHECK_OK(fire_blob_read(blob, FIRE_DIFF, FIRE_CPU, &dx));
    memcpy(diff, dx, (size_t)n * sizeof(*diff));
    for (int64_t i = 0; i < n; i++)
        scale = fabs((double)diff[i]) > scale ? fabs((double)diff[i]) : scale;
    for (int64_t i = 0; i < n && wrong[0] == '\0'; i += stride) {
        double want = slope(c, net, blob, i);

        if (!(fabs(want - (double)diff[i]) <= c->tolerance * scale))
            snprintf(wrong, sizeof(wrong),
                     "gradient of %s[%lld] is %g, finite differences give %g", what,
                     (long long)i, (double)diff[i], want);
    }
    free(diff);
}

/* Does the layer under test (or one before it) send a gradient to this blob? */
static bool has_gradient(const fire_net_t *net, int blob)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_net_layer_t *l = &net->layer[i];

        for (int k = 0; k < l->base.nbottom; k++)
            if (l->bottom_id[k] == blob && l->need_backward &&
                l->base.propagate_down[k] && l->base.kernel->backward != NULL)
                return true;
    }
    return false;
}

static bool is_input(const fire_net_t *net, const fire_blob_t *blob)
{
    for (int i = 0; i < net->nlayer; i++)
        for (int k = 0; k < net->layer[i].base.ntop; k++)
            if (net->layer[i].base.top[k] == blob &&
                strcmp(net->layer[i].base.ops->type, "Input") == 0)
                return true;
    return false;
}

static void check_gradients(const layer_case_t *c, const char *kernel)
{
    fire_net_t *net = case_net(c, c->param, kernel, 1);

    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    case_backward(net);
    for (int i = 0; i < net->nblob; i++)
        if (is_input(net, net->blob[i].blob) && has_gradient(net, i) &&
            strcmp(net->blob[i].name, c->estimate) != 0)
            check_blob(c, net, net->blob[i].blob, net->blob[i].name);
    for (int i = 0; i < net->nparam; i++) {
        char what[64];

        snprintf(what, sizeof(what), "parameter %d", i);
        if (net->learn[i].kind == FIRE_PARAM_WEIGHT)
            check_blob(c, net, net->learn[i].blob, what);
    }
    fire_net_destroy(net);
}

static const char *gradients_match(const layer_case_t *c)
{
    wrong[0] = '\0';
    for (int i = 0; kernel_name(c, i) != NULL && !c->forward_only; i++)
        if (takes(c, kernel_name(c, i))) check_gradients(c, kernel_name(c, i));
    return wrong[0] != '\0' ? wrong : NULL;
}

TEST(gradients_match_finite_differences)
{
    if (test_ctx().precision != FIRE_F32 || test_ctx().tf32)
        test_skip("differences of rounded numbers tell nothing");
    cases_each(gradients_match);
}

/* ---- known values ---- */

static void check_output(const layer_case_t *c, const char *kernel)
{
    fire_net_t  *net  = case_net(c, c->param, kernel, 1);
    fire_blob_t *blob = fire_net_find_blob(net, c->output.blob);
    const float *y;

    CHECK(blob != NULL);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_OK(fire_blob_read(blob, FIRE_DATA, FIRE_CPU, &y));
    CHECK_EQ(blob->count, c->output.nvalue);
    for (int i = 0; i < c->output.nvalue; i++) {
        double want = c->output.value[i];

        if (!(fabs((double)y[i] - want) <= test_tolerance(1e-6) * fmax(1, fabs(want))))
            snprintf(wrong, sizeof(wrong), "%s gives %g as %s[%d], not %g", kernel,
                     (double)y[i], c->output.blob, i, want);
    }
    fire_net_destroy(net);
}

static const char *output_is_known(const layer_case_t *c)
{
    wrong[0] = '\0';
    for (int i = 0; c->output.nvalue > 0 && kernel_name(c, i) != NULL; i++)
        if (takes(c, kernel_name(c, i))) check_output(c, kernel_name(c, i));
    return wrong[0] != '\0' ? wrong : NULL;
}

TEST(forward_gives_the_values_that_a_case_lists)
{
    cases_each(output_is_known);
}

/* ---- two nets that must agree ---- */

/* Run both and compare all outputs, parameter gradients and, by name, inputs' ones. */
static void compare_runs(const layer_case_t *c, fire_net_t *a, fire_net_t *b,
                         double tolerance, const char *what)
{
    fire_net_t *net[] = {a, b};
    double      d     = 0;

    for (int i = 0; i < 2; i++)
        CHECK_OK(fire_net_forward(net[i], 0, -1, NULL));
    for (int i = 0; i < a->noutput && i < b->noutput; i++)
        d = fmax(d, case_difference(a->blob[a->output[i]].blob,
                                    b->blob[b->output[i]].blob, FIRE_DATA));
    if (!(d <= tolerance))
        snprintf(wrong, sizeof(wrong), "%s: outputs differ by %g", what, d);
    if (c->forward_only || wrong[0] != '\0') return;
    for (int i = 0; i < 2; i++)
        case_backward(net[i]);
    for (int i = 0; i < a->nparam; i++)
        d = fmax(d, case_difference(a->learn[i].blob, b->learn[i].blob, FIRE_DIFF));
    for (int i = 0; i < a->nblob; i++) {
        fire_blob_t *other = fire_net_find_blob(b, a->blob[i].name);

        if (has_gradient(a, i) && other != NULL)
            d = fmax(d, case_difference(a->blob[i].blob, other, FIRE_DIFF));
    }
    if (!(d <= tolerance))
        snprintf(wrong, sizeof(wrong), "%s: gradients differ by %g", what, d);
}

static const char *kernels_agree(const layer_case_t *c)
{
    wrong[0] = '\0';
    for (int i = 0; kernel_name(c, i) != NULL; i++) {
        fire_net_t *fast, *ref;

        if (strcmp(kernel_name(c, i), "ref") == 0 || !takes(c, kernel_name(c, i)))
            continue;
        fast = case_net(c, c->param, kernel_name(c, i), 1);
        ref  = case_net(c, c->param, "ref", 1);
        compare_runs(c, fast, ref, test_tolerance(1e-5), kernel_name(c, i));
        fire_net_destroy(fast);
        fire_net_destroy(ref);
    }
    return wrong[0] != '\0' ? wrong : NULL;
}

TEST(every_kernel_agrees_with_ref)
{
    cases_each(kernels_agree);
}

/* ---- several passes ---- */

/* a += b */
static void add_diffs(fire_blob_t *a, fire_blob_t *b)
{
    const float *y;
    float       *x;

    CHECK_OK(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &y));
    CHECK_OK(fire_blob_update(a, FIRE_DIFF, FIRE_CPU, &x));
    for (int64_t i = 0; i < a->count; i++)
        x[i] += y[i];
}

static void pass(fire_net_t *net, void (*backward)(fire_net_t *))
{
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    backward(net);
}

/* Two passes in a row leave the sum of what two passes leave one by one; gradients of
 * blobs are those of the last. */
static void check_two_passes(const layer_case_t *c, const char *kernel)
{
    fire_net_t *together = case_net(c, c->param, kernel, 1);
    fire_net_t *last     = case_net(c, c->param, kernel, 1);
    fire_net_t *before   = case_net(c, c->param, kernel, 1);
    double      d        = 0;

    pass(together, case_backward);
    pass(together, case_backward_more);
    pass(before, case_backward);
    pass(last, case_backward);
    pass(last, case_backward);
    for (int i = 0; i < last->nblob; i++)
        if (has_gradient(last, i))
            d = fmax(d, case_difference(together->blob[i].blob, last->blob[i].blob,
                                        FIRE_DIFF));
    for (int i = 0; i < last->nparam; i++) {
        if (last->learn[i].kind != FIRE_PARAM_WEIGHT) continue;
        add_diffs(last->learn[i].blob, before->learn[i].blob);
        d = fmax(d, case_difference(together->learn[i].blob, last->learn[i].blob,
                                    FIRE_DIFF));
    }
    if (!(d <= test_tolerance(1e-5)))
        snprintf(wrong, sizeof(wrong), "%s: gradients of two passes differ by %g",
                 kernel, d);
    fire_net_destroy(together);
    fire_net_destroy(last);
    fire_net_destroy(before);
}

static const char *gradients_add_up(const layer_case_t *c)
{
    wrong[0] = '\0';
    for (int i = 0; kernel_name(c, i) != NULL && !c->forward_only; i++)
        if (takes(c, kernel_name(c, i))) check_two_passes(c, kernel_name(c, i));
    return wrong[0] != '\0' ? wrong : NULL;
}

TEST(gradients_of_parameters_add_up_over_two_passes)
{
    cases_each(gradients_add_up);
}

/* The case with its layer's first top being the first bottom, NULL if that is no
 * question: the layer cannot, or the case is so already. */
static Caffe__NetParameter *in_place_variant(const layer_case_t *c)
{
    const Caffe__LayerParameter *l = case_layer(c);
    ProtobufCMessage            *copy;
    Caffe__LayerParameter       *last;

    if (!(case_ops(c)->flags & FIRE_LAYER_INPLACE) || l->n_bottom == 0 ||
        strcmp(l->bottom[0], l->top[0]) == 0)
        return NULL;
    CHECK_OK(fire_message_copy(c->param, &copy));
    last = ((Caffe__NetParameter *)copy)->layer[c->param->n_layer - 1];
    fire_free(last->top[0]);
    CHECK_OK(fire_strdup(last->bottom[0], &last->top[0]));
    return (Caffe__NetParameter *)copy;
}

static const char *in_place_is_the_same(const layer_case_t *c)
{
    Caffe__NetParameter *variant = in_place_variant(c);
    fire_net_t          *apart, *in_place;
    const char          *bottom, *kernel = main_kernel(c);

    wrong[0] = '\0';
    if (variant == NULL || kernel == NULL) {
        fire_message_free(variant);
        return NULL;
    }
    bottom   = case_layer(c)->bottom[0];
    apart    = case_net(c, c->param, kernel, 1);
    in_place = case_net(c, variant, kernel, 1);
    CHECK_OK(fire_net_forward(apart, 0, -1, NULL));
    CHECK_OK(fire_net_forward(in_place, 0, -1, NULL));
    if (case_difference(fire_net_find_blob(in_place, bottom),
                        fire_net_find_blob(apart, case_layer(c)->top[0]),
                        FIRE_DATA) > 0)
        snprintf(wrong, sizeof(wrong), "outputs differ");
    if (!c->forward_only && wrong[0] == '\0') {
        CHECK_OK(fire_blob_set(fire_net_find_blob(apart, case_layer(c)->top[0]),
                               FIRE_DIFF, 0.5f));
        CHECK_OK(fire_blob_set(fire_net_find_blob(in_place, bottom), FIRE_DIFF, 0.5f));
        CHECK_OK(fire_net_backward(apart, -1, 0));
        CHECK_OK(fire_net_backward(in_place, -1, 0));
        if (case_difference(fire_net_find_blob(in_place, bottom),
                            fire_net_find_blob(apart, bottom), FIRE_DIFF) > 0)
            snprintf(wrong, sizeof(wrong), "gradients differ");
    }
    fire_net_destroy(apart);
    fire_net_destroy(in_place);
    fire_message_free(variant);
    return wrong[0] != '\0' ? wrong : NULL;
}

TEST(in_place_gives_what_out_of_place_gives)
{
    cases_each(in_place_is_the_same);
}

/* Twice the batch on every input, one pass, and back. */
static void stretch(fire_net_t *net, int64_t times)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t *l = &net->layer[i].base;
        int64_t       dim[FIRE_MAX_DIMS];

        for (int k = 0; k < l->ntop && strcmp(l->ops->type, "Input") == 0; k++) {
            const Caffe__BlobShape *shape = l->param->input_param->shape[0];

            for (size_t d = 0; d < shape->n_dim; d++)
                dim[d] = shape->dim[d] * (d == 0 ? times : 1);
            CHECK_OK(fire_blob_reshape(l->top[k], (int)shape->n_dim, dim));
        }
    }
}

static const char *reshaping_is_harmless(const layer_case_t *c)
{
    const char *kernel = main_kernel(c);
    fire_net_t *fresh, *bent;

    wrong[0] = '\0';
    if (c->fixed || kernel == NULL) return NULL;
    fresh = case_net(c, c->param, kernel, 1);
    bent  = case_net(c, c->param, kernel, 1);
    stretch(bent, 2);
    case_fill_inputs(c, bent);
    CHECK_OK(fire_net_forward(bent, 0, -1, NULL));
    if (!c->forward_only) case_backward(bent);
    stretch(bent, 1);
    case_fill_inputs(c, bent);
    compare_runs(c, bent, fresh, 0, "after two reshapes");
    fire_net_destroy(fresh);
    fire_net_destroy(bent);
    return wrong[0] != '\0' ? wrong : NULL;
}

TEST(a_layer_reshaped_and_back_is_as_new)
{
    cases_each(reshaping_is_harmless);
}

static const char *parameters_survive(const layer_case_t *c)
{
    const char          *kernel = main_kernel(c);
    fire_net_t          *from, *to;
    Caffe__NetParameter *saved;

    wrong[0] = '\0';
    if (kernel == NULL) return NULL;
    from = case_net(c, c->param, kernel, 1);
    to   = case_net(c, c->param, kernel, 2);
    CHECK_OK(fire_net_save(from, false, &saved));
    CHECK_OK(fire_net_load(to, saved, "the saved net"));
    compare_runs(c, to, from, 0, "after saving and loading");
    fire_message_free(saved);
    fire_net_destroy(from);
    fire_net_destroy(to);
    return wrong[0] != '\0' ? wrong : NULL;
}

TEST(parameters_survive_saving_and_loading)
{
    cases_each(parameters_survive);
}
