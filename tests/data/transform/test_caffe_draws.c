/* Numbers of Caffe's stream, by index. */
#include "data/transform/caffe_draws.h"

#include "test.h"

enum { FAR = 200000 };

TEST(draws_are_the_stream_by_index_in_any_order)
{
    static uint32_t     want[FAR];
    fire_caffe_draws_t *d;
    fire_mt_t          *mt;

    CHECK_OK(fire_mt_create(3, &mt));
    for (int i = 0; i < FAR; i++)
        want[i] = fire_mt_u32(mt);
    CHECK_OK(fire_caffe_draws_create(3, &d));
    for (int64_t i = FAR - 1; i >= 0; i -= 30011)
        CHECK_EQ(fire_caffe_draws_at(d, i), want[i]);
    for (int64_t i = 0; i < FAR; i += 7)
        CHECK_EQ(fire_caffe_draws_at(d, i), want[i]);
    fire_caffe_draws_destroy(d);
    fire_mt_destroy(mt);
}

TEST(every_epoch_is_shuffled_once_more)
{
    enum { N = 10, EPOCHS = 4 };
    int64_t             first[N * EPOCHS], record;
    fire_caffe_draws_t *d;

    CHECK_OK(fire_caffe_draws_create(1701, &d));
    for (int e = 0; e < EPOCHS; e++) {
        int seen = 0;

        for (int i = 0; i < N; i++) {
            CHECK_OK(fire_caffe_draws_record(d, N, e * N + i, &first[e * N + i]));
            seen |= 1 << first[e * N + i];
        }
        CHECK_EQ(seen, (1 << N) - 1);
    }
    for (int i = N * EPOCHS - 1; i >= 0; i--) {
        CHECK_OK(fire_caffe_draws_record(d, N, i, &record));
        CHECK_EQ(record, first[i]);
    }
    fire_caffe_draws_destroy(d);
}
