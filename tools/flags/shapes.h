/* shapes.h - nets without their data: shapes come from --shape, from crop_size or from
 * the deploy net beside the file. */
#ifndef FIRE_TOOLS_FLAGS_SHAPES_H
#define FIRE_TOOLS_FLAGS_SHAPES_H
#include "base/text/options.h"
#include "flags/net.h"

typedef struct shapes {
    const fire_option_list_t *shape; /* BLOB=N,C,H,W each */
    int64_t                   batch; /* 0: as it is */
} shapes_t;

/* For net_flags_open(); arg is a shapes_t. A batch that no layer takes is an error. */
fire_status_t shapes_apply(void *arg, Caffe__NetParameter *param);

/* The batch_size of a data layer of any kind; NULL: it gives none. */
uint32_t *shapes_batch_size(const Caffe__LayerParameter *l);
#endif
