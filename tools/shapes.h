/* shapes.h - nets without their data: shapes come from --shape, from crop_size or from
 * the deploy net beside the file. */
#ifndef FIRE_TOOLS_SHAPES_H
#define FIRE_TOOLS_SHAPES_H
#include "base/options.h"
#include "net_flags.h"

typedef struct shapes {
    const fire_option_list_t *shape; /* BLOB=N,C,H,W each */
    int64_t                   batch; /* 0: as it is */
} shapes_t;

/* For net_flags_open(); arg is a shapes_t. */
fire_status_t shapes_apply(void *arg, Caffe__NetParameter *param);
#endif
