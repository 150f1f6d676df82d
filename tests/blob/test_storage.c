/* One array in several formats at once. */
#include "blob/storage.h"
#include "device/cpu/blocked.h"
#include "test.h"

static const int64_t shape[4] = {2, 3, 2, 2};

static void *get(fire_storage_t *s, fire_access_t access, fire_format_t f)
{
    void *p;

    CHECK_OK(fire_storage_access(s, access, &f, 4, shape, &p));
    return p;
}

TEST(new_storage_reads_as_zeros)
{
    fire_storage_t *s;
    const float    *p;

    CHECK_OK(fire_storage_create(&s));
    p = get(s, FIRE_READ, FIRE_FORMAT_PLAIN(FIRE_CPU));
    for (int i = 0; i < 24; i++)
        CHECK(p[i] == 0);
    fire_storage_release(s);
}

TEST(a_read_in_another_format_converts_and_a_second_costs_nothing)
{
    fire_format_t   nhwc = {.layout = FIRE_NHWC, .dtype = FIRE_F32};
    fire_storage_t *s;
    float          *p;
    const float    *q;

    CHECK_OK(fire_storage_create(&s));
    p = get(s, FIRE_WRITE, FIRE_FORMAT_PLAIN(FIRE_CPU));
    for (int i = 0; i < 24; i++)
        p[i] = (float)i;
    q = get(s, FIRE_READ, nhwc);
    CHECK(q[0] == 0 && q[1] == 4 && q[2] == 8 && q[3] == 1); /* channels of a pixel */
    get(s, FIRE_READ, nhwc);
    CHECK_EQ(fire_storage_conversions(s), 1);
    fire_storage_release(s);
}

TEST(a_write_leaves_only_its_own_format_valid)
{
    fire_format_t   half = {.dtype = FIRE_BF16};
    fire_storage_t *s;
    float          *p;
    uint16_t       *h;

    CHECK_OK(fire_storage_create(&s));
    p    = get(s, FIRE_WRITE, FIRE_FORMAT_PLAIN(FIRE_CPU));
    p[3] = 1.5f;
    h    = get(s, FIRE_UPDATE, half);
    CHECK_EQ(h[3], 0x3fc0);
    h[3] = 0x4000; /* 2.0 */
    CHECK(!fire_storage_has(s, &FIRE_FORMAT_PLAIN(FIRE_CPU)));
    p = get(s, FIRE_READ, FIRE_FORMAT_PLAIN(FIRE_CPU));
    CHECK(p[3] == 2.0f);
    fire_storage_release(s);
}

TEST(bound_memory_takes_over_the_values_and_must_not_be_outgrown)
{
    float           arena[24];
    fire_storage_t *s;
    float          *p;
    void           *q;
    int64_t         more = 25;

    CHECK_OK(fire_storage_create(&s));
    p    = get(s, FIRE_WRITE, FIRE_FORMAT_PLAIN(FIRE_CPU));
    p[5] = 7;
    CHECK_OK(fire_storage_bind(s, FIRE_CPU, arena, sizeof(arena), NULL));
    CHECK(get(s, FIRE_READ, FIRE_FORMAT_PLAIN(FIRE_CPU)) == arena && arena[5] == 7);
    CHECK_FAILS(
        fire_storage_access(s, FIRE_READ, &FIRE_FORMAT_PLAIN(FIRE_CPU), 1, &more, &q),
        FIRE_ERR_INVALID, "outgrew");
    fire_storage_release(s);
}

TEST(a_smaller_shape_keeps_the_first_values_of_any_layout)
{
    const int64_t   less[4]    = {1, 3, 2, 1};
    fire_format_t   written[2] = {{.layout = FIRE_NHWC}};
    size_t          bytes[2]   = {24 * sizeof(float)};
    fire_storage_t *all, *s;
    float          *p;
    void           *q;

    CHECK_OK(fire_blocked_format(FIRE_F32, 8, 4, shape, &written[1]));
    bytes[1] = written[1].opaque->bytes;
    CHECK_OK(fire_storage_create(&all));
    p = get(all, FIRE_WRITE, FIRE_FORMAT_PLAIN(FIRE_CPU));
    for (int i = 0; i < 24; i++)
        p[i] = (float)i;
    for (int k = 0; k < 2; k++) {
        CHECK_OK(fire_storage_create(&s));
        memcpy(get(s, FIRE_WRITE, written[k]), get(all, FIRE_READ, written[k]),
               bytes[k]);
        CHECK_OK(fire_storage_access(s, FIRE_READ, &FIRE_FORMAT_PLAIN(FIRE_CPU), 4,
                                     less, &q));
        for (int i = 0; i < 6; i++)
            CHECK(((float *)q)[i] == (float)i);
        fire_storage_release(s);
    }
    fire_storage_release(all);
}

TEST(a_larger_shape_reads_as_zeros_where_nothing_was)
{
    const int64_t   more[4] = {3, 3, 2, 2};
    fire_format_t   nhwc    = {.layout = FIRE_NHWC};
    fire_storage_t *s;
    float          *p;
    void           *q;

    CHECK_OK(fire_storage_create(&s));
    p = get(s, FIRE_WRITE, FIRE_FORMAT_PLAIN(FIRE_CPU));
    for (int i = 0; i < 24; i++)
        p[i] = 1;
    CHECK_OK(fire_storage_access(s, FIRE_READ, &nhwc, 4, more, &q));
    for (int i = 0; i < 36; i++)
        CHECK(((float *)q)[i] == (i < 24 ? 1 : 0));
    fire_storage_release(s);
}
