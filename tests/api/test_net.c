/* Nets by the public headers alone. Tests src/api/. */
#include <fire/fire.h>
#include <stdlib.h>
#include "test.h"

static const char text[] =
    "name: 'small' "
    "layer { name: 'in' type: 'Input' top: 'x' top: 't' input_param { "
    "  shape { dim: 2 dim: 3 } shape { dim: 2 dim: 2 } } } "
    "layer { name: 'hidden' type: 'InnerProduct' bottom: 'x' top: 'hidden' "
    "  param { name: 'w' } inner_product_param { num_output: 4 bias_term: false "
    "  weight_filler { value: 0.5 } } } "
    "layer { name: 'relu' type: 'ReLU' bottom: 'hidden' top: 'relu' } "
    "layer { name: 'last' type: 'InnerProduct' bottom: 'relu' top: 'last' "
    "  inner_product_param { num_output: 2 weight_filler { value: 0.25 } "
    "  bias_filler { value: 1 } } } "
    "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'last' bottom: 't' top: 'loss' "
    "  include { phase: TRAIN stage: 'learn' min_level: 1 } }";

/* NULL config: the default. */
static fire_net_t *make(const fire_net_config_t *config)
{
    fire_net_t *net;

    CHECK_OK(fire_net_from_text(text, strlen(text), config, &net));
    return net;
}

static const char *const stages[] = {"learn"};

static fire_net_config_t training(void)
{
    fire_net_config_t c = FIRE_NET_CONFIG_INIT;

    c.phase  = FIRE_TRAIN;
    c.level  = 1;
    c.nstage = 1;
    c.stage  = stages;
    return c;
}

static void set(fire_blob_t *b, float value)
{
    float *x;

    CHECK_OK(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &x));
    for (int64_t i = 0; i < fire_blob_count(b); i++)
        x[i] = value;
}

static float first_of(fire_blob_t *b, fire_part_t part)
{
    const float *x;

    CHECK_OK(fire_blob_read(b, part, FIRE_CPU, &x));
    return x[0];
}

TEST(headers_and_library_have_one_version)
{
    char version[32];

    snprintf(version, sizeof(version), "%d.%d.%d", FIRE_VERSION_MAJOR,
             FIRE_VERSION_MINOR, FIRE_VERSION_PATCH);
    CHECK(strcmp(version, fire_version()) == 0);
}

TEST(blobs_tell_their_shape)
{
    const int64_t dim[] = {2, 3, 4};
    fire_blob_t  *a, *b;
    char          buf[FIRE_SHAPE_TEXT];
    float        *x;
    int           axis;

    CHECK_OK(fire_blob_create(&a));
    CHECK_OK(fire_blob_create(&b));
    CHECK_OK(fire_blob_reshape(a, 3, dim));
    CHECK(!fire_blob_same_shape(a, b));
    CHECK_OK(fire_blob_reshape_like(b, a));
    CHECK(fire_blob_same_shape(a, b));
    CHECK_EQ(fire_blob_ndim(b), 3);
    CHECK_EQ(fire_blob_dims(b)[1], 3);
    CHECK_EQ(fire_blob_count_range(b, 1, 3), 12);
    CHECK(strcmp(fire_blob_shape_string(b, buf, sizeof(buf)), "2 3 4 (24)") == 0);
    CHECK_OK(fire_blob_axis(b, -1, "test", &axis));
    CHECK_EQ(axis, 2);
    CHECK(fire_blob_axis(b, 3, "test", &axis) == FIRE_ERR_INVALID);
    CHECK(strstr(fire_last_error(), "test") != NULL);
    CHECK_OK(fire_blob_update(b, FIRE_DATA, FIRE_CPU, &x));
    CHECK_NEAR(x[23], 0, 0);
    fire_blob_destroy(a);
    fire_blob_destroy(b);
}

TEST(a_net_tells_its_layers_blobs_and_parameters)
{
    fire_net_t *net  = make(NULL);
    int         last = fire_net_layer_number(net, "last");

    CHECK(strcmp(fire_net_name(net), "small") == 0);
    CHECK_EQ(fire_net_nlayer(net), 4);
    CHECK_EQ(last, 3);
    CHECK_EQ(fire_net_layer_number(net, "loss"), -1);
    CHECK(strcmp(fire_net_layer_name(net, last), "last") == 0);
    CHECK(strcmp(fire_net_layer_type(net, last), "InnerProduct") == 0);
    CHECK_EQ(fire_net_layer_nbottom(net, last), 1);
    CHECK_EQ(fire_net_layer_ntop(net, last), 1);
    CHECK(strcmp(fire_net_blob_name(net, fire_net_layer_bottom(net, last, 0)),
                 "relu") == 0);
    CHECK(fire_net_blob(net, fire_net_layer_top(net, last, 0)) ==
          fire_net_find_blob(net, "last"));
    CHECK(fire_net_find_blob(net, "no") == NULL);
    CHECK_EQ(fire_net_nblob(net), 5);
    CHECK_EQ(fire_net_noutput(net), 2);
    CHECK(strcmp(fire_net_blob_name(net, fire_net_output(net, 0)), "last") == 0);
    CHECK_EQ(fire_net_layer_nparam(net, last), 2);
    CHECK_EQ(fire_net_nparam(net), 3);
    CHECK_EQ(fire_net_param_layer(net, 2), last);
    CHECK_EQ(fire_net_param_index(net, 2), 1);
    CHECK(fire_net_param_blob(net, 2) == fire_net_layer_param(net, last, 1));
    CHECK(strcmp(fire_net_param_name(net, 0), "w") == 0);
    CHECK(fire_net_find_param(net, "w") == fire_net_param_blob(net, 0));
    CHECK(fire_net_find_param(net, "") == NULL);
    fire_net_destroy(net);
    fire_net_destroy(NULL);
}

TEST(phase_level_and_stages_choose_layers)
{
    fire_net_config_t c   = training();
    fire_net_t       *net = make(&c);

    CHECK(fire_net_layer_number(net, "loss") >= 0);
    fire_net_destroy(net);
    c.level = 0;
    net     = make(&c);
    CHECK_EQ(fire_net_layer_number(net, "loss"), -1);
    fire_net_destroy(net);
}

/* Counts calls; fails at layer `fail_at`. */
typedef struct counter {
    int calls[4], fail_at;
} counter_t;

static fire_status_t before_forward(void *arg, int layer)
{
    counter_t *c = arg;

    c->calls[0]++;
    return layer == c->fail_at ? FIRE_ERR_STOPPED : FIRE_OK;
}

static fire_status_t after_forward(void *arg, int layer)
{
    (void)layer;
    ((counter_t *)arg)->calls[1]++;
    return FIRE_OK;
}

static fire_status_t before_backward(void *arg, int layer)
{
    (void)layer;
    ((counter_t *)arg)->calls[2]++;
    return FIRE_OK;
}

static fire_status_t after_backward(void *arg, int layer)
{
    (void)layer;
    ((counter_t *)arg)->calls[3]++;
    return FIRE_OK;
}

TEST(an_observed_net_runs_in_pieces_and_keeps_every_value)
{
    fire_net_config_t c     = training();
    fire_net_t       *net   = make(&c);
    counter_t         n     = {.fail_at = -1};
    fire_net_hooks_t  hooks = {&n, before_forward, after_forward, before_backward,
                               after_backward};
    float             loss;

    set(fire_net_find_blob(net, "x"), 1);
    set(fire_net_find_blob(net, "t"), 0);
    fire_net_set_watch(net, &hooks);
    CHECK_OK(fire_net_forward(net, 0, 1, NULL));
    CHECK_NEAR(first_of(fire_net_find_blob(net, "hidden"), FIRE_DATA), 1.5, 0);
    CHECK_OK(fire_net_forward(net, 2, -1, &loss));
    CHECK_NEAR(first_of(fire_net_find_blob(net, "hidden"), FIRE_DATA), 1.5, 0);
    CHECK_NEAR(first_of(fire_net_find_blob(net, "last"), FIRE_DATA), 2.5, 0);
    CHECK_NEAR(loss, 6.25, 0);
    CHECK_OK(fire_net_backward(net, -1, 0));
    CHECK_NEAR(first_of(fire_net_param_blob(net, 2), FIRE_DIFF), 2.5, 0);
    CHECK_OK(fire_net_clear_diffs(net));
    CHECK_NEAR(first_of(fire_net_param_blob(net, 2), FIRE_DIFF), 0, 0);
    CHECK(n.calls[0] == 5 && n.calls[1] == 5 && n.calls[2] == n.calls[3]);
    CHECK(n.calls[2] >= 3);
    n.fail_at = 2;
    CHECK(fire_net_forward(net, 0, -1, NULL) == FIRE_ERR_STOPPED);
    CHECK(fire_net_forward(net, 0, 5, NULL) == FIRE_ERR_INVALID);
    CHECK(fire_net_backward(net, 5, 0) == FIRE_ERR_INVALID);
    fire_net_destroy(net);
}

TEST(a_net_is_drawn_into_a_file)
{
    fire_net_t *net = make(NULL);
    char        path[1024], head[32] = "";
    FILE       *file;

    snprintf(path, sizeof(path), "%s/net.svg", test_tmpdir());
    CHECK_OK(fire_net_draw(net, path));
    file = fopen(path, "r");
    CHECK(file != NULL && fread(head, 1, 4, file) == 4);
    fclose(file);
    CHECK(strncmp(head, "<svg", 4) == 0 || strncmp(head, "<?xm", 4) == 0);
    CHECK(fire_net_draw(net, "net.bmp") == FIRE_ERR_INVALID);
    CHECK(fire_net_draw(net, "/no/such/folder/net.svg") < 0);
    fire_net_destroy(net);
}

TEST(an_observed_net_shows_values_before_an_activation)
{
    fire_net_t *net = make(NULL);

    set(fire_net_find_blob(net, "x"), -1);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_NEAR(first_of(fire_net_find_blob(net, "hidden"), FIRE_DATA), -1.5, 0);
    CHECK_NEAR(first_of(fire_net_find_blob(net, "relu"), FIRE_DATA), 0, 0);
    CHECK_NEAR(first_of(fire_net_find_blob(net, "last"), FIRE_DATA), 1, 0);
    fire_net_destroy(net);
}

/* What a hook sees of the blob "x" after each layer. */
typedef struct seen {
    fire_net_t *net;
    float       after[3];
} seen_t;

static fire_status_t look(void *arg, int layer)
{
    seen_t *s = arg;

    s->after[layer] = first_of(fire_net_find_blob(s->net, "x"), FIRE_DATA);
    return FIRE_OK;
}

TEST(a_hook_of_an_observed_net_sees_each_step_of_layers_in_place)
{
    static const char in_place[] =
        "layer { name: 'in' type: 'Input' top: 'x' input_param { "
        "  shape { dim: 2 dim: 16 dim: 4 dim: 4 } } } "
        "layer { name: 'norm' type: 'BatchNorm' bottom: 'x' top: 'x' } "
        "layer { name: 'relu' type: 'ReLU' bottom: 'x' top: 'x' }";
    fire_net_t      *net;
    seen_t           seen  = {0};
    fire_net_hooks_t hooks = {&seen, NULL, look, NULL, NULL};

    CHECK_OK(fire_net_from_text(in_place, strlen(in_place), NULL, &net));
    seen.net = net;
    fire_net_set_watch(net, &hooks);
    set(fire_net_find_blob(net, "x"), -1);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_NEAR(seen.after[0], -1, 0);
    CHECK(seen.after[1] < -1);
    CHECK_NEAR(seen.after[2], 0, 0);
    fire_net_destroy(net);
}

TEST(a_lean_net_computes_the_same_outputs_and_has_no_backward)
{
    fire_net_config_t c = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net;

    c.mode = FIRE_LEAN;
    net    = make(&c);
    set(fire_net_find_blob(net, "x"), 1);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_NEAR(first_of(fire_net_find_blob(net, "last"), FIRE_DATA), 2.5, 0);
    CHECK(fire_net_backward(net, -1, 0) == FIRE_ERR_UNSUPPORTED);
    fire_net_destroy(net);
}

TEST(a_reshaped_input_reshapes_the_net)
{
    const int64_t dim[] = {7, 3};
    fire_net_t   *net   = make(NULL);

    CHECK_OK(fire_blob_reshape(fire_net_find_blob(net, "x"), 2, dim));
    CHECK_OK(fire_net_reshape(net));
    CHECK_EQ(fire_blob_dims(fire_net_find_blob(net, "last"))[0], 7);
    fire_net_destroy(net);
}

static void count_messages(void *arg, fire_log_level_t level, const char *file,
                           int line, const char *message)
{
    (void)file, (void)line;
    if (level == FIRE_INFO && strstr(message, "Ignoring source layer loss") != NULL)
        ++*(int *)arg;
}

TEST(weights_go_through_files_to_nets_of_other_phases)
{
    fire_net_config_t c    = training();
    fire_net_t       *from = make(&c), *to = make(NULL);
    int               ignored = 0;

    set(fire_net_param_blob(from, 0), 42);
    CHECK_OK(fire_net_save_file(from, test_path("w.caffemodel"), false));
    fire_log_set_sink(count_messages, &ignored, FIRE_INFO);
    CHECK_OK(fire_net_load_file(to, test_path("w.caffemodel")));
    fire_log_set_sink(NULL, NULL, FIRE_ERROR);
    CHECK_EQ(ignored, 1);
    CHECK_NEAR(first_of(fire_net_param_blob(to, 0), FIRE_DATA), 42, 0);
    set(fire_net_param_blob(to, 0), 0);
    if (fire_net_save_file(from, test_path("w.h5"), true) == FIRE_OK) {
        CHECK_OK(fire_net_load_file(to, test_path("w.h5")));
        CHECK_NEAR(first_of(fire_net_param_blob(to, 0), FIRE_DATA), 42, 0);
    }
    CHECK(fire_net_load_file(to, test_path("none.caffemodel")) == FIRE_ERR_IO);
    fire_net_destroy(from);
    fire_net_destroy(to);
}

TEST(shared_parameters_are_the_same_memory)
{
    fire_net_t *a = make(NULL), *b = make(NULL);

    CHECK_OK(fire_net_share(b, a));
    set(fire_net_param_blob(a, 0), 7);
    CHECK_NEAR(first_of(fire_net_param_blob(b, 0), FIRE_DATA), 7, 0);
    fire_net_destroy(a);
    CHECK_NEAR(first_of(fire_net_param_blob(b, 0), FIRE_DATA), 7, 0);
    fire_net_destroy(b);
}

TEST(a_net_comes_from_a_file_or_a_message_with_weights)
{
    fire_net_t *net = make(NULL), *other;
    static char bytes[65536];
    size_t      n;
    FILE       *f;

    set(fire_net_param_blob(net, 0), 5);
    CHECK_OK(fire_net_save_file(net, test_path("m.caffemodel"), false));
    f = fopen(test_path("m.caffemodel"), "rb");
    CHECK(f != NULL);
    n = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    CHECK_OK(fire_net_from_message(bytes, n, NULL, &other));
    CHECK_NEAR(first_of(fire_net_param_blob(other, 0), FIRE_DATA), 5, 0);
    fire_net_destroy(other);
    fire_net_destroy(net);

    f = fopen(test_path("net.prototxt"), "w");
    CHECK(f != NULL);
    fputs(text, f);
    fclose(f);
    CHECK_OK(fire_net_from_file(test_path("net.prototxt"), NULL, &net));
    CHECK_EQ(fire_net_nlayer(net), 4);
    fire_net_destroy(net);
}

TEST(what_is_no_net_is_refused_with_a_message)
{
    fire_net_config_t c   = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net = NULL;

    CHECK(fire_net_from_text("layer {", 7, NULL, &net) == FIRE_ERR_PARSE);
    CHECK(strstr(fire_last_error(), "text of a net:1") != NULL);
    CHECK(fire_net_from_message("\xff", 1, NULL, &net) == FIRE_ERR_PARSE);
    CHECK(fire_net_from_file(test_path("none.prototxt"), NULL, &net) == FIRE_ERR_IO);
    CHECK(strcmp(fire_status_string(FIRE_ERR_IO), "input/output error") == 0);
    c.size = 0;
    CHECK(fire_net_from_text(text, strlen(text), &c, &net) == FIRE_ERR_INVALID);
    CHECK(net == NULL);
}

TEST(a_config_of_another_version_works_if_it_asks_nothing_unknown)
{
    struct {
        fire_net_config_t config;
        char              later[16];
    } newer                 = {FIRE_NET_CONFIG_INIT, {0}};
    fire_net_config_t older = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net;

    newer.config.size = sizeof(newer);
    CHECK_OK(fire_net_from_text(text, strlen(text), &newer.config, &net));
    fire_net_destroy(net);
    newer.later[3] = 1;
    CHECK(fire_net_from_text(text, strlen(text), &newer.config, &net) ==
          FIRE_ERR_INVALID);
    older.size    = offsetof(fire_net_config_t, threads);
    older.threads = -1; /* beyond its size: not read */
    CHECK_OK(fire_net_from_text(text, strlen(text), &older, &net));
    fire_net_destroy(net);
}
