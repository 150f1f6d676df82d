/* page.c - inserts the data of a report into the page. */
#include "report/page.h"

#include <string.h>

/* The place in the page where the data go. */
static const char mark[] = "@DATA@";

/* Append JSON for a script element, where "</script" would end the element: every '<'
 * is escaped. A '<' only occurs in JSON strings, where \u003c means the same. */
static fire_status_t add_escaped(fire_str_t *out, const char *json)
{
    while (*json != '\0') {
        size_t n = strcspn(json, "<");

        FIRE_TRY(fire_str_add(out, json, n));
        json += n;
        if (*json == '\0') break;
        FIRE_TRY(fire_str_add(out, "\\u003c", 6));
        json++;
    }
    return FIRE_OK;
}

static fire_status_t add_page(fire_str_t *out, const char *data)
{
    const char *page = (const char *)fire_page, *at = strstr(page, mark);

    FIRE_TRY(fire_str_add(out, page, (size_t)(at - page)));
    FIRE_TRY(add_escaped(out, data));
    at += sizeof(mark) - 1;
    return fire_str_add(out, at, fire_page_size - (size_t)(at - page));
}

fire_status_t fire_page_fill(const char *data, char **page_p, size_t *n_p)
{
    fire_str_t    out = {0};
    fire_status_t st  = add_page(&out, data);

    *n_p = (size_t)out.n;
    if (st >= 0) return fire_str_take(&out, page_p);
    fire_str_fini(&out);
    return st;
}

fire_status_t fire_page_make(const fire_report_t *report, char **page_p, size_t *n_p)
{
    fire_json_writer_t w = {0};
    fire_status_t      st;

    fire_report_write(&w, report);
    st = w.status;
    if (st >= 0) st = fire_page_fill(w.out.text, page_p, n_p);
    fire_json_writer_fini(&w);
    return st;
}
