/* Recurrent layers: the state they carry, and what they refuse. Tests
 * src/layers/recurrent/. */
#include "layers/bench.h"
#include "net/net_state.h"

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

/* What a parameter must hold if its elements are the next numbers of the stream. */
static void next_numbers(fire_mt_t *mt, const fire_blob_t *blob, fire_blob_t *same)
{
    const float *x;

    if (same != NULL) CHECK_OK(fire_blob_read(same, FIRE_DATA, FIRE_CPU, &x));
    for (int64_t i = 0; i < blob->count; i++) {
        float drawn = fire_mt_uniform(mt, -1, 1);

        if (same != NULL) CHECK_NEAR(x[i], drawn, 0);
    }
}

static void fillers_draw_for_every_step(const char *type, int first_of_steps)
{
    static const char format[] =
        "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 3 dim: 2 "
        "dim: 4 } } } layer { name: 'c' type: 'Input' top: 'c' input_param { shape { "
        "dim: 3 dim: 2 } } } layer { name: 'it' type: '%s' bottom: 'x' bottom: 'c' "
        "top: "
        "'h' recurrent_param { num_output: 2 weight_filler { type: 'uniform' min: -1 "
        "max: 1 } bias_filler { type: 'uniform' min: -1 max: 1 } } } layer { name: "
        "'ip' "
        "type: 'InnerProduct' bottom: 'h' top: 'y' inner_product_param { num_output: 1 "
        "axis: 2 weight_filler { type: 'uniform' min: -1 max: 1 } } }";
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;
    ProtobufCMessage  *param;
    fire_mt_t         *mt, *expected;
    fire_net_t        *net;
    fire_layer_t      *it;
    char               text[1024];

    snprintf(text, sizeof(text), format, type);
    CHECK_OK(fire_text_parse(text, strlen(text), "net",
                             &caffe__net_parameter__descriptor, &param));
    CHECK_OK(fire_mt_create(7, &mt));
    CHECK_OK(fire_mt_create(7, &expected));
    o.ctx.mt = mt;
    CHECK_OK(fire_net_create((Caffe__NetParameter *)param, &o, &net));
    it = fire_net_find_layer(net, "it");
    for (int i = 0; i < it->nblob; i++)
        next_numbers(expected, it->blob[i], it->blob[i]);
    for (int t = 1; t < 3; t++)
        for (int i = first_of_steps; i < it->nblob; i++)
            next_numbers(expected, it->blob[i], NULL);
    it = fire_net_find_layer(net, "ip");
    next_numbers(expected, it->blob[0], it->blob[0]);
    fire_net_destroy(net);
    fire_message_free(param);
    fire_mt_destroy(mt);
    fire_mt_destroy(expected);
}

TEST(with_caffes_numbers_recurrent_fillers_draw_for_every_step)
{
    fillers_draw_for_every_step("LSTM", 2);
    fillers_draw_for_every_step("RNN", 2);
}
