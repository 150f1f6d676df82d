/* test_measured.c - names of activities, and sums of times. */
#include "runlog/measured.h"

#include "test.h"

static const fire_layer_label_t label[] = {{"data", true}, {"conv1", false}};
static const fire_layer_times_t layers  = {.nlayer = 2, .label = label};

static void check_name(fire_activity_kind_t kind, int index, const char *want)
{
    char buf[64];

    CHECK_STR(fire_activity_name(&layers, &(fire_activity_t){0, 1, kind, index}, buf,
                                 sizeof(buf)),
              want);
}

TEST(an_activity_is_named_after_its_layer_or_bucket)
{
    check_name(FIRE_ACTIVITY_FORWARD, 1, "conv1");
    check_name(FIRE_ACTIVITY_BACKWARD, 0, "data");
    check_name(FIRE_ACTIVITY_EXCHANGE, 3, "bucket 3");
    check_name(FIRE_ACTIVITY_ITERATION, 2, "iteration +2");
    check_name(FIRE_ACTIVITY_WAIT, 0, "wait");
    check_name(FIRE_ACTIVITY_UPDATE, 0, "update");
}

TEST(only_passes_of_data_layers_are_data)
{
    CHECK(fire_activity_is_data(&layers,
                                &(fire_activity_t){0, 1, FIRE_ACTIVITY_FORWARD, 0}));
    CHECK(!fire_activity_is_data(&layers,
                                 &(fire_activity_t){0, 1, FIRE_ACTIVITY_FORWARD, 1}));
    CHECK(!fire_activity_is_data(&layers,
                                 &(fire_activity_t){0, 1, FIRE_ACTIVITY_EXCHANGE, 0}));
}

TEST(times_add_up_member_by_member)
{
    fire_times_t       sum = {.seconds = 1, .phase = {1, 2, 3, 4, 5}, .bytes = 6};
    const fire_times_t t   = {
          .seconds = 10, .phase = {10, 20, 30, 40, 50}, .hidden = 7, .bytes = 60};

    fire_times_add(&sum, &t);
    CHECK_NEAR(sum.seconds, 11, 0);
    CHECK_NEAR(sum.hidden, 7, 0);
    CHECK_EQ(sum.bytes, 66);
    for (int i = 0; i < FIRE_NPHASE; i++)
        CHECK_NEAR(sum.phase[i], 11 * (i + 1), 0);
}
