/* Views of blobs, and the memory under them. Tests src/blob/view.c and
 * src/blob/region.c. */
#include "blob/blob.h"
#include "test.h"

static fire_blob_t *blob_of(int64_t n)
{
    fire_blob_t *b;

    CHECK_OK(fire_blob_create(&b));
    CHECK_OK(fire_blob_reshape(b, 1, &n));
    return b;
}

static fire_view_t *view_of(fire_blob_t *b)
{
    fire_view_t *v;

    CHECK_OK(fire_blob_view(b, FIRE_DATA, FIRE_CPU, &v));
    return v;
}

static const fire_format_t bf16 = {.dtype = FIRE_BF16};

/* The blob's values as a kernel of another number format has them. */
static uint16_t *as_bf16(fire_blob_t *b, fire_access_t access)
{
    void *x;

    CHECK_OK(fire_blob_access(b, FIRE_DATA, access, &bf16, &x));
    return x;
}

TEST(a_view_tells_shape_and_place)
{
    const int64_t dim[] = {2, 3};
    fire_blob_t  *b     = blob_of(1);
    fire_view_t  *v;

    CHECK_OK(fire_blob_reshape(b, 2, dim));
    v = view_of(b);
    CHECK_EQ(fire_view_ndim(v), 2);
    CHECK_EQ(fire_view_dims(v)[1], 3);
    CHECK(fire_view_place(v) == FIRE_CPU);
    CHECK(fire_view_values(v)[5] == 0);
    fire_view_destroy(v);
    fire_view_destroy(NULL);
    fire_blob_destroy(b);
}

TEST(what_is_written_through_a_view_is_the_blobs_value)
{
    fire_blob_t *b = blob_of(4);
    fire_view_t *v = view_of(b);

    as_bf16(b, FIRE_READ); /* a copy that would be stale */
    fire_view_values(v)[2] = 1.5f;
    CHECK_OK(fire_blob_absorb_views(b));
    CHECK_EQ(as_bf16(b, FIRE_READ)[2], 0x3fc0);
    fire_view_destroy(v);
    fire_blob_destroy(b);
}

TEST(a_view_shows_what_kernels_of_other_formats_write)
{
    fire_blob_t *b = blob_of(4);
    fire_view_t *v = view_of(b), *w = view_of(b);

    CHECK(fire_view_values(v) == fire_view_values(w));
    fire_view_destroy(w);
    as_bf16(b, FIRE_UPDATE)[1] = 0x4000; /* 2 */
    CHECK_OK(fire_blob_refresh_views(b));
    CHECK(fire_view_values(v)[1] == 2);
    fire_storage_zero(b->part[FIRE_DATA]);
    CHECK_OK(fire_blob_refresh_views(b));
    CHECK(fire_view_values(v)[1] == 0);
    fire_view_destroy(v);
    fire_blob_destroy(b);
}

TEST(a_view_survives_its_blob)
{
    fire_blob_t *b = blob_of(4);
    fire_view_t *v = view_of(b);

    fire_view_values(v)[3] = 3;
    fire_blob_destroy(b);
    CHECK(fire_view_values(v)[3] == 3);
    fire_view_destroy(v);
}

TEST(a_view_survives_growth_and_clearing_of_its_blob)
{
    const int64_t more = 1000;
    fire_blob_t  *b    = blob_of(4);
    fire_view_t  *v    = view_of(b), *w;
    float        *x;

    fire_view_values(v)[3] = 3;
    CHECK_OK(fire_blob_reshape(b, 1, &more));
    CHECK_OK(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &x));
    CHECK(x != fire_view_values(v));
    CHECK(fire_view_values(v)[3] == 3);
    w                      = view_of(b);
    fire_view_values(w)[7] = 7;
    fire_storage_clear(b->part[FIRE_DATA]);
    CHECK_OK(fire_blob_refresh_views(b));
    CHECK(fire_view_values(w)[7] == 7);
    fire_view_destroy(v);
    fire_view_destroy(w);
    fire_blob_destroy(b);
}

TEST(a_view_leaves_the_memory_pool)
{
    fire_pool_t *pool;
    fire_blob_t *b = blob_of(4);
    fire_view_t *v;
    float       *x;

    CHECK_OK(fire_pool_create(&pool));
    fire_blob_use_pool(b, pool, false);
    CHECK_OK(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &x));
    x[2] = 5;
    v    = view_of(b);
    fire_blob_destroy(b);
    fire_pool_release(pool);
    CHECK(fire_view_values(v)[2] == 5);
    fire_view_destroy(v);
}

TEST(a_view_of_lent_memory_keeps_the_lender)
{
    fire_region_t *owner;
    fire_blob_t   *b = blob_of(4);
    fire_view_t   *v;
    static float   arena[4];

    CHECK_OK(fire_region_create(arena, NULL, NULL, &owner));
    CHECK_OK(
        fire_storage_bind(b->part[FIRE_DATA], FIRE_CPU, arena, sizeof(arena), owner));
    fire_region_release(owner);
    v = view_of(b);
    CHECK(fire_view_values(v) == arena);
    fire_blob_destroy(b);
    fire_view_values(v)[0] = 1;
    fire_view_destroy(v);
}

static int frees;

static void count_free(void *arg, void *memory)
{
    CHECK(arg == &frees && memory == &frees);
    frees++;
}

TEST(a_region_is_freed_once_by_its_last_user)
{
    fire_region_t *b;

    CHECK_OK(fire_region_create(&frees, count_free, &frees, &b));
    CHECK(!fire_region_is_viewed(b) && !fire_region_is_viewed(NULL));
    fire_region_add_view(b);
    CHECK(fire_region_is_viewed(b));
    CHECK(fire_region_memory(b) == &frees);
    fire_region_release(b);
    CHECK_EQ(frees, 0);
    fire_region_drop_view(b);
    CHECK_EQ(frees, 1);
    fire_region_release(NULL);
}

TEST(a_retained_blob_outlives_its_first_owner)
{
    fire_blob_t *b = blob_of(4);
    float       *x;

    CHECK(fire_blob_retain(b) == b);
    fire_blob_destroy(b);
    CHECK_OK(fire_blob_update(b, FIRE_DATA, FIRE_CPU, &x));
    CHECK_EQ(fire_blob_count(b), 4);
    fire_blob_destroy(b);
}

/* Values move, viewed memory stays. */
TEST(exchanged_values_reach_views_of_either_blob)
{
    fire_blob_t *a = blob_of(4), *b = blob_of(4);
    fire_view_t *v = view_of(a), *w = view_of(b);
    const float *x;

    fire_view_values(v)[0] = 1;
    fire_view_values(w)[0] = 2;
    CHECK_OK(fire_storage_swap(a->part[FIRE_DATA], b->part[FIRE_DATA]));
    CHECK(fire_view_values(v)[0] == 2 && fire_view_values(w)[0] == 1);
    CHECK_OK(fire_blob_read(a, FIRE_DATA, FIRE_CPU, &x));
    CHECK(x == fire_view_values(v));
    fire_view_destroy(w);
    CHECK_OK(fire_storage_swap(a->part[FIRE_DATA], b->part[FIRE_DATA]));
    CHECK(fire_view_values(v)[0] == 1);
    CHECK_OK(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
    CHECK(x[0] == 2);
    fire_view_destroy(v);
    fire_blob_destroy(a);
    fire_blob_destroy(b);
}
