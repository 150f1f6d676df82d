/* Python layers of a host, which here is written in C: who is called when, with what.
 * Tests src/layers/python/python_layer.c, src/layers/access.c and src/api/layers.c. */
#include <fire/fire.h>
#include <stdlib.h>
#include "test.h"

/* y = factor x; the factor is a parameter of the layer. */
typedef struct object {
    int  calls[4]; /* setup, reshape, forward, backward */
    char settings[32];
} object_t;

typedef struct host {
    int         created, destroyed;
    const char *fail; /* name of the function to fail in, or NULL */
} host_t;

static fire_status_t fail_in(const host_t *h, const char *name)
{
    if (h->fail == NULL || strcmp(h->fail, name) != 0) return FIRE_OK;
    return fire_fail(FIRE_ERR_INVALID, "ZeroDivisionError in %s", name);
}

static float *values(fire_blob_t *b, fire_part_t part)
{
    float *x;

    CHECK_OK(fire_blob_update(b, part, FIRE_CPU, &x));
    return x;
}

static fire_status_t create(void *arg, fire_layer_t *l, const char *module,
                            const char *name, const char *param_str, void **object_p)
{
    host_t       *h  = arg;
    fire_status_t st = fail_in(h, "create");
    object_t     *o;

    if (st < 0) return st;
    CHECK(strcmp(module, "layers") == 0 && strcmp(name, "Times") == 0);
    CHECK(strcmp(fire_layer_name(l), "p") == 0);
    CHECK(strcmp(fire_layer_type(l), "Python") == 0);
    CHECK(fire_layer_phase(l) == FIRE_TRAIN);
    o = calloc(1, sizeof(*o));
    CHECK(o != NULL);
    snprintf(o->settings, sizeof(o->settings), "%s", param_str);
    h->created++;
    *object_p = o;
    return FIRE_OK;
}

static fire_status_t setup(void *arg, void *object, fire_layer_t *l)
{
    const int64_t one = 1;
    object_t     *o   = object;

    o->calls[0]++;
    CHECK_OK(fire_python_add_param(l, 1, &one));
    CHECK_EQ(fire_layer_nparam(l), 1);
    values(fire_layer_param(l, 0), FIRE_DATA)[0] = (float)atof(o->settings);
    return fail_in(arg, "setup");
}

static fire_status_t reshape(void *arg, void *object, fire_layer_t *l)
{
    ((object_t *)object)->calls[1]++;
    CHECK_EQ(fire_layer_nbottom(l), 1);
    CHECK_EQ(fire_layer_ntop(l), 1);
    CHECK_OK(fire_blob_reshape_like(fire_layer_top(l, 0), fire_layer_bottom(l, 0)));
    return fail_in(arg, "reshape");
}

static fire_status_t forward(void *arg, void *object, fire_layer_t *l)
{
    const float *x = values(fire_layer_bottom(l, 0), FIRE_DATA);
    float       *y = values(fire_layer_top(l, 0), FIRE_DATA);

    fire_samples_t s[2];

    fire_python_samples(l, 8, 2, s); /* the passes count from 0 */
    CHECK_EQ(s[0].first, 8 * ((object_t *)object)->calls[2]++);
    CHECK(s[0].n == 8 && s[0].stride == 1 && s[1].first == s[0].first + 8);
    for (int64_t i = 0; i < fire_blob_count(fire_layer_top(l, 0)); i++)
        y[i] = values(fire_layer_param(l, 0), FIRE_DATA)[0] * x[i];
    return fail_in(arg, "forward");
}

static fire_status_t backward(void *arg, void *object, fire_layer_t *l)
{
    const float *dy = values(fire_layer_top(l, 0), FIRE_DIFF);
    float       *dx = values(fire_layer_bottom(l, 0), FIRE_DIFF);

    ((object_t *)object)->calls[3]++;
    CHECK(fire_layer_wants_bottom(l, 0));
    CHECK(fire_layer_wants_param(l, 0));
    for (int64_t i = 0; i < fire_blob_count(fire_layer_top(l, 0)); i++) {
        dx[i] = values(fire_layer_param(l, 0), FIRE_DATA)[0] * dy[i];
        values(fire_layer_param(l, 0), FIRE_DIFF)[0] += dy[i];
    }
    return fail_in(arg, "backward");
}

static void destroy(void *arg, void *object)
{
    ((host_t *)arg)->destroyed++;
    free(object);
}

static const char text[] =
    "force_backward: true "
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 3 } } } "
    "layer { name: 'p' type: 'Python' bottom: 'x' top: 'y' python_param { "
    "  module: 'layers' layer: 'Times' param_str: '2.5' } } "
    "layer { name: 'sum' type: 'Reduction' bottom: 'y' top: 'sum' loss_weight: 1 }";

static fire_python_host_t host_of(host_t *h)
{
    return (fire_python_host_t){sizeof(fire_python_host_t),
                                h,
                                create,
                                setup,
                                reshape,
                                forward,
                                backward,
                                destroy};
}

static fire_status_t make(const fire_python_host_t *python, fire_net_t **net_p)
{
    fire_net_config_t c = FIRE_NET_CONFIG_INIT;

    c.phase  = FIRE_TRAIN;
    c.python = python;
    return fire_net_from_text(text, strlen(text), &c, net_p);
}

TEST(the_host_of_a_net_computes_its_python_layers)
{
    host_t             h      = {0};
    fire_python_host_t python = host_of(&h);
    const int64_t      five   = 5;
    fire_net_t        *net;
    object_t          *o;

    CHECK_OK(make(&python, &net));
    o = fire_net_python_object(net, 1);
    CHECK(o != NULL && fire_net_python_object(net, 0) == NULL);
    CHECK(strcmp(o->settings, "2.5") == 0);
    values(fire_net_find_blob(net, "x"), FIRE_DATA)[2] = 4;
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_NEAR(values(fire_net_find_blob(net, "sum"), FIRE_DATA)[0], 10, 0);
    CHECK_OK(fire_net_backward(net, -1, 0));
    CHECK_NEAR(values(fire_net_find_blob(net, "x"), FIRE_DIFF)[0], 2.5, 0);
    CHECK_NEAR(values(fire_net_param_blob(net, 0), FIRE_DIFF)[0], 3, 0);
    CHECK_OK(fire_blob_reshape(fire_net_find_blob(net, "x"), 1, &five));
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_EQ(fire_blob_count(fire_net_find_blob(net, "y")), 5);
    CHECK(o->calls[0] == 1 && o->calls[1] == 3 && o->calls[2] == 2 && o->calls[3] == 1);
    fire_net_destroy(net);
    CHECK(h.created == 1 && h.destroyed == 1);
}

TEST(a_failure_in_the_host_is_the_failure_of_the_call)
{
    static const char *const where[] = {"create", "setup", "reshape", "forward",
                                        "backward"};

    for (int i = 0; i < 5; i++) {
        host_t             h      = {.fail = where[i]};
        fire_python_host_t python = host_of(&h);
        fire_net_t        *net    = NULL;
        fire_status_t      st     = make(&python, &net);
        char               want[128];

        CHECK((st < 0) == (i < 3));
        if (st >= 0) st = fire_net_forward(net, 0, -1, NULL);
        if (st >= 0) st = fire_net_backward(net, -1, 0);
        CHECK(st == FIRE_ERR_INVALID);
        snprintf(want, sizeof(want), "layer \"p\" (Python): ZeroDivisionError in %s",
                 where[i]);
        CHECK(strstr(fire_last_error(), want) != NULL);
        fire_net_destroy(net);
        CHECK_EQ(h.created, h.destroyed);
    }
}

TEST(the_host_of_a_trainer_computes_the_python_layers_of_its_nets)
{
    static const char solver[] = "base_lr: 0.5 lr_policy: 'fixed' train_net_param {%s}";
    host_t            h        = {0};
    fire_python_host_t    python = host_of(&h);
    fire_trainer_config_t c      = FIRE_TRAINER_CONFIG_INIT;
    char                  all[1024];
    fire_trainer_t       *t;
    object_t             *o;

    c.python = &python;
    c.gpu    = FIRE_GPU_NONE;
    snprintf(all, sizeof(all), solver, text);
    CHECK_OK(fire_trainer_from_text(all, strlen(all), &c, &t));
    o = fire_net_python_object(fire_trainer_net(t), 1);
    CHECK(o != NULL);
    CHECK_OK(fire_trainer_step(t, 2));
    CHECK_EQ(o->calls[2], 2);
    /* each step subtracts 0.5 * 3 */
    CHECK_NEAR(values(fire_net_param_blob(fire_trainer_net(t), 0), FIRE_DATA)[0], -0.5,
               0);
    fire_trainer_destroy(t);
    CHECK(h.created == 1 && h.destroyed == 1);
}

TEST(a_host_without_its_size_is_refused)
{
    host_t             h      = {0};
    fire_python_host_t python = host_of(&h);
    fire_net_t        *net;

    python.size = 0;
    CHECK(make(&python, &net) == FIRE_ERR_INVALID);
    CHECK(strstr(fire_last_error(), "sizeof(fire_python_host_t)") != NULL);
}

TEST(layer_types_are_listed)
{
    int n = 0, found = 0;

    for (; fire_layer_type_at(n) != NULL; n++)
        found += strcmp(fire_layer_type_at(n), "Convolution") == 0;
    CHECK(n > 60 && found == 1);
    CHECK(fire_layer_type_at(-1) == NULL);
}
