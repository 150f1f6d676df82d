/* twins.c - makes, runs and compares the two nets. */
#include "twins.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text/text.h"
#include "model/text.h"
#include "net/net_state.h"

const char *twins_layers(const char *path)
{
    static char text[8192];
    char       *read;

    CHECK_OK(fire_file_read_text(test_source(path), &read));
    CHECK(strlen(read) < sizeof(text));
    snprintf(text, sizeof(text), "%s", read);
    fire_free(read);
    return text;
}

static fire_net_t *make(const char *text, Caffe__Phase phase, const fire_ctx_t *ctx)
{
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;
    ProtobufCMessage  *param;
    fire_net_t        *net;

    o.phase = phase;
    o.ctx   = *ctx;
    CHECK_OK(fire_text_parse(text, strlen(text), "twins.prototxt",
                             &caffe__net_parameter__descriptor, &param));
    CHECK_OK(fire_net_create((Caffe__NetParameter *)param, &o, &net));
    fire_message_free(param);
    return net;
}

static twins_t make_both(const char *in, const char *layers, Caffe__Phase phase,
                         bool backward, const fire_ctx_t *fast)
{
    fire_str_t text = {0};
    fire_ctx_t ref  = FIRE_CTX_INIT;
    twins_t    t;

    ref.kernels = "all=ref";
    CHECK_OK(fire_str_printf(&text,
                             "force_backward: %s layer { name: \"in\" "
                             "type: \"Input\" top: \"in\" input_param { shape {",
                             backward ? "true" : "false"));
    for (const char *s = in; *s != '\0'; s += strcspn(s, " "), s += *s == ' ')
        CHECK_OK(fire_str_printf(&text, " dim: %.*s", (int)strcspn(s, " "), s));
    CHECK_OK(fire_str_printf(&text, " } } }\n%s", layers));
    t.ref  = make(text.text, phase, &ref);
    t.fast = make(text.text, phase, fast);
    fire_str_fini(&text);
    return t;
}

twins_t twins_make(const char *in, const char *layers, Caffe__Phase phase,
                   const fire_ctx_t *fast)
{
    return make_both(in, layers, phase, true, fast);
}

twins_t twins_make_inference(const char *in, const char *layers)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;

    ctx.lean = true;
    return make_both(in, layers, CAFFE__PHASE__TEST, false, &ctx);
}

void twins_end(twins_t *t)
{
    fire_net_destroy(t->ref);
    fire_net_destroy(t->fast);
}

void twins_kernel_is(const twins_t *t, const char *layer, const char *kernel)
{
    fire_layer_t *l = fire_net_find_layer(t->fast, layer);

    CHECK(l != NULL);
    CHECK_STR(l->kernel->name, kernel);
}

static void randomize(fire_blob_t *b, fire_part_t part, uint64_t what)
{
    float *x;

    CHECK_OK(fire_blob_write(b, part, FIRE_CPU, &x));
    for (int64_t i = 0; i < fire_blob_count(b); i++)
        x[i] = fire_rng_gaussian(fire_rng_key(7, FIRE_RNG_FILL, what, 0), (uint64_t)i);
}

static void same(const char *name, fire_blob_t *ref, fire_blob_t *fast,
                 fire_part_t part, double tolerance)
{
    double       largest = 1, error = 0; /* gradients that cancel leave noise */
    const float *a, *b;

    CHECK(fire_blob_same_shape(ref, fast));
    CHECK_OK(fire_blob_read(ref, part, FIRE_CPU, &a));
    CHECK_OK(fire_blob_read(fast, part, FIRE_CPU, &b));
    for (int64_t i = 0; i < fire_blob_count(ref); i++) {
        double d = fabs((double)a[i] - (double)b[i]);

        if (fabs((double)a[i]) > largest) largest = fabs((double)a[i]);
        if (!(d <= error)) error = d; /* NaN too */
    }
    if (!(error <= tolerance * largest))
        test_fail(__FILE__, __LINE__, "%s of %s: error %g where values reach %g",
                  part == FIRE_DATA ? "data" : "diff", name, error, largest);
}

/* A lean net keeps what comes out of it. */
static bool is_visible(const twins_t *t, int blob, fire_part_t part)
{
    bool out = false;

    for (int i = 0; i < t->fast->noutput; i++)
        out = out || t->fast->output[i] == blob;
    return !t->fast->ctx.lean ||
           (part == FIRE_DATA ? out : strcmp(t->fast->blob[blob].name, "in") == 0);
}

static void forward(const twins_t *t, int round, double tolerance)
{
    uint64_t what = (uint64_t)round;

    randomize(fire_net_find_blob(t->ref, "in"), FIRE_DATA, what);
    randomize(fire_net_find_blob(t->fast, "in"), FIRE_DATA, what);
    CHECK_OK(fire_net_forward(t->ref, 0, -1, NULL));
    CHECK_OK(fire_net_forward(t->fast, 0, -1, NULL));
    for (int i = 0; i < t->ref->nblob; i++)
        if (is_visible(t, i, FIRE_DATA))
            same(t->ref->blob[i].name, t->ref->blob[i].blob, t->fast->blob[i].blob,
                 FIRE_DATA, tolerance);
}

/* Gradients of parameters add up over rounds, those of blobs do not. */
static void backward(const twins_t *t, int round, double tolerance)
{
    for (int i = 0; i < t->ref->noutput; i++) {
        uint64_t what = (uint64_t)(100 + 10 * round + i);

        randomize(t->ref->blob[t->ref->output[i]].blob, FIRE_DIFF, what);
        randomize(t->fast->blob[t->fast->output[i]].blob, FIRE_DIFF, what);
    }
    CHECK_OK(fire_net_backward(t->ref, -1, 0));
    CHECK_OK(fire_net_backward(t->fast, -1, 0));
    for (int i = 0; i < t->ref->nblob; i++)
        if (t->ref->blob[i].need_backward && is_visible(t, i, FIRE_DIFF))
            same(t->ref->blob[i].name, t->ref->blob[i].blob, t->fast->blob[i].blob,
                 FIRE_DIFF, tolerance);
    for (int i = 0; i < t->ref->nparam; i++) {
        fire_param_t *a = &t->ref->learn[i], *b = &t->fast->learn[i];

        same(t->ref->layer[a->layer].base.param->name, a->blob, b->blob, FIRE_DATA,
             tolerance);
        same(t->ref->layer[a->layer].base.param->name, a->blob, b->blob, FIRE_DIFF,
             tolerance);
    }
}

void twins_agree(twins_t *t, double tolerance)
{
    CHECK_OK(fire_net_clear_diffs(t->ref));
    CHECK_OK(fire_net_clear_diffs(t->fast));
    for (int round = 0; round < 2; round++) {
        forward(t, round, tolerance);
        if (!t->fast->ctx.inference) backward(t, round, tolerance);
    }
}

void twins_check(const char *in, const char *layers, const char *kernel,
                 double tolerance)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t   = twins_make(in, layers, CAFFE__PHASE__TRAIN, &ctx);

    twins_kernel_is(&t, "it", kernel);
    twins_agree(&t, tolerance);
    twins_end(&t);
}
