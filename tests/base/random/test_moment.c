/* Which samples of the global batch a lane has, at any moment. */
#include "base/random/moment.h"
#include "test.h"

TEST(lanes_share_a_batch_without_gap_or_overlap)
{
    fire_moment_t m    = FIRE_MOMENT_INIT;
    int64_t       next = 5 * 23;

    m.step  = 5;
    m.lanes = 4;
    for (m.lane = 0; m.lane < 4; m.lane++) {
        fire_slice_t s = fire_moment_slice(&m, 23);

        CHECK_EQ(s.first, next);
        CHECK_EQ(s.stride, 1);
        CHECK(s.n == 5 || s.n == 6);
        next += s.n;
    }
    CHECK_EQ(next, 6 * 23);
}

TEST(the_per_worker_rule_interleaves_records_as_caffe_does)
{
    fire_moment_t m = {.step = 2, .lane = 1, .lanes = 3, .rule = FIRE_BATCH_PER_WORKER};
    fire_slice_t  s = fire_moment_slice(&m, 8);

    CHECK_EQ(s.first, 2 * 8 * 3 + 1);
    CHECK_EQ(s.stride, 3);
    CHECK_EQ(s.n, 8);
}

TEST(a_row_keeps_its_number_when_the_batch_is_cut_otherwise)
{
    fire_moment_t m   = {.batch = 10, .lanes = 4};
    int64_t       row = 0;

    for (m.lane = 0; m.lane < 4; m.lane++) {
        int64_t n = fire_moment_slice(&m, 10).n;

        for (int64_t i = 0; i < n; i++)
            CHECK_EQ(fire_moment_row(&m, n, i), row++);
    }
    CHECK_EQ(row, 10);
}

TEST(a_worker_runs_its_lanes_in_order_and_then_the_next_step)
{
    fire_moment_t m = {.step = 7, .lane = 4, .lanes = 8, .lane_first = 4};

    m.lane_count = 2;
    m            = fire_moment_next(m);
    CHECK(m.step == 7 && m.lane == 5);
    m = fire_moment_next(m);
    CHECK(m.step == 8 && m.lane == 4);
}

TEST(without_a_plan_the_next_moment_is_the_same_lane_one_step_on)
{
    fire_moment_t m = {.step = 3, .lane = 2, .lanes = 4};

    m = fire_moment_next(m);
    CHECK(m.step == 4 && m.lane == 2);
    m.step_stride = 5;
    m             = fire_moment_next(m);
    CHECK(m.step == 9 && m.lane == 2);
}

TEST(with_iter_size_each_lane_runs_all_its_steps_before_the_next_lane)
{
    static const int want[][2] = {{4, 0}, {5, 0}, {4, 1}, {5, 1}, {6, 0}, {7, 0}};
    fire_moment_t    m = {.step = 4, .lanes = 2, .lane_count = 2, .lane_steps = 2};

    for (int i = 0; i < 6; i++, m = fire_moment_next(m))
        CHECK(m.step == want[i][0] && m.lane == want[i][1]);
}
