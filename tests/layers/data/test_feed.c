/* Images that travel to a GPU as bytes become what the CPU makes of them, to the bit. */
#include "model/blob_proto.h"
#include "model/message.h"
#include "rig.h"

enum { CHANNELS = 3, HEIGHT = 7, WIDTH = 9, CROP = 5, BATCH = 4, STEPS = 6 };

/* Without a GPU there is nothing to compare. */
static fire_ctx_t gpu_or_skip(void)
{
    fire_ctx_t ctx = test_ctx();

    if (ctx.place != FIRE_GPU) test_skip("this is about GPUs: run it with --gpu");
    return ctx;
}

static const char *write_mean(void)
{
    const char      *path = tmp_path("mean.binaryproto");
    float            value[CHANNELS * HEIGHT * WIDTH];
    Caffe__BlobProto b = CAFFE__BLOB_PROTO__INIT;
    uint8_t          out[4096];
    FILE            *f;

    for (size_t i = 0; i < sizeof(value) / sizeof(*value); i++)
        value[i] = (float)i * 0.37f;
    b.has_num = b.has_channels = b.has_height = b.has_width = 1;
    b.num = 1, b.channels = CHANNELS, b.height = HEIGHT, b.width = WIDTH;
    b.n_data = sizeof(value) / sizeof(*value);
    b.data   = value;
    f        = fopen(path, "wb");
    CHECK(f != NULL);
    CHECK(fwrite(out, 1, caffe__blob_proto__pack(&b, out), f) > 0);
    fclose(f);
    return path;
}

static void compare(const char *transform, Caffe__Phase phase, const char *kernel)
{
    fire_ctx_t  gpu  = gpu_or_skip();
    const char *text = format(
        "name: 'd' type: 'Data' top: 'data' top: 'label' data_param { source: '%s' "
        "batch_size: %d backend: LMDB shuffle: true } transform_param { %s }",
        make_db("lmdb", "db", 11, CHANNELS, HEIGHT, WIDTH), BATCH, transform);
    rig_t here, there;

    CHECK_OK(rig_open_on(&here, FIRE_CTX_INIT, text, phase));
    CHECK_OK(rig_open_on(&there, gpu, text, phase));
    CHECK_STR(there.layer.kernel->name, kernel);
    for (int step = 0; step < STEPS; step++) {
        here.moment.step = there.moment.step = step;
        CHECK_OK(rig_forward(&here));
        CHECK_OK(rig_forward(&there));
        for (int top = 0; top < 2; top++)
            CHECK(memcmp(rig_top(&here, top), rig_top(&there, top),
                         (size_t)fire_blob_count(here.top[top]) * sizeof(float)) == 0);
    }
    rig_close(&here);
    rig_close(&there);
}

TEST(images_as_they_are_are_the_same_on_a_gpu)
{
    compare("", CAFFE__PHASE__TRAIN, "cuda");
}

TEST(mirrored_images_minus_mean_values_are_the_same_on_a_gpu)
{
    compare("mirror: true scale: 0.017 mean_value: 104 mean_value: 117.3 "
            "mean_value: 123.7",
            CAFFE__PHASE__TRAIN, "cuda");
}

TEST(random_crops_minus_a_mean_image_are_the_same_on_a_gpu)
{
    compare(format("crop_size: %d mirror: true scale: 0.1 mean_file: '%s'", CROP,
                   write_mean()),
            CAFFE__PHASE__TRAIN, "cuda");
}

TEST(central_crops_minus_a_mean_image_are_the_same_on_a_gpu)
{
    compare(format("crop_size: %d mean_file: '%s'", CROP, write_mean()),
            CAFFE__PHASE__TEST, "cuda");
}

TEST(parts_colours_noise_and_holes_are_the_same_on_a_gpu)
{
    compare(
        "crop_size: 5 mirror: true mean_value: 104 augment_param { min_area: 0.4 "
        "max_aspect: 1.5 rotate: 20 brightness: 0.3 saturation: 0.4 hue: 0.1 noise: 8 "
        "blur: 1 cutout: 2 }",
        CAFFE__PHASE__TRAIN, "cuda");
}

TEST(mixed_images_and_labels_are_the_same_on_a_gpu)
{
    compare(
        format("crop_size: %d mirror: true scale: 0.1 mean_file: '%s' augment_param { "
               "mixup: 0.4 classes: 11 }",
               CROP, write_mean()),
        CAFFE__PHASE__TRAIN, "cuda");
}
