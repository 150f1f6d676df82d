/* Views of a net's blobs and parameters before and after it runs. */
#include "nets.h"
#include "net/net_state.h"

/* A copy in another number format, as a fast kernel keeps it. */
static void *as_bf16(fire_blob_t *b, fire_access_t access)
{
    static const fire_format_t bf16 = {.dtype = FIRE_BF16};
    void                      *x;

    CHECK_OK(fire_blob_access(b, FIRE_DATA, access, &bf16, &x));
    return x;
}

static fire_view_t *view_of(fire_blob_t *b, fire_part_t part)
{
    fire_view_t *v;

    CHECK_OK(fire_blob_view(b, part, FIRE_CPU, &v));
    return v;
}

TEST(views_of_blobs_and_parameters_are_absorbed_and_refreshed)
{
    fire_net_t  *net  = net_make_file("two_products", CAFFE__PHASE__TRAIN);
    fire_blob_t *b[2] = {fire_net_find_blob(net, "x"), fire_net_param_blob(net, 0)};

    for (int i = 0; i < 2; i++) {
        fire_view_t *v = view_of(b[i], FIRE_DATA);

        as_bf16(b[i], FIRE_READ);
        fire_view_values(v)[0] = 2;
        CHECK_OK(fire_net_absorb_views(net));
        CHECK_EQ(*(uint16_t *)as_bf16(b[i], FIRE_READ), 0x4000);
        *(uint16_t *)as_bf16(b[i], FIRE_UPDATE) = 0x3f80; /* 1 */
        CHECK_OK(fire_net_refresh_views(net));
        CHECK(fire_view_values(v)[0] == 1);
        fire_view_destroy(v);
    }
    fire_net_destroy(net);
}

TEST(a_failure_stays_the_failure_after_views_are_refreshed)
{
    fire_net_t *net = net_make_file("two_products", CAFFE__PHASE__TRAIN);

    CHECK_FAILS(fire_net_refresh_views_after(net, FIRE_FAIL(FIRE_ERR_IO, "disk")),
                FIRE_ERR_IO, "disk");
    fire_net_destroy(net);
}
