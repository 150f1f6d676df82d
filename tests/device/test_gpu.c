/* test_gpu.c - calls of gpu.h on machines without a GPU fail with a message. */
#include "device/gpu.h"
#include "test.h"

static void skip_if_there_is_one(void)
{
    const char *why;

    if (fire_gpu_count(&why) > 0) test_skip("there is a GPU");
}

TEST(without_a_gpu_the_reason_is_given)
{
    const char *why = NULL;

    if (fire_gpu_count(&why) > 0) test_skip("there is a GPU");
    CHECK(why != NULL && why[0] != '\0');
}

TEST(without_a_gpu_none_can_be_opened_or_described)
{
    fire_stream_t *stream = NULL;
    char           text[128];

    skip_if_there_is_one();
    CHECK_FAILS(fire_gpu_open(0, &stream), FIRE_ERR_DEVICE, "");
    CHECK_FAILS(fire_gpu_describe(0, text, sizeof(text)), FIRE_ERR_DEVICE, "");
}

TEST(closing_null_does_nothing)
{
    fire_gpu_close(NULL);
    fire_gpu_graph_free(NULL);
    fire_gpu_upload_destroy(NULL);
    fire_gpu_readback_destroy(NULL);
}
