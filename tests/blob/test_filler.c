/* Fillers: known values, spread, limits. */
#include "blob/filler.h"

#include "model/text.h"
#include "test.h"

static const fire_rng_key_t key = {{7, 11}};

/* What the filler makes of a new blob of this shape; the caller ends it. */
static fire_status_t fill(const char *text, int ndim, const int64_t *dim,
                          fire_blob_t **blob_p)
{
    ProtobufCMessage *p;
    fire_status_t     st;

    CHECK_OK(fire_text_parse(text, strlen(text), "filler",
                             &caffe__filler_parameter__descriptor, &p));
    CHECK_OK(fire_blob_create(blob_p));
    CHECK_OK(fire_blob_reshape(*blob_p, ndim, dim));
    st = fire_filler_fill((Caffe__FillerParameter *)p, *blob_p, key, NULL);
    fire_message_free(p);
    return st;
}

TEST(a_fillers_type_is_checked_without_filling)
{
    Caffe__FillerParameter p = CAFFE__FILLER_PARAMETER__INIT;

    CHECK_OK(fire_filler_check(&p));
    p.type = (char *)"gausian";
    CHECK_FAILS(fire_filler_check(&p), FIRE_ERR_INVALID, "unknown filler \"gausian\"");
}

static const float *filled(const char *text, int ndim, const int64_t *dim,
                           fire_blob_t **blob_p)
{
    const float *x;

    CHECK_OK(fill(text, ndim, dim, blob_p));
    CHECK_OK(fire_blob_read(*blob_p, FIRE_DATA, FIRE_CPU, &x));
    return x;
}

/* Are mean, standard deviation and limits of 20000 values as told? */
static void is_distributed(const char *text, double mean, double std, double limit)
{
    static const int64_t dim[2] = {200, 100};
    fire_blob_t         *b;
    const float         *x   = filled(text, 2, dim, &b);
    double               sum = 0, squares = 0;

    for (int i = 0; i < 20000; i++) {
        sum += x[i];
        squares += (x[i] - mean) * (x[i] - mean);
        CHECK(fabs(x[i] - mean) <= limit);
    }
    CHECK_NEAR(sum / 20000, mean, 5 * std / sqrt(20000));
    CHECK_NEAR(sqrt(squares / 20000), std, 0.02 * std);
    fire_blob_destroy(b);
}

TEST(a_constant_is_one_value)
{
    fire_blob_t *b;
    const float *x = filled("value: 0.25", 1, (int64_t[]){3}, &b);

    for (int i = 0; i < 3; i++)
        CHECK_NEAR(x[i], 0.25, 0);
    fire_blob_destroy(b);
}

/* fan_in of 200 x 100 is 100, fan_out 200. */
TEST(random_fillers_have_the_spread_of_their_papers)
{
    is_distributed("type: 'uniform' min: -1 max: 3", 1, 2 / sqrt(3), 2);
    is_distributed("type: 'gaussian' mean: 2 std: 0.5", 2, 0.5, INFINITY);
    is_distributed("type: 'xavier'", 0, sqrt(1.0 / 100), sqrt(3.0 / 100) + 1e-6);
    is_distributed("type: 'xavier' variance_norm: FAN_OUT", 0, sqrt(1.0 / 200),
                   sqrt(3.0 / 200) + 1e-6);
    is_distributed("type: 'xavier' variance_norm: AVERAGE", 0, sqrt(1.0 / 150),
                   sqrt(3.0 / 150) + 1e-6);
    is_distributed("type: 'msra'", 0, sqrt(2.0 / 100), INFINITY);
}

TEST(a_sparse_gaussian_keeps_so_many_inputs_of_each_output)
{
    fire_blob_t *b;
    const float *x =
        filled("type: 'gaussian' std: 1 sparse: 50", 2, (int64_t[]){200, 100}, &b);
    int kept = 0;

    for (int i = 0; i < 20000; i++)
        kept += x[i] != 0;
    CHECK_NEAR(kept / 20000.0, 0.25, 0.02);
    fire_blob_destroy(b);
    CHECK_FAILS(fill("type: 'gaussian' sparse: 1", 0, NULL, &b), FIRE_ERR_INVALID,
                "needs a blob with at least one axis");
    fire_blob_destroy(b);
}

TEST(positive_unitball_makes_weights_of_each_output_sum_to_one)
{
    fire_blob_t *b;
    const float *x = filled("type: 'positive_unitball'", 3, (int64_t[]){4, 5, 6}, &b);

    for (int row = 0; row < 4; row++) {
        double sum = 0;

        for (int i = 0; i < 30; i++) {
            CHECK(x[row * 30 + i] >= 0);
            sum += x[row * 30 + i];
        }
        CHECK_NEAR(sum, 1, 1e-5);
    }
    fire_blob_destroy(b);
}

/* Kernel size 4 enlarges twice: 1/4 3/4 3/4 1/4 along each axis. */
TEST(bilinear_weights_interpolate)
{
    static const float edge[4] = {0.25f, 0.75f, 0.75f, 0.25f};
    fire_blob_t       *b;
    const float       *x = filled("type: 'bilinear'", 4, (int64_t[]){2, 1, 4, 4}, &b);

    for (int i = 0; i < 32; i++)
        CHECK_NEAR(x[i], edge[i / 4 % 4] * edge[i % 4], 1e-6);
    fire_blob_destroy(b);
    CHECK_FAILS(fill("type: 'bilinear'", 4, (int64_t[]){1, 1, 4, 3}, &b),
                FIRE_ERR_INVALID, "square kernel");
    fire_blob_destroy(b);
}

TEST(values_depend_on_the_key_alone)
{
    fire_blob_t *a, *b;
    const float *x = filled("type: 'xavier'", 2, (int64_t[]){8, 8}, &a);
    const float *y = filled("type: 'xavier'", 2, (int64_t[]){8, 8}, &b);

    CHECK(memcmp(x, y, 64 * sizeof(*x)) == 0);
    fire_blob_destroy(a);
    fire_blob_destroy(b);
}

TEST(an_unknown_filler_is_refused_with_those_there_are)
{
    fire_blob_t *b;

    CHECK_FAILS(fill("type: 'xavir'", 1, (int64_t[]){2}, &b), FIRE_ERR_INVALID,
                "unknown filler \"xavir\"; known are constant, gaussian");
    fire_blob_destroy(b);
}
