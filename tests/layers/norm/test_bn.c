/* BN and CuDNNBatchNorm of several forks. The values were computed in double precision
 * from the definition. */
#include "layers/bench.h"
#include "net/net_state.h"

#define X FLOATS(0.5f, -1, 2, 1.5f, 0.25f, -0.75f, 1, 3, -2, 0, 0.5f, 1.25f)

static const char *const pspnet =
    "type: \"BN\" bn_param { momentum: 0.8 eps: 0.01 slope_filler { value: 1 } }";

static bench_t begin(const char *layer, const char *tops, Caffe__Phase phase)
{
    bench_t       b = bench("x:2x2x1x3", tops, layer, phase);
    fire_layer_t *l = fire_net_find_layer(b.net, "it");

    bench_fill(l->blob[0], FIRE_DATA, FLOATS(2, -0.5f));
    bench_fill(l->blob[1], FIRE_DATA, FLOATS(0.1f, 0.3f));
    bench_set(&b, "x", X);
    return b;
}

TEST(bn_normalises_scales_and_keeps_running_means)
{
    bench_t       b = begin(pspnet, "y", CAFFE__PHASE__TRAIN);
    fire_layer_t *l = fire_net_find_layer(b.net, "it");

    bench_forward(&b);
    bench_is(&b, "y",
             FLOATS(0.001758f, -1.766606f, 1.770122f, -0.383193f, 0.436639f, 1.092504f,
                    0.591212f, 2.949031f, -2.945516f, 0.600605f, 0.272672f, -0.219226f),
             2e-6);
    bench_compare(l->blob[2], FIRE_DATA, FLOATS(0.1166667f, 0.0916667f), 1e-6);
    bench_compare(l->blob[3], FIRE_DATA, FLOATS(0.5736111f, 0.1142361f), 1e-6);
    bench_forward(&b);
    bench_compare(l->blob[2], FIRE_DATA, FLOATS(0.21f, 0.165f), 1e-6);
    bench_compare(l->blob[3], FIRE_DATA, FLOATS(1.0325f, 0.205625f), 1e-6);
    bench_end(&b);
}

TEST(bn_defers_its_statistics_to_the_diff_when_lanes_share_them)
{
    bench_t       b = begin(pspnet, "y", CAFFE__PHASE__TRAIN);
    fire_layer_t *l = fire_net_find_layer(b.net, "it");

    b.net->moment.defer_stats = true;
    bench_forward(&b);
    bench_compare(l->blob[2], FIRE_DATA, FLOATS(0, 0), 0);
    bench_compare(l->blob[2], FIRE_DIFF, FLOATS(0.1166667f, 0.0916667f), 1e-6);
    bench_end(&b);
}

TEST(bn_tests_with_its_running_statistics)
{
    bench_t       b = begin(pspnet, "y", CAFFE__PHASE__TEST);
    fire_layer_t *l = fire_net_find_layer(b.net, "it");

    bench_fill(l->blob[2], FIRE_DATA, FLOATS(0.5f, -1));
    bench_fill(l->blob[3], FIRE_DATA, FLOATS(4, 0.25f));
    bench_forward(&b);
    bench_is(&b, "y",
             FLOATS(0.1f, -1.398129f, 1.598129f, -2.151452f, -0.925726f, 0.054855f,
                    0.599376f, 2.596881f, -2.396881f, -0.680581f, -1.170871f,
                    -1.906307f),
             2e-6);
    bench_end(&b);
}

TEST(bn_of_segnet_normalises_in_test_and_gives_its_statistics)
{
    bench_t b = begin("type: \"BN\" bn_param { scale_filler { value: 1 } }", "y m v",
                      CAFFE__PHASE__TEST);

    CHECK_EQ(fire_net_find_layer(b.net, "it")->nblob, 2);
    bench_forward(&b);
    bench_is(&b, "y",
             FLOATS(0.001586f, -1.769858f, 1.773031f, -0.389147f, 0.437829f, 1.099411f,
                    0.592068f, 2.953993f, -2.950821f, 0.603225f, 0.272434f, -0.223752f),
             2e-6);
    bench_shape_is(&b, "m", "1 2 1 1 (2)");
    bench_is(&b, "m", FLOATS(0.5833333f, 0.4583333f), 1e-6);
    bench_is(&b, "v", FLOATS(2.8680556f, 0.5711806f), 1e-6);
    bench_end(&b);
}

TEST(bn_of_segnet_for_inference_only_scales_and_shifts)
{
    bench_t b =
        begin("type: \"BN\" bn_param { bn_mode: INFERENCE }", "y", CAFFE__PHASE__TRAIN);

    bench_forward(&b);
    bench_is(&b, "y",
             FLOATS(1.1f, -1.9f, 4.1f, -0.45f, 0.175f, 0.675f, 2.1f, 6.1f, -3.9f, 0.3f,
                    0.05f, -0.325f),
             1e-6);
    bench_end(&b);
}

/* What a parameter's lr_mult and decay_mult have become. */
static void rates_are(const char *layer, const float *want)
{
    bench_t b = bench("x:2x2", "y", layer, CAFFE__PHASE__TRAIN);

    CHECK_EQ(b.net->nparam, 4);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(b.net->learn[i].lr_mult, want[i], 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(b.net->learn[i].kind == FIRE_PARAM_STATISTIC, i >= 2);
    bench_end(&b);
}

TEST(bn_learns_gain_and_shift_whatever_lr_mult_says_of_statistics)
{
    rates_are(
        "type: \"BN\" param { lr_mult: 2 } param { lr_mult: 3 } param { lr_mult: 1 } "
        "param { lr_mult: 1 }",
        (float[]){2, 3, 0, 0});
    rates_are("type: \"CuDNNBatchNorm\"", (float[]){1, 1, 0, 0});
}

TEST(bn_learns_nothing_when_it_is_frozen)
{
    bench_t       b;
    fire_layer_t *l;

    rates_are("type: \"BN\" bn_param { frozen: true } param { lr_mult: 2 }",
              (float[]){0, 0, 0, 0});
    b = bench("x:2x2", "y",
              "type: \"BN\" bn_param { frozen: true slope_filler { value: 1 } "
              "eps: 0 }",
              CAFFE__PHASE__TRAIN);
    l = fire_net_find_layer(b.net, "it");
    bench_set(&b, "x", FLOATS(1, 2, 3, 4));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 2, 3, 4), 0); /* mean 0, variance 1 */
    bench_compare(l->blob[2], FIRE_DATA, FLOATS(0, 0), 0);
    bench_compare(l->blob[3], FIRE_DATA, FLOATS(1, 1), 0);
    bench_end(&b);
}

TEST(bn_takes_weights_whatever_ones_surround_the_channels)
{
    static const char *const shape[] = {"dim: 2", "dim: 1 dim: 2",
                                        "dim: 1 dim: 2 dim: 1 dim: 1"};
    static const char *const wrong   = "dim: 3";
    bench_t b = bench("x:2x2", "y", "type: \"BN\"", CAFFE__PHASE__TEST);

    for (int i = 0; i <= 3; i++) {
        char              text[512], blob[160];
        ProtobufCMessage *net;

        snprintf(blob, sizeof(blob), "blobs { shape { %s } data: %d data: 2 %s }",
                 i < 3 ? shape[i] : wrong, i, i < 3 ? "" : "data: 3");
        snprintf(text, sizeof(text), "layer { name: \"it\" type: \"BN\" %s %s %s %s }",
                 blob, blob, blob, blob);
        CHECK_OK(fire_text_parse(text, strlen(text), "bn.prototxt",
                                 &caffe__net_parameter__descriptor, &net));
        if (i < 3) {
            CHECK_OK(fire_net_load(b.net, (Caffe__NetParameter *)net, "bn.caffemodel"));
            bench_compare(fire_net_find_layer(b.net, "it")->blob[3], FIRE_DATA,
                          FLOATS((float)i, 2), 0);
        } else {
            CHECK_FAILS(
                fire_net_load(b.net, (Caffe__NetParameter *)net, "bn.caffemodel"),
                FIRE_ERR_INVALID, "3");
        }
        fire_message_free(net);
    }
    bench_end(&b);
}

/* Mean 2.5, variance 1.25. */
TEST(cudnn_batch_norm_normalises_with_the_batch)
{
    bench_t b =
        bench("x:2x1x1x2", "y", "type: \"CuDNNBatchNorm\"", CAFFE__PHASE__TRAIN);
    fire_layer_t *l = fire_net_find_layer(b.net, "it");

    bench_fill(l->blob[0], FIRE_DATA, FLOATS(2));
    bench_fill(l->blob[1], FIRE_DATA, FLOATS(1));
    bench_set(&b, "x", FLOATS(1, 2, 3, 4));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(-1.6832708f, 0.1055764f, 1.8944236f, 3.6832708f), 2e-6);
    bench_end(&b);
}
