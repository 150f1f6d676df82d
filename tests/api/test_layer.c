/* Layers of a plug-in (plugin/probe.c) by the public headers alone: its layers ask the
 * library for everything that <fire/layer.h> has, and fail where an answer is wrong.
 * Tests src/layers/plugin/. */
#include <fire/fire.h>
#include <fire/layer.h>
#include <stdlib.h>
#include <unistd.h>
#include "test.h"

#define PROBE FIRE_BUILD_DIR "/tests/plugins/probe.so"

#define LAYERS                                                                        \
    "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } " \
    "} }"                                                                             \
    "layer { name: 'probe' type: 'Probe' bottom: 'x' top: 'y'"                        \
    "  param { } param { } param { lr_mult: 0 }"                                      \
    "  pooling_param { kernel_size: 5 }"                                              \
    "  probe_param { size: 3 half: .5 fast: true mode: MAX at: [10, 20] at: 30.5"     \
    "    words: ['a', 'b'] window { width: 7 } }"                                     \
    "  plugin_param { weight_filler { type: 'constant' value: 2 } } }"

static fire_net_t *make(const char *text)
{
    fire_net_config_t config = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net;

    config.phase = FIRE_TRAIN;
    CHECK_OK(fire_plugin_load(PROBE));
    CHECK_OK(fire_net_from_text(text, strlen(text), &config, &net));
    return net;
}

static const float *values(fire_blob_t *b, fire_part_t part)
{
    const float *x;

    CHECK_OK(fire_blob_read(b, part, FIRE_CPU, &x));
    return x;
}

static void fill(fire_blob_t *b, fire_part_t part, float value)
{
    float *x;

    CHECK_OK(fire_blob_write(b, part, FIRE_CPU, &x));
    for (int64_t i = 0; i < fire_blob_count(b); i++)
        x[i] = value;
}

TEST(a_layer_of_a_plug_in_gets_what_it_asks_for)
{
    fire_net_t *net = make("force_backward: true " LAYERS);

    fill(fire_net_find_blob(net, "x"), FIRE_DATA, 3);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_NEAR(values(fire_net_find_blob(net, "y"), FIRE_DATA)[5], 6, 0);
    fill(fire_net_find_blob(net, "y"), FIRE_DIFF, 1);
    CHECK_OK(fire_net_backward(net, -1, 0));
    CHECK_NEAR(values(fire_net_find_blob(net, "x"), FIRE_DIFF)[0], 2, 0);
    fire_net_destroy(net);
}

TEST(a_layer_of_a_plug_in_computes_no_more_than_is_wanted)
{
    fire_net_t *net =
        make(LAYERS "layer { name: 'loss' type: 'ProbeLoss' bottom: 'y' }");
    float loss;

    fill(fire_net_find_blob(net, "x"), FIRE_DATA, 3);
    CHECK_OK(fire_net_forward(net, 0, -1, &loss));
    CHECK_NEAR(loss, 36, 0);
    fill(fire_net_find_blob(net, "x"), FIRE_DIFF, 77);
    CHECK_OK(fire_net_backward(net, -1, 0));
    CHECK_NEAR(values(fire_net_find_blob(net, "x"), FIRE_DIFF)[0], 77, 0);
    fire_net_destroy(net);
}

TEST(a_plug_in_can_be_listed)
{
    CHECK_EQ(fire_plugin_count(), 0);
    CHECK_OK(fire_plugin_load(PROBE));
    CHECK_OK(fire_plugin_load(PROBE));
    CHECK_EQ(fire_plugin_count(), 1);
    CHECK_STR(fire_plugin_at(0)->name, "probe");
    CHECK_STR(fire_plugin_at(0)->description, "asks the library everything");
    CHECK_STR(fire_plugin_path(0), PROBE);
}

static void keep_message(void *arg, fire_log_level_t level, const char *file, int line,
                         const char *message)
{
    (void)level, (void)file, (void)line;
    snprintf(arg, 256, "%s", message);
}

TEST(messages_of_a_layer_name_it)
{
    char message[256] = "";

    CHECK_OK(fire_plugin_load(PROBE));
    fire_log_set_sink(keep_message, message, FIRE_WARNING);
    fire_net_destroy(make(LAYERS));
    fire_log_set_sink(NULL, NULL, FIRE_ERROR);
    CHECK_STR(message, "layer \"probe\" (Probe): is set up with 3 parameters");
}

TEST(another_kernel_is_chosen_where_the_first_declines)
{
    const int64_t dim[] = {40, 3};
    fire_net_t   *net   = make(LAYERS);

    CHECK_OK(fire_blob_reshape(fire_net_find_blob(net, "x"), 2, dim));
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_EQ(fire_blob_count(fire_net_find_blob(net, "y")), 120);
    fire_net_destroy(net);
}

TEST(settings_are_kept_in_saved_nets)
{
    fire_net_config_t config = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net    = make(LAYERS), *copy;
    char             *path   = strdup(test_path("net.caffemodel"));
    FILE             *f;
    static char       bytes[1 << 16];
    size_t            n;

    CHECK_OK(fire_net_save_file(net, path, false));
    f = fopen(path, "rb");
    CHECK(f != NULL);
    n = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    fire_net_destroy(net);
    free(path);
    config.phase = FIRE_TRAIN;
    CHECK_OK(fire_net_from_message(bytes, n, &config, &copy));
    fill(fire_net_find_blob(copy, "x"), FIRE_DATA, 3);
    CHECK_OK(fire_net_forward(copy, 0, -1, NULL));
    fire_net_destroy(copy);
}

TEST(a_reason_is_kept_for_the_caller)
{
    CHECK_EQ(fire_fail(FIRE_ERR_IO, "disc %d is full", 3), FIRE_ERR_IO);
    CHECK_STR(fire_last_error(), "disc 3 is full");
}

/* ---- training ---- */

#define SOLVER                                                                     \
    "net_param { layer { name: 'data' type: 'ProbeData' top: 'x' }"                \
    "  layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'ip'"              \
    "    inner_product_param { num_output: 3 weight_filler { type: 'xavier' } } }" \
    "  layer { name: 'relu' type: 'TanH' bottom: 'ip' top: 'y' }"                  \
    "  layer { name: 'loss' type: 'ProbeLoss' bottom: 'y' } }"                     \
    "base_lr: 0.1 lr_policy: 'fixed' max_iter: 5 snapshot_after_train: false "     \
    "snapshot_prefix: '/nowhere' fire { lanes: 2 plugin: '" PROBE                  \
    "' } solver_mode: CPU"

static fire_status_t train(void *arg, fire_comm_t *comm)
{
    fire_trainer_config_t config = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_t       *t;
    fire_net_t           *net;

    config.comm = comm;
    CHECK_OK(fire_trainer_from_text(SOLVER, strlen(SOLVER), &config, &t));
    CHECK_OK(fire_trainer_step(t, 5));
    net = fire_trainer_net(t);
    if (comm == NULL || fire_comm_rank(comm) == 0)
        memcpy(arg, values(fire_net_param_blob(net, 0), FIRE_DATA), 6 * sizeof(float));
    fire_trainer_destroy(t);
    return FIRE_OK;
}

/* Its source brings each worker its share of the batch, and a solver names the file. */
TEST(a_source_and_a_loss_train_alike_on_one_and_two_workers)
{
    float alone[6], together[6];

    CHECK_OK(train(alone, NULL));
    CHECK_OK(fire_comm_run_threads(2, NULL, train, together));
    CHECK(memcmp(alone, together, sizeof(alone)) == 0);
    CHECK(alone[0] != 0);
}
