/* items.h - images with labels one after another, whatever they are stored in. */
#ifndef FIRE_DATA_CHECK_ITEMS_H
#define FIRE_DATA_CHECK_ITEMS_H
#include "data/decode.h"
#include "data/hdf5_rows.h"
#include "data/image_list.h"
#include "data/source/source.h"

typedef struct fire_items_options {
    const char *root;         /* put before the paths of an image list */
    const char *data, *label; /* datasets of HDF5 files */
} fire_items_options_t;

typedef struct fire_items {
    const char          *kind;
    int64_t              count;
    fire_items_options_t options;
    fire_source_t       *source; /* or */
    fire_image_list_t    list;   /* or */
    fire_rows_t         *rows;
    char               **name; /* [2] of its datasets; owned */
} fire_items_t;

typedef struct fire_item {
    fire_pixels_t pixels; /* valid until the next load with the same scratch */
    double        label;
    int64_t       nlabel; /* numbers of the label; `label` is the first */
} fire_item_t;

/* Open a directory of LMDB or LevelDB, a list of images, or a list of HDF5 files. */
fire_status_t fire_items_open(const char *path, const fire_items_options_t *options,
                              fire_items_t *items_p);
void          fire_items_close(fire_items_t *s);

/* Load item i. Its key is set even if this fails. */
fire_status_t fire_items_load(fire_items_t *s, int64_t i, fire_workspace_t *scratch,
                              char key[FIRE_KEY_TEXT], fire_item_t *item_p);
#endif
