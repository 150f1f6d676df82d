/* bench.h - one layer on the bench: inputs given by a test, outputs to look at.
 *
 *     bench_t b = bench("a:2x3 b:2", "y", "type: \"Eltwise\"", CAFFE__PHASE__TEST);
 *     bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6));
 *     bench_forward(&b);
 *     bench_is(&b, "y", FLOATS(...), 1e-6);
 *     bench_end(&b);
 *
 * A top with the name of a bottom makes the layer work in place. */
#ifndef FIRE_TESTS_LAYERS_BENCH_H
#define FIRE_TESTS_LAYERS_BENCH_H
#include <stdlib.h>

#include "base/text/text.h"
#include "model/text.h"
#include "net/net.h"
#include "test.h"

typedef struct bench {
    fire_net_t *net;
    float       loss;
} bench_t;

typedef struct floats {
    int64_t      n;
    const float *x;
} floats_t;

#define FLOATS(...) \
    ((floats_t){sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__}})

/* "a:2x3" becomes an Input layer; returns the length of the name. */
static inline int bench_input(fire_str_t *text, const char *item, size_t n)
{
    int name = (int)strcspn(item, ":");

    CHECK_OK(fire_str_printf(text,
                             "layer { name: \"in_%.*s\" type: \"Input\" top: \"%.*s\" "
                             "input_param { shape {",
                             name, item, name, item));
    for (size_t i = (size_t)name; i < n; i += 1 + strcspn(item + i + 1, "x "))
        if (i + 1 < n) CHECK_OK(fire_str_printf(text, " dim: %d", atoi(item + i + 1)));
    CHECK_OK(fire_str_printf(text, " } } }\n"));
    return name;
}

static inline char *bench_text(const char *inputs, const char *tops, const char *layer)
{
    fire_str_t  text = {0}, bottoms = {0};
    const char *s;
    char       *whole;
    size_t      n;

    CHECK_OK(fire_str_printf(&text, "force_backward: true\n"));
    CHECK_OK(fire_str_printf(&bottoms, " "));
    for (s = inputs; *s != '\0'; s += n + (s[n] == ' ')) {
        n = strcspn(s, " ");
        CHECK_OK(fire_str_printf(&bottoms, "bottom: \"%.*s\" ",
                                 bench_input(&text, s, n), s));
    }
    CHECK_OK(fire_str_printf(&text, "layer { name: \"it\"%s%s", bottoms.text, layer));
    for (s = tops; *s != '\0'; s += n + (s[n] == ' ')) {
        n = strcspn(s, " ");
        CHECK_OK(fire_str_printf(&text, " top: \"%.*s\"", (int)n, s));
    }
    CHECK_OK(fire_str_printf(&text, " }\n"));
    fire_str_fini(&bottoms);
    CHECK_OK(fire_str_take(&text, &whole));
    return whole;
}

static inline fire_status_t bench_try(const char *inputs, const char *tops,
                                      const char *layer, Caffe__Phase phase,
                                      fire_net_t **net_p)
{
    char              *text = bench_text(inputs, tops, layer);
    fire_net_options_t o    = FIRE_NET_OPTIONS_INIT;
    ProtobufCMessage  *param;
    fire_status_t      st;

    o.phase = phase;
    CHECK_OK(fire_text_parse(text, strlen(text), "bench.prototxt",
                             &caffe__net_parameter__descriptor, &param));
    st = fire_net_create((Caffe__NetParameter *)param, &o, net_p);
    fire_message_free(param);
    fire_free(text);
    return st;
}

static inline bench_t bench(const char *inputs, const char *tops, const char *layer,
                            Caffe__Phase phase)
{
    bench_t b = {0};

    CHECK_OK(bench_try(inputs, tops, layer, phase, &b.net));
    return b;
}

/* The net cannot be built, and the message says why. */
#define BENCH_REFUSES(inputs, tops, layer, text)                                 \
    do {                                                                         \
        fire_net_t *refused_;                                                    \
        CHECK_FAILS(                                                             \
            bench_try((inputs), (tops), (layer), CAFFE__PHASE__TEST, &refused_), \
            FIRE_ERR_INVALID, (text));                                           \
    } while (0)

static inline fire_blob_t *bench_blob(const bench_t *b, const char *name)
{
    fire_blob_t *blob = fire_net_find_blob(b->net, name);

    CHECK(blob != NULL);
    return blob;
}

static inline void bench_fill(fire_blob_t *blob, fire_part_t part, floats_t v)
{
    float *x;

    CHECK_EQ(fire_blob_count(blob), v.n);
    CHECK_OK(fire_blob_write(blob, part, FIRE_CPU, &x));
    memcpy(x, v.x, (size_t)v.n * sizeof(*x));
}

static inline void bench_compare(fire_blob_t *blob, fire_part_t part, floats_t v,
                                 double tolerance)
{
    const float *x;

    CHECK_EQ(fire_blob_count(blob), v.n);
    CHECK_OK(fire_blob_read(blob, part, FIRE_CPU, &x));
    for (int64_t i = 0; i < v.n; i++)
        CHECK_NEAR(x[i], v.x[i], tolerance);
}

static inline void bench_set(bench_t *b, const char *name, floats_t v)
{
    bench_fill(bench_blob(b, name), FIRE_DATA, v);
}

static inline void bench_set_diff(bench_t *b, const char *name, floats_t v)
{
    bench_fill(bench_blob(b, name), FIRE_DIFF, v);
}

static inline void bench_is(bench_t *b, const char *name, floats_t v, double tolerance)
{
    bench_compare(bench_blob(b, name), FIRE_DATA, v, tolerance);
}

static inline void bench_diff_is(bench_t *b, const char *name, floats_t v,
                                 double tolerance)
{
    bench_compare(bench_blob(b, name), FIRE_DIFF, v, tolerance);
}

static inline void bench_shape_is(const bench_t *b, const char *name, const char *shape)
{
    char text[FIRE_SHAPE_TEXT];

    CHECK_STR(fire_blob_shape_string(bench_blob(b, name), text, sizeof(text)), shape);
}

static inline void bench_forward(bench_t *b)
{
    CHECK_OK(fire_net_forward(b->net, 0, -1, &b->loss));
}

static inline void bench_backward(bench_t *b)
{
    CHECK_OK(fire_net_backward(b->net, -1, 0));
}

static inline void bench_end(bench_t *b)
{
    fire_net_destroy(b->net);
}

/* y and dx of an element-wise layer for these x, all gradients of the top being 1;
 * once out of place and once in place, with the same results. */
static inline void bench_elementwise(const char *layer, floats_t x, floats_t y,
                                     floats_t dx, double tolerance)
{
    float    ones[32];
    char     input[16];
    floats_t top_diff = {x.n, ones};

    CHECK(x.n <= 32);
    for (int i = 0; i < 32; i++)
        ones[i] = 1.0f;
    snprintf(input, sizeof(input), "a:1x%d", (int)x.n);
    for (int in_place = 0; in_place < 2; in_place++) {
        const char *top = in_place ? "a" : "y";
        bench_t     b   = bench(input, top, layer, CAFFE__PHASE__TRAIN);

        bench_set(&b, "a", x);
        bench_forward(&b);
        bench_is(&b, top, y, tolerance);
        bench_set_diff(&b, top, top_diff);
        bench_backward(&b);
        bench_diff_is(&b, "a", dx, tolerance);
        bench_end(&b);
    }
}
#endif
