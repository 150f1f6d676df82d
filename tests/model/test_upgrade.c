/* Nets and solvers of old formats become those of today. */
#include "model/upgrade.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/log.h"
#include "model/text.h"
#include "test.h"

static char logged[4096];

static void keep_log(void *arg, fire_log_level_t level, const char *file, int line,
                     const char *message)
{
    size_t n = strlen(logged);

    (void)arg, (void)level, (void)file, (void)line;
    snprintf(logged + n, sizeof(logged) - n, "%s\n", message);
}

static void *parse(const ProtobufCMessageDescriptor *desc, const char *text)
{
    ProtobufCMessage *msg;

    CHECK_OK(fire_text_parse(text, strlen(text), "t", desc, &msg));
    return msg;
}

static Caffe__NetParameter *net_of(const char *text)
{
    return parse(&caffe__net_parameter__descriptor, text);
}

/* The old net becomes the new one, and the log says `note`. */
static void check_upgrade(const char *old, const char *new, const char *note)
{
    Caffe__NetParameter *net = net_of(old), *want = net_of(new);
    fire_str_t           got = {0}, wanted = {0};

    logged[0] = '\0';
    fire_log_set_sink(keep_log, NULL, FIRE_INFO);
    CHECK_OK(fire_net_param_upgrade(net, "old.prototxt"));
    CHECK_OK(fire_text_print(net, &got));
    CHECK_OK(fire_text_print(want, &wanted));
    CHECK_STR(got.text, wanted.text);
    CHECK(fire_message_equal(net, want));
    if (strstr(logged, note) == NULL)
        test_fail(__FILE__, __LINE__, "log \"%s\" lacks \"%s\"", logged, note);
    if (note[0] == '\0') CHECK_STR(logged, "");
    fire_message_free(net);
    fire_message_free(want);
    fire_str_fini(&got);
    fire_str_fini(&wanted);
}

static void check_refused(const char *text, const char *message)
{
    Caffe__NetParameter *net = net_of(text);

    CHECK_FAILS(fire_net_param_upgrade(net, "old.prototxt"), FIRE_ERR_PARSE, message);
    fire_message_free(net);
}

TEST(a_present_day_net_is_left_alone)
{
    const char *net = "name: 'n' layer { name: 'd' type: 'Data' top: 'd' data_param { "
                      "source: 's' } transform_param { scale: 2 } } "
                      "layer { type: 'BatchNorm' }";

    check_upgrade(net, net, "");
}

TEST(v0_layers_become_layers_of_today)
{
    check_upgrade(
        "name: 'CaffeNet'\n"
        "layers { layer { name: 'data' type: 'data' source: 'lmdb' meanfile: 'm' "
        "  batchsize: 256 cropsize: 227 mirror: true scale: .5 rand_skip: 3 } "
        "  top: 'data' top: 'label' }\n"
        "layers { layer { name: 'conv1' type: 'conv' num_output: 96 kernelsize: 11 "
        "  stride: 4 group: 2 pad: 1 biasterm: false "
        "  weight_filler { type: 'gaussian' std: .01 } bias_filler { value: 1 } "
        "  blobs_lr: 1. blobs_lr: 2. weight_decay: 1. weight_decay: 0. } "
        "  bottom: 'data' top: 'conv1' }\n"
        "layers { layer { name: 'pool1' type: 'pool' pool: AVE kernelsize: 3 stride: 2 "
        "  pad: 1 } bottom: 'conv1' top: 'pool1' }\n"
        "layers { layer { name: 'norm1' type: 'lrn' local_size: 5 alpha: .0001 "
        "  beta: .75 k: 2 } bottom: 'pool1' top: 'norm1' }\n"
        "layers { layer { name: 'fc6' type: 'innerproduct' num_output: 4096 "
        "  biasterm: true weight_filler { value: 2 } bias_filler { value: 3 } } "
        "  bottom: 'norm1' top: 'fc6' }\n"
        "layers { layer { name: 'drop6' type: 'dropout' dropout_ratio: .4 } "
        "  bottom: 'fc6' top: 'fc6' }\n"
        "layers { layer { name: 'cat' type: 'concat' concat_dim: 0 } "
        "  bottom: 'fc6' top: 'cat' }\n"
        "layers { layer { name: 'loss' type: 'softmax_loss' } "
        "  bottom: 'cat' bottom: 'label' }",

        "name: 'CaffeNet'\n"
        "layer { name: 'data' type: 'Data' top: 'data' top: 'label' "
        "  data_param { source: 'lmdb' batch_size: 256 rand_skip: 3 } "
        "  transform_param { mean_file: 'm' crop_size: 227 mirror: true scale: .5 } }\n"
        "layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'conv1' "
        "  param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 decay_mult: 0 } "
        "  convolution_param { num_output: 96 kernel_size: 11 stride: 4 group: 2 pad: "
        "1 "
        "  bias_term: false weight_filler { type: 'gaussian' std: .01 } "
        "  bias_filler { value: 1 } } }\n"
        "layer { name: 'pool1' type: 'Pooling' bottom: 'conv1' top: 'pool1' "
        "  pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 } }\n"
        "layer { name: 'norm1' type: 'LRN' bottom: 'pool1' top: 'norm1' "
        "  lrn_param { local_size: 5 alpha: .0001 beta: .75 k: 2 } }\n"
        "layer { name: 'fc6' type: 'InnerProduct' bottom: 'norm1' top: 'fc6' "
        "  inner_product_param { num_output: 4096 bias_term: true "
        "  weight_filler { value: 2 } bias_filler { value: 3 } } }\n"
        "layer { name: 'drop6' type: 'Dropout' bottom: 'fc6' top: 'fc6' "
        "  dropout_param { dropout_ratio: .4 } }\n"
        "layer { name: 'cat' type: 'Concat' bottom: 'fc6' top: 'cat' "
        "  concat_param { concat_dim: 0 } }\n"
        "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'cat' bottom: 'label' }",
        "old.prototxt: upgraded from the deprecated V0LayerParameter");
}

TEST(v0_data_layers_of_every_kind_keep_their_settings)
{
    check_upgrade(
        "layers { layer { name: 'i' type: 'images' source: 'l' batchsize: 2 rand_skip: "
        "1 "
        "  shuffle_images: true new_height: 5 new_width: 6 meanfile: 'm' } top: 'x' }\n"
        "layers { layer { name: 'h' type: 'hdf5_data' source: 'h5' batchsize: 3 } top: "
        "  'y' }\n"
        "layers { layer { name: 'w' type: 'window_data' source: 'w' batchsize: 4 "
        "  det_fg_threshold: .1 det_bg_threshold: .2 det_fg_fraction: .3 "
        "  det_context_pad: 7 det_crop_mode: 'square' mirror: true } top: 'z' }\n"
        "layers { layer { name: 'o' type: 'hdf5_output' "
        "  hdf5_output_param { file_name: 'f' } } bottom: 'x' bottom: 'y' }\n"
        "layers { layer { name: 'g' type: 'infogain_loss' source: 'H' } bottom: 'x' "
        "  bottom: 'y' }",

        "layer { name: 'i' type: 'ImageData' top: 'x' image_data_param { source: 'l' "
        "  batch_size: 2 rand_skip: 1 shuffle: true new_height: 5 new_width: 6 } "
        "  transform_param { mean_file: 'm' } }\n"
        "layer { name: 'h' type: 'HDF5Data' top: 'y' "
        "  hdf5_data_param { source: 'h5' batch_size: 3 } }\n"
        "layer { name: 'w' type: 'WindowData' top: 'z' window_data_param { source: 'w' "
        "  batch_size: 4 fg_threshold: .1 bg_threshold: .2 fg_fraction: .3 "
        "  context_pad: 7 crop_mode: 'square' } transform_param { mirror: true } }\n"
        "layer { name: 'o' type: 'HDF5Output' bottom: 'x' bottom: 'y' "
        "  hdf5_output_param { file_name: 'f' } }\n"
        "layer { name: 'g' type: 'InfogainLoss' bottom: 'x' bottom: 'y' "
        "  infogain_loss_param { source: 'H' } }",
        "V0LayerParameter");
}

TEST(a_v0_padding_layer_is_folded_into_the_layer_behind_it)
{
    check_upgrade(
        "input: 'data' input_dim: [1, 3, 8, 8]\n"
        "layers { layer { name: 'pad1' type: 'padding' pad: 2 } bottom: 'data' top: "
        "'p' }\n"
        "layers { layer { name: 'conv1' type: 'conv' num_output: 4 kernelsize: 5 } "
        "  bottom: 'p' top: 'c' }\n"
        "layers { layer { name: 'pad2' type: 'padding' pad: 1 } bottom: 'c' top: 'q' "
        "}\n"
        "layers { layer { name: 'pool' type: 'pool' kernelsize: 3 } bottom: 'q' top: "
        "'o' "
        "}",

        "layer { name: 'input' type: 'Input' top: 'data' "
        "  input_param { shape { dim: [1, 3, 8, 8] } } }\n"
        "layer { name: 'conv1' type: 'Convolution' bottom: 'data' top: 'c' "
        "  convolution_param { num_output: 4 kernel_size: 5 pad: 2 } }\n"
        "layer { name: 'pool' type: 'Pooling' bottom: 'c' top: 'o' "
        "  pooling_param { kernel_size: 3 pad: 1 } }",
        "V0LayerParameter");
}

TEST(a_v0_padding_layer_elsewhere_is_refused)
{
    check_refused(
        "input: 'd' layers { layer { type: 'padding' pad: 1 } bottom: 'd' top: "
        "'p' } layers { layer { type: 'relu' } bottom: 'p' top: 'r' }",
        "before a conv or pool layer, not before \"\" of type \"relu\"");
    check_refused("input: 'd' layers { layer { name: 'p' type: 'padding' } bottom: 'd' "
                  "top: 'p' } layers { layer { name: 'n' } bottom: 'p' top: 'r' }",
                  "padding layer \"p\" can only stand before a conv or pool layer, not "
                  "before \"n\" of type \"\"");
    check_refused("layers { layer { name: 'c' type: 'conv' } bottom: 'q' top: 'r' }",
                  "layer \"c\" takes blob \"q\", which no layer before it makes");
    check_refused(
        "input: 'd' layers { layer { type: 'padding' } bottom: 'd' bottom: 'd' "
        "top: 'p' } layers { layer { type: 'conv' } bottom: 'p' top: 'c' }",
        "take one blob each");
}

TEST(a_v0_setting_that_its_type_does_not_have_is_named_and_left_out)
{
    check_upgrade(
        "layers { layer { name: 'r' type: 'relu' num_output: 3 } }",
        "layer { name: 'r' type: 'ReLU' }",
        "layer \"r\": a V0 layer of type \"relu\" has no setting \"num_output\"");
}

TEST(an_unknown_v0_type_is_refused)
{
    check_refused("layers { layer { name: 'x' type: 'magic' } }",
                  "layer \"x\" has the unknown V0 type \"magic\"");
    check_refused("layers { layer { } }", "unknown V0 type \"\"");
}

TEST(v1_layers_become_layers_of_today)
{
    check_upgrade(
        "layers { name: 'data' type: DATA top: 'data' top: 'label' include { phase: "
        "  TRAIN } data_param { source: 's' batch_size: 4 scale: .5 mean_file: 'm' "
        "  crop_size: 3 mirror: true backend: LMDB } }\n"
        "layers { name: 'c' type: CONVOLUTION bottom: 'data' top: 'c' blobs_lr: 1 "
        "  blobs_lr: 2 weight_decay: 1 weight_decay: 0 param: 'w' "
        "  blob_share_mode: PERMISSIVE convolution_param { num_output: 4 } "
        "  blobs { num: 1 channels: 1 height: 1 width: 2 data: [1, 2] } }\n"
        "layers { name: 'l' type: SOFTMAX_LOSS bottom: 'c' bottom: 'label' "
        "loss_weight: "
        "  .3 exclude { phase: TEST } }",

        "layer { name: 'data' type: 'Data' top: 'data' top: 'label' include { phase: "
        "  TRAIN } data_param { source: 's' batch_size: 4 backend: LMDB } "
        "  transform_param { scale: .5 mean_file: 'm' crop_size: 3 mirror: true } }\n"
        "layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c' "
        "  param { name: 'w' share_mode: PERMISSIVE lr_mult: 1 decay_mult: 1 } "
        "  param { lr_mult: 2 decay_mult: 0 } convolution_param { num_output: 4 } "
        "  blobs { num: 1 channels: 1 height: 1 width: 2 data: [1, 2] } }\n"
        "layer { name: 'l' type: 'SoftmaxWithLoss' bottom: 'c' bottom: 'label' "
        "  loss_weight: .3 exclude { phase: TEST } }",
        "old.prototxt: upgraded from the deprecated V1LayerParameter");
}

TEST(every_v1_type_has_a_name_of_today)
{
    const ProtobufCEnumDescriptor *types =
        &caffe__v1_layer_parameter__layer_type__descriptor;

    CHECK_EQ(types->n_values, 65);
    for (unsigned i = 0; i < types->n_values; i++) {
        Caffe__NetParameter     *net = net_of("");
        Caffe__V1LayerParameter *layer;

        CHECK_OK(fire_message_add_message(net, "layers", &layer));
        layer->has_type = 1;
        layer->type     = types->values[i].value;
        CHECK_OK(fire_net_param_upgrade(net, "f"));
        CHECK_EQ(net->layer[0]->type[0] == '\0', types->values[i].value == 0);
        fire_message_free(net);
    }
}

TEST(an_unknown_v1_type_is_refused)
{
    Caffe__NetParameter *net = net_of("layers { name: 'x' type: RELU }");

    net->layers[0]->type = (Caffe__V1LayerParameter__LayerType)77;
    CHECK_FAILS(fire_net_param_upgrade(net, "f"), FIRE_ERR_PARSE,
                "layer \"x\" has the unknown V1 type 77");
    fire_message_free(net);
}

TEST(image_and_window_data_give_their_transformation_away_too)
{
    check_upgrade(
        "layers { type: IMAGE_DATA image_data_param { source: 'a' scale: 2 } }\n"
        "layers { type: WINDOW_DATA window_data_param { crop_size: 5 } }",
        "layer { type: 'ImageData' image_data_param { source: 'a' } "
        "  transform_param { scale: 2 } }\n"
        "layer { type: 'WindowData' window_data_param { } "
        "  transform_param { crop_size: 5 } }",
        "V1LayerParameter");
}

TEST(layer_and_layers_in_one_net_are_refused)
{
    check_refused("layer { name: 'a' } layers { name: 'b' }",
                  "old.prototxt: the net has both `layer` and `layers`");
}

TEST(input_fields_become_an_input_layer_in_front)
{
    check_upgrade("input: 'a' input: 'b' input_dim: [1, 2, 3, 4, 5, 6, 7, 8] "
                  "layer { name: 'r' type: 'ReLU' }",
                  "layer { name: 'input' type: 'Input' top: 'a' top: 'b' input_param { "
                  "  shape { dim: [1, 2, 3, 4] } shape { dim: [5, 6, 7, 8] } } } "
                  "layer { name: 'r' type: 'ReLU' }",
                  "deprecated input fields");
    check_upgrade("input: 'a' input_shape { dim: [7, 9] }",
                  "layer { name: 'input' type: 'Input' top: 'a' "
                  "  input_param { shape { dim: [7, 9] } } }",
                  "deprecated input fields");
    check_upgrade("input: 'a' layer { name: 'x' }", "layer { name: 'x' }",
                  "input fields");
    check_refused("input: 'a' input_dim: [1, 2, 3]", "1 inputs, but 3 times input_dim");
    check_refused("input: 'a' input: 'b' input_shape { dim: 1 }",
                  "2 inputs, but 1 times input_shape");
}

TEST(the_three_params_of_batch_norm_are_frozen)
{
    check_upgrade(
        "layer { type: 'BatchNorm' param { lr_mult: 1 } param { } param { name: "
        "'x' } } layer { type: 'Scale' param {} param {} param {} }",
        "layer { type: 'BatchNorm' param { lr_mult: 0 decay_mult: 0 } param { "
        "  lr_mult: 0 decay_mult: 0 } param { name: 'x' lr_mult: 0 decay_mult: 0 "
        "  } } layer { type: 'Scale' param {} param {} param {} }",
        "BatchNorm params");
    check_upgrade("layer { type: 'BatchNorm' param { lr_mult: 1 } }",
                  "layer { type: 'BatchNorm' param { lr_mult: 1 } }", "");
}

static Caffe__SolverParameter *solver_of(const char *text)
{
    return parse(&caffe__solver_parameter__descriptor, text);
}

TEST(solver_type_becomes_type)
{
    static const char *const old[]  = {"SGD",     "NESTEROV", "ADAGRAD",
                                       "RMSPROP", "ADADELTA", "ADAM"},
                             *now[] = {"SGD",     "Nesterov", "AdaGrad",
                                       "RMSProp", "AdaDelta", "Adam"};

    for (int i = 0; i < 6; i++) {
        char                    text[64];
        Caffe__SolverParameter *s;

        snprintf(text, sizeof(text), "solver_type: %s", old[i]);
        s = solver_of(text);
        CHECK_OK(fire_solver_param_upgrade(s, "f"));
        CHECK_STR(s->type, now[i]);
        CHECK(!s->has_solver_type);
        fire_message_free(s);
    }
}

TEST(solver_settings_of_forks_become_ours)
{
    Caffe__SolverParameter *s =
        solver_of("base_lr: 0.5 larc: true larc_policy: 'clip' larc_eta: 0.01 "
                  "rampup_interval: 40 rampup_lr: 0.05");

    CHECK_OK(fire_solver_param_upgrade(s, "f"));
    CHECK_STR(s->fire->adapt, "larc");
    CHECK_NEAR(s->fire->adapt_eta, 0.01, 1e-9);
    CHECK_EQ(s->fire->warmup_iter, 40);
    CHECK_NEAR(s->fire->warmup_ratio, 0.1, 1e-7);
    fire_message_free(s);
    s = solver_of("base_lr: 0.5 warmup_iter: 10 warmup_start_lr: 0.25 larc: true");
    CHECK_OK(fire_solver_param_upgrade(s, "f"));
    CHECK_STR(s->fire->adapt, "lars");
    CHECK_EQ(s->fire->warmup_iter, 10);
    CHECK_NEAR(s->fire->warmup_ratio, 0.5, 1e-7);
    fire_message_free(s);
    s = solver_of("larc: true larc_policy: 'mean'");
    CHECK_FAILS(fire_solver_param_upgrade(s, "s.prototxt"), FIRE_ERR_INVALID,
                "s.prototxt: larc_policy is \"scale\" or \"clip\"");
    fire_message_free(s);
}

TEST(both_kinds_of_solver_type_are_refused)
{
    Caffe__SolverParameter *s = solver_of("type: 'SGD' solver_type: ADAM");

    CHECK_FAILS(fire_solver_param_upgrade(s, "s.prototxt"), FIRE_ERR_PARSE,
                "s.prototxt: both type and the old solver_type");
    fire_message_free(s);
}

TEST(nets_inside_of_a_solver_are_upgraded)
{
    Caffe__SolverParameter *s = solver_of("net_param { layers { type: RELU } } "
                                          "train_net_param { layers { type: TANH } }\n"
                                          "test_net_param { layers { type: LRN } }");

    CHECK_OK(fire_solver_param_upgrade(s, "f"));
    CHECK_STR(s->net_param->layer[0]->type, "ReLU");
    CHECK_STR(s->train_net_param->layer[0]->type, "TanH");
    CHECK_STR(s->test_net_param[0]->layer[0]->type, "LRN");
    fire_message_free(s);
}

TEST(every_failing_allocation_is_survived)
{
    for (int n = 1;; n++) {
        Caffe__NetParameter *net =
            net_of("input: 'd' input_dim: [1, 2, 3, 4] layers { layer { type: "
                   "'padding' pad: 1 } "
                   "bottom: 'd' top: 'p' } layers { layer { type: 'conv' name: 'c' "
                   "num_output: 2 "
                   "blobs_lr: 1 mirror: true } bottom: 'p' top: 'c' }");
        fire_status_t st;

        fire_alloc_fail_at(n);
        st = fire_net_param_upgrade(net, "f");
        fire_alloc_fail_at(0);
        fire_message_free(net);
        if (st == FIRE_OK) break;
        CHECK_EQ(st, FIRE_ERR_NOMEM);
    }
}
