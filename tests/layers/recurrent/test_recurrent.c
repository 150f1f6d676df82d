/* Recurrent layers: the state they carry, and what they refuse. */
#include "layers/bench.h"

#define LSTM(param) "type: \"LSTM\" recurrent_param { " param " }"

TEST(recurrent_layers_refuse_wrong_bottoms)
{
    BENCH_REFUSES("x:3x2x4 c:3x2", "h", "type: \"LSTM\"", "num_output");
    BENCH_REFUSES("x:3x2x4 c:3x1", "h", LSTM("num_output: 2"),
                  "cont) has shape 3 1 (3), it should begin with 3 2");
    BENCH_REFUSES("x:3x2 c:3x2", "h", LSTM("num_output: 2"), "at least 3 axes");
    BENCH_REFUSES("x:3x2x4 c:3x2 s:3x5", "h", LSTM("num_output: 2"),
                  "the static input has shape");
    BENCH_REFUSES("x:3x2x4 c:3x2", "h", LSTM("num_output: 2 expose_hidden: true"),
                  "4 or 5 bottoms are needed with expose_hidden");
    BENCH_REFUSES("x:3x2x4 c:3x2 h0:1x2x2 c0:1x2x2", "h",
                  LSTM("num_output: 2 expose_hidden: true"), "3 tops are needed");
    BENCH_REFUSES("x:3x2x4 c:3x2 h0:1x2x2 c0:1x2x3", "h hT cT",
                  LSTM("num_output: 2 expose_hidden: true"), "c0 has shape");
    BENCH_REFUSES("x:3x2x4 c:3x2 s:2x1 t:2x1", "h",
                  "type: \"RNN\" recurrent_param { num_output: 2 }",
                  "2 or 3 bottoms are needed");
    BENCH_REFUSES("c:1x2x3 x:1x2x9 n:1x2", "c1 h1", "type: \"LSTMUnit\"",
                  "gate inputs) must have shape 1 2 12");
    BENCH_REFUSES("c:2x2x3 x:1x2x12 n:1x2", "c1 h1", "type: \"LSTMUnit\"",
                  "cell state) must have shape 1 N D");
    BENCH_REFUSES("c:1x2x3 x:1x2x12 n:1x3", "c1 h1", "type: \"LSTMUnit\"",
                  "cont) must have shape 1 2");
}

static void make_weights(bench_t *b)
{
    fire_layer_t *l = fire_net_find_layer(b->net, "it");

    for (int i = 0; i < l->nblob; i++)
        CHECK_OK(fire_blob_set(l->blob[i], FIRE_DATA, 0.5f));
}

static float last_of(bench_t *b)
{
    const float *h;

    bench_forward(b);
    CHECK_OK(fire_blob_read(bench_blob(b, "h"), FIRE_DATA, FIRE_CPU, &h));
    return h[0];
}

TEST(the_state_goes_on_where_cont_is_one_and_ends_where_it_is_zero)
{
    bench_t b = bench("x:1x1x1 c:1x1", "h", LSTM("num_output: 1"), CAFFE__PHASE__TEST);
    float   first, second, again;

    make_weights(&b);
    bench_set(&b, "x", FLOATS(1));
    bench_set(&b, "c", FLOATS(1));
    first  = last_of(&b);
    second = last_of(&b);
    bench_set(&b, "c", FLOATS(0));
    again = last_of(&b);
    CHECK(second > first);
    CHECK_NEAR(again, first, 0);
    bench_end(&b);
}

TEST(each_lane_has_a_state_of_its_own)
{
    bench_t b = bench("x:1x1x1 c:1x1", "h", LSTM("num_output: 1"), CAFFE__PHASE__TEST);
    float   first, second;

    make_weights(&b);
    bench_set(&b, "x", FLOATS(1));
    bench_set(&b, "c", FLOATS(1));
    first              = last_of(&b);
    b.net->moment.lane = 1;
    CHECK_NEAR(last_of(&b), first, 0);
    second             = last_of(&b);
    b.net->moment.lane = 0;
    CHECK_NEAR(last_of(&b), second, 0);
    bench_end(&b);
}
