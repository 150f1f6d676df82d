/* Pictures through a net whose scores are the mean of each channel. */
#include "net/image_net.h"
#include "nets.h"

#define INPUT(dims)                                                             \
    "layer { name: 'data' type: 'Input' top: 'data' input_param { shape {" dims \
    " } } } "
#define MEAN                                                           \
    "layer { name: 'mean' type: 'Pooling' bottom: 'data' top: 'mean' " \
    "pooling_param { pool: AVE global_pooling: true } }"
static const char text[] = INPUT("dim: 2 dim: 3 dim: 4 dim: 4") MEAN;

static const fire_image_options_t plain = {
    .mean_file = "", .channel_swap = "2,1,0", .raw_scale = 255, .input_scale = 1};

/* All pixels of channel c are c / 10 + x. */
static fire_picture_t picture(float x)
{
    static float   value[4 * 4 * 3];
    fire_picture_t p = {.height = 4, .width = 4, .channels = 3, .value = value};

    for (int i = 0; i < 16 * 3; i++)
        value[i] = (float)(i % 3) / 10 + x;
    return p;
}

TEST(scores_come_in_the_order_of_the_pictures)
{
    fire_net_t      *net = net_make(text, CAFFE__PHASE__TEST);
    fire_image_net_t n;

    CHECK_OK(fire_image_net_open(net, "net.prototxt", &plain, &n));
    for (int i = 0; i < 3; i++) { /* a full batch of two, and one that is not full */
        fire_picture_t p = picture((float)i / 100);

        CHECK_OK(fire_image_net_add(&n, &p));
    }
    CHECK_OK(fire_image_net_finish(&n));
    CHECK_EQ(n.nscore, 3);
    CHECK_EQ(n.classes, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(n.score[i * 3], 255 * (0.2 + i / 100.0), 1e-3); /* blue first */
        CHECK_NEAR(n.score[i * 3 + 2], 255 * (0.0 + i / 100.0), 1e-3);
    }
    fire_image_net_close(&n);
    fire_net_destroy(net);
}

TEST(options_that_make_no_sense_are_refused)
{
    fire_net_t          *net = net_make(text, CAFFE__PHASE__TEST);
    fire_image_options_t o   = plain;
    fire_image_net_t     n;

    o.channel_swap = "2,2,0";
    CHECK_FAILS(fire_image_net_open(net, "net.prototxt", &o, &n), FIRE_ERR_INVALID,
                "write each of 0, 1 and 2 once");
    o           = plain;
    o.raw_scale = 0;
    CHECK_FAILS(fire_image_net_open(net, "net.prototxt", &o, &n), FIRE_ERR_INVALID,
                "--raw_scale must not be 0");
    fire_net_destroy(net);
}

TEST(a_net_that_takes_no_images_is_refused)
{
    fire_net_t      *net = net_make(INPUT("dim: 2 dim: 5"), CAFFE__PHASE__TEST);
    fire_image_net_t n;

    CHECK_FAILS(fire_image_net_open(net, "net.prototxt", &plain, &n), FIRE_ERR_INVALID,
                "net.prototxt: the first blob must be an image");
    fire_net_destroy(net);
}
