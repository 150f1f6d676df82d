/* fuzz_json.c - JSON: what is read, written out and read again is the same. */
#include "base/text/json.h"

#include <math.h>
#include <string.h>
#include "fuzz.h"

static void write_value(fire_json_writer_t *w, const fire_json_t *j)
{
    bool object = j->kind == FIRE_JSON_OBJECT;

    switch (j->kind) {
    case FIRE_JSON_NULL:
        fire_json_add_null(w, j->key);
        break;
    case FIRE_JSON_BOOL:
        fire_json_add_bool(w, j->key, j->boolean);
        break;
    case FIRE_JSON_NUMBER:
        fire_json_add_number(w, j->key, j->number);
        break;
    case FIRE_JSON_STRING:
        fire_json_add_string(w, j->key, j->string);
        break;
    default:
        fire_json_open(w, j->key, object ? '{' : '[');
        for (int64_t i = 0; i < j->n; i++)
            write_value(w, &j->item[i]);
        fire_json_close(w, object ? '}' : ']');
    }
}

static void check_same(const fire_json_t *a, const fire_json_t *b)
{
    if (a->kind == FIRE_JSON_NUMBER && isinf(a->number)) {
        MUST(b->kind == FIRE_JSON_NULL); /* 1e999: JSON has no infinity */
        return;
    }
    MUST(a->kind == b->kind && a->n == b->n && a->boolean == b->boolean);
    MUST(a->number == b->number);
    MUST((a->key == NULL) == (b->key == NULL));
    MUST(a->key == NULL || strcmp(a->key, b->key) == 0);
    MUST(a->string == NULL || strcmp(a->string, b->string) == 0);
    for (int64_t i = 0; i < a->n; i++)
        check_same(&a->item[i], &b->item[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fire_json_writer_t w = {.indent = (int)(n % 3)};
    fire_json_t       *json, *back;

    if (fire_json_parse((const char *)data, n, "fuzz", &json) < 0) return 0;
    write_value(&w, json);
    MUST(w.status == FIRE_OK);
    MUST(fire_json_parse(w.out.text, (size_t)w.out.n, "again", &back) == FIRE_OK);
    check_same(json, back);
    fire_json_free(json);
    fire_json_free(back);
    fire_json_writer_fini(&w);
    return 0;
}
