/* voc.h - reads annotations in PASCAL VOC's XML: the objects of one image. */
#ifndef FIRE_DATA_CONVERT_VOC_H
#define FIRE_DATA_CONVERT_VOC_H
#include "base/error.h"

enum { FIRE_VOC_NAME = 64 };

typedef struct fire_voc_object {
    char  name[FIRE_VOC_NAME]; /* of its class */
    bool  difficult;
    float xmin, ymin, xmax, ymax; /* pixels */
    int   corners;                /* of these four that were given, as bits */
} fire_voc_object_t;

typedef struct fire_voc {
    int                width, height; /* 0: not given */
    fire_voc_object_t *object;        /* [nobject] */
    int64_t            nobject, cap;
} fire_voc_t;

/* Parts of an object (<part>) and anything unknown are skipped. `source`: for messages.
 * End *voc_p with fire_voc_fini(). */
fire_status_t fire_voc_parse(const char *text, size_t n, const char *source,
                             fire_voc_t *voc_p);
void          fire_voc_fini(fire_voc_t *voc);
#endif
