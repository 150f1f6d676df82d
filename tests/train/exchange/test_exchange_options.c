/* test_exchange_options.c - what the solver file leaves open is chosen as
 * documented. */
#include "model/load.h"
#include "model/text.h"
#include "net/net_state.h"
#include "test.h"
#include "train/exchange/reducer.h"

static fire_exchange_options_t read_options(const char *solver, int lanes)
{
    fire_net_options_t       n = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter     *net_param;
    static ProtobufCMessage *param; /* its strings are in the options */
    fire_net_t              *net;
    fire_solver_t           *s;
    fire_exchange_options_t  o = {0};

    fire_message_free(param);
    CHECK_OK(fire_text_parse(solver, strlen(solver), "solver",
                             &caffe__solver_parameter__descriptor, &param));
    CHECK_OK(fire_net_param_load_text(
        test_source("tests/train/nets/two_layers.prototxt"), &net_param));
    CHECK_OK(fire_net_create(net_param, &n, &net));
    CHECK_OK(fire_solver_create((Caffe__SolverParameter *)param, net, &s));
    fire_exchange_options_read(
        &(fire_reducer_options_t){.param      = (Caffe__SolverParameter *)param,
                                  .net        = net,
                                  .solver     = s,
                                  .lanes      = lanes,
                                  .lane_count = lanes},
        &o);
    fire_solver_destroy(s);
    fire_net_destroy(net);
    fire_message_free(net_param);
    return o;
}

#define SOLVER "base_lr: 0.1 lr_policy: 'fixed' "

TEST(the_overlap_is_the_one_that_is_asked_for)
{
    CHECK_EQ(read_options(SOLVER "fire { overlap: 'thread' }", 1).overlap,
             FIRE_OVERLAP_THREAD);
    CHECK_EQ(read_options(SOLVER "fire { overlap: 'poll' }", 1).overlap,
             FIRE_OVERLAP_POLL);
    CHECK_EQ(read_options(SOLVER "fire { overlap: 'off' }", 1).overlap,
             FIRE_OVERLAP_OFF);
    CHECK_STR(fire_overlap_name(FIRE_OVERLAP_POLL), "poll");
}

TEST(an_update_is_sharded_unless_it_needs_whole_gradients)
{
    CHECK(!read_options(SOLVER, 1).sharded);
    CHECK(read_options(SOLVER "fire { update: 'sharded' }", 1).sharded);
    CHECK(!read_options(SOLVER "clip_gradients: 1 fire { update: 'sharded' }", 1)
               .sharded);
    CHECK(!read_options(SOLVER "fire { update: 'sharded' adapt: 'lars' }", 1).sharded);
}

TEST(clipping_holds_updates_until_all_sums_are_complete)
{
    CHECK(!read_options(SOLVER, 1).hold);
    CHECK(read_options(SOLVER "clip_gradients: 1", 1).hold);
}

TEST(sums_are_canonical_where_lanes_are_asked_for)
{
    CHECK(!read_options(SOLVER, 1).canonical);
    CHECK(read_options(SOLVER "fire { lanes: 1 }", 1).canonical);
    CHECK(read_options(SOLVER, 4).canonical); /* more lanes than workers */
}

TEST(compression_begins_where_the_solver_or_the_codec_says)
{
    CHECK_EQ(read_options(SOLVER "fire { compress: '1bit' }", 1).compress_from, -1);
    CHECK_EQ(read_options(SOLVER "fire { compress: '1bit' compress_from: 7 }", 1)
                 .compress_from,
             7);
}

static size_t bucket(fire_overlap_t overlap, size_t wanted, int64_t floats)
{
    fire_exchange_options_t o = {.overlap = overlap, .bucket_bytes = wanted};

    return fire_exchange_options_bucket(NULL, &o, floats);
}

TEST(a_small_net_gets_smaller_buckets_unless_the_user_chose)
{
    const int64_t        million = 1000000;
    Caffe__FireParameter f       = CAFFE__FIRE_PARAMETER__INIT;

    CHECK_EQ(bucket(FIRE_OVERLAP_THREAD, 8 << 20, million), 4 * million / 8);
    CHECK_EQ(bucket(FIRE_OVERLAP_POLL, 8 << 20, million), 4 * million / 2);
    CHECK_EQ(bucket(FIRE_OVERLAP_THREAD, 8 << 20, 100 * million), 8 << 20);
    CHECK_EQ(bucket(FIRE_OVERLAP_THREAD, 8 << 20, 100), 16 << 10);
    f.has_bucket_mb = true;
    CHECK_EQ(fire_exchange_options_bucket(
                 &f, &(fire_exchange_options_t){.bucket_bytes = 100}, million),
             100);
}
