/* image.h - the flags that Caffe's classify.py and detect.py have in common. */
#ifndef FIRE_TOOLS_FLAGS_IMAGE_H
#define FIRE_TOOLS_FLAGS_IMAGE_H
#include "base/text/options.h"
#include "net/image_net.h"

typedef struct image_flags {
    const char *model_def, *pretrained_model, *mean_file, *channel_swap;
    double      raw_scale, input_scale;
    bool        gpu;
} image_flags_t;

extern image_flags_t       image_flags;
extern const fire_option_t image_options[];

/* The net of the flags. mean_by_channel: of a mean image, subtract averages only. */
fire_status_t image_flags_open(bool mean_by_channel, fire_image_net_t *n_p);
void          image_flags_close(fire_image_net_t *n);
#endif
