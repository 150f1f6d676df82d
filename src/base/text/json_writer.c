/* json_writer.c - the JSON writer. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text/json.h"

static void add(fire_json_writer_t *w, const char *text, size_t n)
{
    if (w->status == FIRE_OK) w->status = fire_str_add(&w->out, text, n);
}

static void new_line(fire_json_writer_t *w)
{
    if (w->indent > 0 && w->status == FIRE_OK)
        w->status = fire_str_printf(&w->out, "\n%*s", w->depth * w->indent, "");
}

static void add_quoted(fire_json_writer_t *w, const char *text)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    char              code[8];

    add(w, "\"", 1);
    for (; *text != '\0'; text++) {
        const char *escape = strchr(from, *text);

        if (escape != NULL) {
            snprintf(code, sizeof(code), "\\%c", to[escape - from]);
            add(w, code, 2);
        } else if ((unsigned char)*text < ' ') {
            snprintf(code, sizeof(code), "\\u%04x", *text);
            add(w, code, 6);
        } else {
            add(w, text, 1);
        }
    }
    add(w, "\"", 1);
}

/* Write what precedes a value: comma, line break, name. */
static void start_member(fire_json_writer_t *w, const char *key)
{
    if (w->more) add(w, ",", 1);
    if (w->depth > 0) new_line(w);
    w->more = true;
    if (key == NULL) return;
    add_quoted(w, key);
    add(w, ": ", w->indent > 0 ? 2 : 1);
}

void fire_json_open(fire_json_writer_t *w, const char *key, char bracket)
{
    start_member(w, key);
    add(w, &bracket, 1);
    w->depth++;
    w->more = false;
}

void fire_json_close(fire_json_writer_t *w, char bracket)
{
    bool empty = !w->more;

    w->depth--;
    if (!empty) new_line(w);
    add(w, &bracket, 1);
    w->more = true;
}

void fire_json_add_raw(fire_json_writer_t *w, const char *key, const char *json)
{
    start_member(w, key);
    add(w, json, strlen(json));
}

void fire_json_add_string(fire_json_writer_t *w, const char *key, const char *text)
{
    start_member(w, key);
    add_quoted(w, text);
}

void fire_json_add_number(fire_json_writer_t *w, const char *key, double value)
{
    char digits[FIRE_NUMBER_MAX];

    fire_number_print(value, digits);
    fire_json_add_raw(w, key, isfinite(value) ? digits : "null");
}

void fire_json_add_float(fire_json_writer_t *w, const char *key, float value)
{
    char digits[FIRE_NUMBER_MAX];

    fire_number_print_float(value, digits);
    fire_json_add_raw(w, key, isfinite(value) ? digits : "null");
}

void fire_json_add_rounded(fire_json_writer_t *w, const char *key, double value,
                           int digits)
{
    char text[FIRE_NUMBER_MAX];

    fire_number_print_rounded(value, digits, text);
    fire_json_add_raw(w, key, isfinite(value) ? text : "null");
}

void fire_json_add_int(fire_json_writer_t *w, const char *key, int64_t value)
{
    char digits[FIRE_NUMBER_MAX];

    snprintf(digits, sizeof(digits), "%lld", (long long)value);
    fire_json_add_raw(w, key, digits);
}

void fire_json_add_bool(fire_json_writer_t *w, const char *key, bool value)
{
    fire_json_add_raw(w, key, value ? "true" : "false");
}

void fire_json_add_null(fire_json_writer_t *w, const char *key)
{
    fire_json_add_raw(w, key, "null");
}

void fire_json_writer_fini(fire_json_writer_t *w)
{
    fire_str_fini(&w->out);
}
