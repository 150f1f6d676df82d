/* image_list.h - text files with an image's path and its label on each line, the label
 * behind the last space. */
#ifndef FIRE_DATA_IMAGE_LIST_H
#define FIRE_DATA_IMAGE_LIST_H
#include "base/error.h"

typedef struct fire_image_item {
    const char *path; /* as written, without the root folder */
    int         label;
} fire_image_item_t;

typedef struct fire_image_list {
    char              *text; /* holds the paths */
    fire_image_item_t *item;
    int64_t            count, cap; /* count: at least 1 */
} fire_image_list_t;

/* Empty lines are skipped. */
fire_status_t fire_image_list_load(const char *file, fire_image_list_t *list_p);
void          fire_image_list_fini(fire_image_list_t *list);

/* Cut the next line out of *text (at '\n', '\r' before it goes too); NULL at the end. */
char *fire_line_cut(char **text);
#endif
