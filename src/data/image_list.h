/* image_list.h - reads text files that name an image and its label on each line:
 * "path/of/image.jpg 7". The label follows the last space, so that paths may hold
 * spaces. */
#ifndef FIRE_DATA_IMAGE_LIST_H
#define FIRE_DATA_IMAGE_LIST_H
#include "base/error.h"

typedef struct fire_image_item {
    const char *path; /* as in the file, without the root folder; points into `text` */
    int         label;
} fire_image_item_t;

typedef struct fire_image_list {
    char              *text; /* contents of the file, cut into paths */
    fire_image_item_t *item;
    int64_t            count; /* images, at least 1 */
    int64_t            cap;
} fire_image_list_t;

/* Read the list; empty lines are skipped. End *list_p with fire_image_list_fini(). A
 * line of another form is an error that names file and line. */
fire_status_t fire_image_list_load(const char *file, fire_image_list_t *list_p);
void          fire_image_list_fini(fire_image_list_t *list);

/* Return the next line of *text and end it with '\0' (at '\n'; a '\r' before it goes
 * too); *text moves to the line after it. NULL at the end of the text. */
char *fire_line_cut(char **text);
#endif
