/* Dropout: masks as a function of seed, step and sample. */
#include "layers/bench.h"
#include "net/net_state.h"

enum { ROWS = 8, COLS = 250, COUNT = ROWS * COLS };

static bench_t dropout(const char *input, Caffe__Phase phase, float ratio)
{
    char layer[96];

    snprintf(layer, sizeof(layer),
             "type: \"Dropout\" dropout_param { dropout_ratio: %g }", (double)ratio);
    return bench(input, "y", layer, phase);
}

static const float *ones_through(bench_t *b)
{
    const float *y;

    CHECK_OK(fire_blob_set(bench_blob(b, "a"), FIRE_DATA, 1.0f));
    bench_forward(b);
    CHECK_OK(fire_blob_read(bench_blob(b, "y"), FIRE_DATA, FIRE_CPU, &y));
    return y;
}

TEST(dropout_drops_its_share_and_scales_the_rest)
{
    bench_t      b       = dropout("a:8x250", CAFFE__PHASE__TRAIN, 0.2f);
    const float *y       = ones_through(&b);
    int          dropped = 0;

    for (int i = 0; i < COUNT; i++) {
        CHECK(y[i] == 0.0f || y[i] == 1.25f);
        dropped += y[i] == 0.0f;
    }
    CHECK(dropped > 320 && dropped < 480); /* 400 expected, sigma 18 */
    bench_end(&b);
}

TEST(dropout_drops_at_test_if_it_samples_weights)
{
    bench_t      b       = bench("a:8x250", "y",
                                 "type: \"Dropout\" dropout_param { dropout_ratio: 0.2 "
                                            "sample_weights_test: true }",
                                 CAFFE__PHASE__TEST);
    const float *y       = ones_through(&b), *dx;
    int          dropped = 0;

    for (int i = 0; i < COUNT; i++)
        dropped += y[i] == 0.0f;
    CHECK(dropped > 320 && dropped < 480);
    CHECK_OK(fire_blob_set(bench_blob(&b, "y"), FIRE_DIFF, 1.0f));
    bench_backward(&b);
    CHECK_OK(fire_blob_read(bench_blob(&b, "a"), FIRE_DIFF, FIRE_CPU, &dx));
    CHECK(memcmp(dx, y, COUNT * sizeof(*dx)) == 0);
    bench_end(&b);
}

TEST(dropout_gradient_follows_the_mask_of_its_forward)
{
    bench_t      b = dropout("a:8x250", CAFFE__PHASE__TRAIN, 0.5f);
    const float *y = ones_through(&b), *dx;

    CHECK_OK(fire_blob_set(bench_blob(&b, "y"), FIRE_DIFF, 1.0f));
    bench_backward(&b);
    CHECK_OK(fire_blob_read(bench_blob(&b, "a"), FIRE_DIFF, FIRE_CPU, &dx));
    CHECK(memcmp(dx, y, COUNT * sizeof(*dx)) == 0);
    bench_end(&b);
}

TEST(dropout_masks_change_with_the_step_and_the_seed_and_nothing_else)
{
    bench_t b = dropout("a:8x250", CAFFE__PHASE__TRAIN, 0.5f);
    float   first[COUNT];

    memcpy(first, ones_through(&b), sizeof(first));
    CHECK(memcmp(first, ones_through(&b), sizeof(first)) == 0);
    b.net->moment.step++;
    CHECK(memcmp(first, ones_through(&b), sizeof(first)) != 0);
    b.net->moment.step--;
    b.net->moment.seed++;
    CHECK(memcmp(first, ones_through(&b), sizeof(first)) != 0);
    bench_end(&b);
}

TEST(dropout_masks_do_not_depend_on_the_number_of_lanes)
{
    bench_t whole = dropout("a:8x250", CAFFE__PHASE__TRAIN, 0.5f);
    bench_t lane  = dropout("a:3x250", CAFFE__PHASE__TRAIN, 0.5f);
    float   all[COUNT];

    whole.net->moment.batch = ROWS;
    memcpy(all, ones_through(&whole), sizeof(all));
    lane.net->moment.batch = ROWS;
    lane.net->moment.lanes = 3; /* 3, 3 and 2 rows */
    for (int i = 0; i < 3; i++) {
        int64_t first = fire_lane_first(ROWS, i, 3);
        int64_t n     = fire_lane_first(ROWS, i + 1, 3) - first;

        lane.net->moment.lane = i;
        CHECK_OK(fire_blob_reshape(bench_blob(&lane, "a"), 2, (int64_t[]){n, COLS}));
        CHECK(memcmp(all + first * COLS, ones_through(&lane),
                     (size_t)(n * COLS) * sizeof(float)) == 0);
    }
    bench_end(&whole);
    bench_end(&lane);
}

TEST(dropout_does_nothing_at_test)
{
    bench_t b = dropout("a:3", CAFFE__PHASE__TEST, 0.5f);

    bench_set(&b, "a", FLOATS(1, 2, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 2, 3), 0);
    bench_set_diff(&b, "y", FLOATS(4, 5, 6));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(4, 5, 6), 0);
    bench_end(&b);
}

TEST(dropout_of_everything_is_refused)
{
    BENCH_REFUSES("a:3", "y", "type: \"Dropout\" dropout_param { dropout_ratio: 1 }",
                  "layer \"it\" (Dropout): dropout_ratio 1; it must be");
    BENCH_REFUSES("a:3", "y", "type: \"Dropout\" dropout_param { dropout_ratio: -0.1 }",
                  "dropout_ratio -0.1");
}

TEST(spatial_dropout_drops_whole_channels)
{
    bench_t      b       = bench("a:4x50x3", "y",
                                 "type: \"SpatialDropout\" spatial_dropout_param { "
                                            "dropout_ratio: 0.75 }",
                                 CAFFE__PHASE__TRAIN);
    const float *y       = ones_through(&b);
    int          dropped = 0;

    for (int i = 0; i < 200; i++) {
        CHECK(y[3 * i] == 0.0f || y[3 * i] == 4.0f);
        CHECK(y[3 * i] == y[3 * i + 1] && y[3 * i] == y[3 * i + 2]);
        dropped += y[3 * i] == 0.0f;
    }
    CHECK(dropped > 120 && dropped < 180); /* 150 expected, sigma 6 */
    bench_end(&b);
    BENCH_REFUSES("a:3", "y", "type: \"SpatialDropout\"", "no channel axis");
    BENCH_REFUSES("a:3x3", "y",
                  "type: \"SpatialDropout\" dropout_param { dropout_ratio: 2 }",
                  "dropout_ratio 2");
}
