/* json.h - reads and writes JSON: run logs, reports, case files, machine files. */
#ifndef FIRE_BASE_TEXT_JSON_H
#define FIRE_BASE_TEXT_JSON_H
#include "base/text/text.h"

typedef enum fire_json_kind {
    FIRE_JSON_NULL,
    FIRE_JSON_BOOL,
    FIRE_JSON_NUMBER,
    FIRE_JSON_STRING,
    FIRE_JSON_ARRAY,
    FIRE_JSON_OBJECT,
} fire_json_kind_t;

/* A value; arrays and objects own their items. */
typedef struct fire_json {
    fire_json_kind_t  kind;
    int               line; /* of the file, for messages about its contents */
    char             *key;  /* of a member of an object; else NULL */
    bool              boolean;
    double            number;
    char             *string; /* UTF-8, ends with a zero byte */
    struct fire_json *item;   /* [n] of an array or object, in file order */
    int64_t           n, cap;
} fire_json_t;

/* Read one value; errors begin with "file:line:col: ". Free with fire_json_free(). */
fire_status_t fire_json_parse(const char *text, size_t n, const char *file,
                              fire_json_t **json_p);
fire_status_t fire_json_load(const char *path, fire_json_t **json_p);
void          fire_json_free(fire_json_t *json); /* NULL is allowed */

/* The last member of this name; NULL if there is none, or json is NULL or no object. */
const fire_json_t *fire_json_get(const fire_json_t *json, const char *key);

/* Get a member; fail unless it exists and has this kind. */
fire_status_t fire_json_want(const fire_json_t *json, const char *key,
                             fire_json_kind_t kind, const fire_json_t **item_p);
/* A member, or `other` if it is missing or of another kind. */
double      fire_json_number_or(const fire_json_t *json, const char *key, double other);
const char *fire_json_string_or(const fire_json_t *json, const char *key,
                                const char *other);
bool        fire_json_bool_or(const fire_json_t *json, const char *key, bool other);

/* Writer; {0} is an empty one. indent > 0 writes one member per line. `key` is the
 * member's name in an object, NULL in an array and at the top. After a failure nothing
 * more is written: look at `status` once, at the end. NaN and infinity, which JSON does
 * not have, become null. */
typedef struct fire_json_writer {
    fire_str_t    out;
    int           indent;
    int           depth;
    bool          more; /* this level has a member: write a comma before the next */
    fire_status_t status;
} fire_json_writer_t;

void fire_json_open(fire_json_writer_t *w, const char *key, char bracket); /* { or [ */
void fire_json_close(fire_json_writer_t *w, char bracket);                 /* } or ] */
void fire_json_add_string(fire_json_writer_t *w, const char *key, const char *text);
void fire_json_add_number(fire_json_writer_t *w, const char *key, double value);
void fire_json_add_float(fire_json_writer_t *w, const char *key, float value);
void fire_json_add_rounded(fire_json_writer_t *w, const char *key, double value,
                           int digits); /* significant ones */
void fire_json_add_int(fire_json_writer_t *w, const char *key, int64_t value);
void fire_json_add_bool(fire_json_writer_t *w, const char *key, bool value);
void fire_json_add_null(fire_json_writer_t *w, const char *key);
void fire_json_add_raw(fire_json_writer_t *w, const char *key, const char *json);
void fire_json_writer_fini(fire_json_writer_t *w);
#endif
