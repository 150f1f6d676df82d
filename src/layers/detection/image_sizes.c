/* image_sizes.c - parser of image sizes. */
#include "layers/detection/image_sizes.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

/* A line "NAME HEIGHT WIDTH"; the name is not used. */
static fire_status_t read_line(const char *line, fire_image_sizes_t *list)
{
    fire_image_size_t size;

    if (sscanf(line, "%*s %d %d", &size.height, &size.width) != 2 || size.height < 1 ||
        size.width < 1)
        return FIRE_FAIL(FIRE_ERR_PARSE, "\"%.60s\" is not \"name height width\"",
                         line);
    FIRE_TRY(fire_grow(&list->size, &list->cap, list->n + 1, sizeof(*list->size)));
    list->size[list->n++] = size;
    return FIRE_OK;
}

fire_status_t fire_image_sizes_read(const char *path, fire_image_sizes_t *list)
{
    char         *text, *rest;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_file_read_text(path, &text));
    for (char *line = strtok_r(text, "\r\n", &rest); line != NULL && st >= 0;
         line       = strtok_r(NULL, "\r\n", &rest))
        st = read_line(line, list);
    fire_free(text);
    if (st >= 0 && list->n == 0)
        st = FIRE_FAIL(FIRE_ERR_PARSE, "holds no lines \"name height width\"");
    return st < 0 ? fire_error_prefix(st, "%s", path) : FIRE_OK;
}

fire_bbox_t fire_bbox_in_pixels(fire_bbox_t box, fire_image_size_t size)
{
    float w = (float)size.width, h = (float)size.height;

    box = fire_bbox_clip(box);
    return (fire_bbox_t){box.xmin * w, box.ymin * h, box.xmax * w + 1,
                         box.ymax * h + 1};
}
