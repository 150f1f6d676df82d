/* images.h - the image targets differ in their corpus: each begins with files of its
 * own format. */
#include "data/image/image.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fire_buffer_t pixels, resized; /* grow, and are used again */
    fire_pixels_t        p, small;
    unsigned             sum = 0;

    for (int color = FIRE_COLOR_ASIS; color <= FIRE_COLOR_GRAY; color++) {
        if (fire_image_decode(data, n, (fire_color_t)color, &pixels, &p) < 0) continue;
        if (color == FIRE_COLOR_BGR) MUST(p.extent.channels == 3);
        if (color == FIRE_COLOR_GRAY) MUST(p.extent.channels == 1);
        for (int64_t i = 0; i < fire_extent_count(p.extent); i++)
            sum += p.bytes[i];
        MUST(fire_image_resize(&p, 5, 7, &resized, &small) == FIRE_OK);
    }
    return sum == UINT32_MAX; /* keeps the reads */
}
