/* test_parallel.c - pieces cover every element once, with any threads. */
#include "device/cpu/parallel.h"
#include "test.h"

enum { COUNT = 1000, PIECE = 64 };

/* How often each element of [0, COUNT) is visited, piece by piece. */
static void visit_pieces(int *times)
{
    FIRE_PARALLEL_PIECES(i, COUNT, PIECE)
    for (int64_t k = i; k < i + fire_piece(COUNT, i, PIECE); k++)
        times[k]++;
}

TEST(pieces_cover_every_element_once_with_any_number_of_threads)
{
    for (int threads = 1; threads <= 5; threads += 2) {
        int times[COUNT] = {0};

        fire_threads_set(threads);
        visit_pieces(times);
        for (int i = 0; i < COUNT; i++)
            CHECK_EQ(times[i], 1);
    }
}

TEST(loops_visit_each_number_once)
{
    int times[COUNT] = {0};

    fire_threads_set(3);
    FIRE_PARALLEL(i, COUNT, COUNT > 10)
    times[i]++;
    FIRE_PARALLEL_UNEVEN(i, COUNT)
    times[i]++;
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(times[i], 2);
}

TEST(the_last_piece_is_shorter)
{
    CHECK_EQ(fire_piece(100, 0, 30), 30);
    CHECK_EQ(fire_piece(100, 90, 30), 10);
}

TEST(a_worker_has_as_many_threads_as_it_is_given)
{
    fire_threads_set(1);
    CHECK_EQ(fire_threads(), 1);
    fire_threads_set(3);
#ifdef FIRE_HAVE_OPENMP
    CHECK_EQ(fire_threads(), 3);
#endif
    fire_threads_set(0);
    CHECK(fire_threads() >= 1);
}
