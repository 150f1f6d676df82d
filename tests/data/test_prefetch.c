/* Batches that are made ahead, by any number of threads. */
#include "data/prefetch.h"

#include <stdatomic.h>
#include <unistd.h>

#include "test.h"

enum { SIDE = 4, BATCH = 6 };

typedef struct world {
    atomic_int    loads;
    int64_t       bad_sample; /* fails there */
    useconds_t    slow;
    fire_extent_t odd; /* extent of sample 3 */
} world_t;

/* A row's pixels are its sample number, its label the step. */
static fire_status_t load(void *arg, fire_workspace_t *scratch, fire_batch_t *b,
                          int64_t row)
{
    world_t *w      = arg;
    int64_t  sample = b->slice.first + row * b->slice.stride;
    float   *out;

    (void)scratch;
    atomic_fetch_add(&w->loads, 1);
    if (w->slow > 0) usleep(w->slow);
    if (sample == w->bad_sample)
        return FIRE_FAIL(FIRE_ERR_PARSE, "sample %lld is bad", (long long)sample);
    FIRE_TRY(fire_batch_row(
        b, row, sample == 3 && w->odd.channels > 0 ? w->odd : b->extent, &out));
    for (int64_t i = 0; i < fire_extent_count(b->extent); i++)
        out[i] = (float)sample;
    b->label[row] = (float)b->moment.step;
    return FIRE_OK;
}

static fire_prefetch_t *start(world_t *w, int64_t batch, int threads)
{
    fire_prefetch_options_t o = {.load       = load,
                                 .arg        = w,
                                 .batch_size = batch,
                                 .extent     = {1, SIDE, SIDE},
                                 .depth      = 3,
                                 .threads    = threads};
    fire_prefetch_t        *p;

    CHECK_OK(fire_prefetch_create(&o, &p));
    return p;
}

static void check_batch(fire_prefetch_t *p, const fire_moment_t *m)
{
    const fire_batch_t *b;
    fire_slice_t        s = fire_moment_slice(m, BATCH);

    CHECK_OK(fire_prefetch_get(p, m, &b));
    CHECK_EQ(b->slice.n, s.n);
    for (int64_t i = 0; i < s.n; i++) {
        CHECK_EQ(b->data[i * SIDE * SIDE], s.first + i * s.stride);
        CHECK_EQ(b->data[(i + 1) * SIDE * SIDE - 1], s.first + i * s.stride);
        CHECK_EQ(b->label[i], m->step);
    }
}

TEST(batches_come_in_order_with_any_number_of_threads)
{
    for (int threads = 1; threads <= 8; threads *= 2) {
        world_t          w = {.bad_sample = -1};
        fire_prefetch_t *p = start(&w, BATCH, threads);
        fire_moment_t    m = FIRE_MOMENT_INIT;

        for (; m.step < 200; m.step++)
            check_batch(p, &m);
        fire_prefetch_destroy(p);
        CHECK(w.loads <= (200 + 4) * BATCH); /* no row was made twice */
    }
}

TEST(a_worker_with_several_lanes_of_different_sizes_is_served_ahead)
{
    world_t          w = {.bad_sample = -1};
    fire_prefetch_t *p = start(&w, BATCH, 3);
    fire_moment_t    m = {.seed = 1, .lanes = 9, .lane_first = 3, .lane_count = 5};

    m.lane_steps = 2;
    for (m.lane = 3; m.step < 40; m = fire_moment_next(m))
        check_batch(p, &m);
    fire_prefetch_destroy(p);
    CHECK(w.loads <= (40 + 8) * 3); /* lanes 3, 4 and 5 have one row each */
}

TEST(an_unexpected_request_starts_again_from_there)
{
    static const int64_t steps[] = {5, 6, 7, 2, 3, 90, 91, 91, 0, 1};
    world_t              w       = {.bad_sample = -1};
    fire_prefetch_t     *p       = start(&w, BATCH, 4);
    fire_moment_t        m       = FIRE_MOMENT_INIT;

    for (int round = 0; round < 50; round++)
        for (int i = 0; i < 10; i++) {
            m.step  = steps[i];
            m.seed  = 1 + (uint64_t)round / 10;
            m.lanes = 1 + round % 3;
            check_batch(p, &m);
        }
    fire_prefetch_destroy(p);
}

TEST(an_error_surfaces_at_its_batch_and_others_are_not_harmed)
{
    world_t             w = {.bad_sample = 4 * BATCH + 2};
    fire_prefetch_t    *p = start(&w, BATCH, 4);
    fire_moment_t       m = FIRE_MOMENT_INIT;
    const fire_batch_t *b;

    for (; m.step < 4; m.step++)
        check_batch(p, &m);
    CHECK_FAILS(fire_prefetch_get(p, &m, &b), FIRE_ERR_PARSE, "sample 26 is bad");
    for (m.step = 5; m.step < 20; m.step++)
        check_batch(p, &m);
    fire_prefetch_destroy(p);
}

TEST(a_row_of_another_size_needs_batch_size_1)
{
    world_t             w = {.bad_sample = -1, .odd = {2, 9, 9}};
    fire_prefetch_t    *p = start(&w, BATCH, 2);
    fire_moment_t       m = FIRE_MOMENT_INIT;
    const fire_batch_t *b;

    CHECK_FAILS(fire_prefetch_get(p, &m, &b), FIRE_ERR_INVALID, "2 x 9 x 9");
    fire_prefetch_destroy(p);

    p      = start(&w, 1, 2);
    m.step = 3;
    CHECK_OK(fire_prefetch_get(p, &m, &b));
    CHECK(b->extent.height == 9 && b->data[161] == 3);
    fire_prefetch_destroy(p);
}

TEST(a_prefetcher_can_be_ended_at_any_time)
{
    for (int i = 0; i < 30; i++) {
        world_t             w = {.bad_sample = -1, .slow = 300};
        fire_prefetch_t    *p = start(&w, BATCH, 1 + i % 5);
        fire_moment_t       m = FIRE_MOMENT_INIT;
        const fire_batch_t *b;

        for (; m.step < i % 4; m.step++)
            CHECK_OK(fire_prefetch_get(p, &m, &b));
        fire_prefetch_destroy(p);
    }
}

TEST(time_spent_waiting_is_counted)
{
    world_t          w = {.bad_sample = -1, .slow = 2000};
    fire_prefetch_t *p = start(&w, BATCH, 1);
    fire_moment_t    m = FIRE_MOMENT_INIT;

    check_batch(p, &m); /* six rows of 2 ms, none made ahead */
    CHECK(fire_prefetch_waited(p) > 0.010 && fire_prefetch_waited(p) < 5);
    fire_prefetch_destroy(p);
}
