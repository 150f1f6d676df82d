/* im2col and its reverse on small planes. */
#include "layers/conv/window.h"
#include "test.h"

static fire_window_t window(int axes, int64_t kernel, int64_t stride, int64_t pad,
                            int64_t dilation)
{
    fire_window_t w = {.axes = axes};

    for (int i = 0; i < axes; i++) {
        w.kernel[i]   = kernel;
        w.stride[i]   = stride;
        w.pad[i]      = pad;
        w.dilation[i] = dilation;
    }
    return w;
}

/* What im2col means, element by element. */
static float element(const fire_window_t *w, const int64_t *in, const float *image,
                     int64_t c, const int64_t *kernel, const int64_t *place)
{
    int64_t at = c;

    for (int i = 0; i < w->axes; i++) {
        int64_t p = place[i] * w->stride[i] - w->pad[i] + kernel[i] * w->dilation[i];

        if (p < 0 || p >= in[i]) return 0;
        at = at * in[i] + p;
    }
    return image[at];
}

TEST(im2col_takes_every_patch_of_a_plane_and_zeros_outside)
{
    static const int64_t in[] = {5, 6};
    float                image[60], columns[2000];

    for (int i = 0; i < 60; i++)
        image[i] = (float)(i + 1);
    for (int64_t k = 1; k <= 3; k++)
        for (int64_t v = 0; v < 8; v++) {
            fire_window_t w = window(2, k, 1 + v % 2, v / 2 % 2 * 2, 1 + v / 4);
            int64_t       out[2], n = 0;

            if (fire_window_places(&w, in, out) != FIRE_OK) continue;
            fire_im2col(&w, 2, in, out, image, columns);
            for (int64_t c = 0; c < 2; c++)
                for (int64_t kk = 0; kk < k * k; kk++)
                    for (int64_t p = 0; p < out[0] * out[1]; p++, n++)
                        CHECK_NEAR(columns[n],
                                   element(&w, in, image, c,
                                           (int64_t[]){kk / k, kk % k},
                                           (int64_t[]){p / out[1], p % out[1]}),
                                   0.0);
        }
}

TEST(col2im_counts_how_often_a_pixel_was_seen)
{
    static const int64_t in[] = {3, 4, 3};
    fire_window_t        w    = window(3, 2, 1, 0, 1);
    float                columns[8 * 12], image[36], total = 0;
    int64_t              out[3];

    CHECK_OK(fire_window_places(&w, in, out));
    CHECK_EQ(out[0] * out[1] * out[2], 12);
    for (int i = 0; i < 8 * 12; i++)
        columns[i] = 1;
    fire_col2im(&w, 1, in, out, columns, image);
    for (int i = 0; i < 36; i++)
        total += image[i];
    CHECK_NEAR(total, 8 * 12, 0.0);
    CHECK_NEAR(image[0], 1, 0.0);
    CHECK_NEAR(image[12 + 3 + 1], 8, 0.0); /* (1, 1, 1) lies under every corner */
}

TEST(a_kernel_larger_than_the_padded_input_is_refused)
{
    fire_window_t w  = window(1, 3, 1, 0, 3);
    int64_t       in = 6, out;

    CHECK_FAILS(fire_window_places(&w, &in, &out), FIRE_ERR_INVALID,
                "larger than the input");
    in = 7;
    CHECK_OK(fire_window_places(&w, &in, &out));
    CHECK_EQ(out, 1);
}
