/* picture.h - small pictures for pages, and text for them. */
#ifndef FIRE_DATA_CHECK_PICTURE_H
#define FIRE_DATA_CHECK_PICTURE_H
#include "base/text/text.h"
#include "data/decode.h"

/* Append an image of at most 96 pixels as HTML, with `key` as its title. Floats are
 * spread over black to white. Without PNG in this build a grey box stands for it. */
fire_status_t fire_check_picture(const fire_pixels_t *pixels, const char *key,
                                 fire_workspace_t *scratch, fire_str_t *html);

/* Append text with HTML's characters escaped. */
fire_status_t fire_html_text(fire_str_t *html, const char *text);
#endif
