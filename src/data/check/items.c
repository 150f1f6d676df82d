/* items.c - opens what data layers read, and reads it item by item. */
#include "data/check/items.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "data/datum.h"

static bool exists(const char *folder, const char *file)
{
    char        path[4096];
    struct stat info;

    return snprintf(path, sizeof(path), "%s/%s", folder, file) < (int)sizeof(path) &&
           stat(path, &info) == 0;
}

/* Does the first word of the list name an HDF5 file? */
static fire_status_t lists_hdf5(const char *path, bool *is_p)
{
    char  *text;
    size_t n;

    FIRE_TRY(fire_file_read_text(path, &text));
    n     = strcspn(text, " \t\r\n");
    *is_p = (n > 3 && strncmp(text + n - 3, ".h5", 3) == 0) ||
            (n > 5 && strncmp(text + n - 5, ".hdf5", 5) == 0);
    fire_free(text);
    return FIRE_OK;
}

static fire_status_t open_list(const char *path, fire_items_t *s)
{
    bool hdf5;

    FIRE_TRY(lists_hdf5(path, &hdf5));
    if (hdf5) {
        s->kind = "list of HDF5 files";
        FIRE_TRY(FIRE_NEW(&s->name, 2));
        s->name[0] = (char *)s->options.data;
        s->name[1] = (char *)s->options.label;
        FIRE_TRY(fire_rows_open(path, s->name, 2, &s->rows));
        s->count = fire_rows_count(s->rows);
        return FIRE_OK;
    }
    s->kind = "list of images";
    FIRE_TRY(fire_image_list_load(path, &s->list));
    s->count = s->list.count;
    return FIRE_OK;
}

fire_status_t fire_items_open(const char *path, const fire_items_options_t *options,
                              fire_items_t *items_p)
{
    fire_items_t s = {.options = *options};
    struct stat  info;

    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        s.kind = exists(path, "data.mdb") ? "LMDB" : "LevelDB";
        FIRE_TRY(fire_source_open(s.kind, path, &s.source));
        s.count = s.source->count;
    } else {
        fire_status_t st = open_list(path, &s);

        if (st < 0) {
            fire_free(s.name);
            return st;
        }
    }
    *items_p = s;
    return FIRE_OK;
}

void fire_items_close(fire_items_t *s)
{
    fire_source_close(s->source);
    fire_image_list_fini(&s->list);
    fire_rows_close(s->rows);
    fire_free(s->name);
}

/* ---- one item ---- */

static fire_status_t load_record(fire_items_t *s, int64_t i, fire_workspace_t *scratch,
                                 fire_item_t *item)
{
    fire_record_t r;
    fire_datum_t  d;

    FIRE_TRY(fire_source_read(s->source, i, &scratch->record, &r));
    FIRE_TRY(fire_datum_parse(r.bytes, r.n, &d));
    item->label  = d.label;
    item->nlabel = 1;
    return fire_datum_decode(&d, FIRE_COLOR_ASIS, scratch, &item->pixels);
}

static fire_status_t load_file(fire_items_t *s, int64_t i, fire_workspace_t *scratch,
                               fire_item_t *item)
{
    char path[4096];

    item->label  = s->list.item[i].label;
    item->nlabel = 1;
    if (snprintf(path, sizeof(path), "%s%s", s->options.root, s->list.item[i].path) >=
        (int)sizeof(path))
        return FIRE_FAIL(FIRE_ERR_INVALID, "the path is too long");
    return fire_image_file_decode(path, FIRE_COLOR_ASIS, 0, 0, scratch, &item->pixels);
}

/* A row of (C, H, W) is an image; any other one is a single line of numbers. */
static fire_status_t load_row(fire_items_t *s, int64_t i, fire_item_t *item)
{
    const fire_rows_set_t *set = fire_rows_set(s->rows, 0);
    const float           *row[2];
    fire_extent_t          e = {1, 1, (int)set->count};

    FIRE_TRY(fire_rows_read(s->rows, 0, false, i, row));
    if (set->ndim == 3)
        e = (fire_extent_t){(int)set->dim[0], (int)set->dim[1], (int)set->dim[2]};
    item->pixels = fire_pixels_planar(NULL, row[0], e);
    item->nlabel = fire_rows_set(s->rows, 1)->count;
    item->label  = item->nlabel > 0 ? (double)row[1][0] : 0;
    for (int64_t k = 0; k < set->count; k++)
        if (!isfinite(row[0][k]))
            return FIRE_FAIL(FIRE_ERR_PARSE, "value %lld is not finite", (long long)k);
    return FIRE_OK;
}

fire_status_t fire_items_load(fire_items_t *s, int64_t i, fire_workspace_t *scratch,
                              char key[FIRE_KEY_TEXT], fire_item_t *item_p)
{
    fire_item_t item = {0};

    if (s->source != NULL) {
        s->source->ops->key(s->source, i, key);
        FIRE_TRY(load_record(s, i, scratch, &item));
    } else if (s->rows != NULL) {
        snprintf(key, FIRE_KEY_TEXT, "row %lld", (long long)i);
        FIRE_TRY(load_row(s, i, &item));
    } else {
        fire_key_text(s->list.item[i].path, strlen(s->list.item[i].path), key);
        FIRE_TRY(load_file(s, i, scratch, &item));
    }
    *item_p = item;
    return FIRE_OK;
}
