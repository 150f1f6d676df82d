/* fuzz_values.c - settings of plug-in layers: what is read can be printed, and reading
 * that again prints the same; any value can be asked for in any way. */
#include <string.h>
#include "fuzz.h"
#include "model/values/values.h"

static fire_status_t read_text(const char *text, size_t n, fire_values_t **v_p)
{
    fire_status_t st;

    MUST(fire_values_create("fuzz", v_p) == FIRE_OK);
    st = fire_values_parse(*v_p, text, n, "fuzz");
    if (st < 0) fire_values_destroy(*v_p);
    return st;
}

static void ask(fire_values_t *v)
{
    for (int64_t i = 0; i < v->n; i++) {
        const char    *key = v->item[i].key, *text;
        int            n   = fire_values_count(v, key);
        int64_t        whole;
        double         number;
        bool           yes;
        fire_values_t *group;

        MUST(n > 0);
        IGNORE(fire_values_int(v, key, 0, &whole));
        IGNORE(fire_values_number(v, key, 0, &number));
        IGNORE(fire_values_bool(v, key, false, &yes));
        IGNORE(fire_values_text(v, key, "", &text));
        IGNORE(fire_values_int_at(v, key, n - 1, &whole));
        IGNORE(fire_values_number_at(v, key, n - 1, &number));
        MUST(fire_values_text_at(v, key, n, &text) < 0);
        if (fire_values_group(v, key, n - 1, &group) == FIRE_OK) ask(group);
        if (v->item[i].group != NULL) ask(v->item[i].group);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fire_values_t *v, *back;
    fire_str_t     once = {0}, twice = {0};

    if (read_text((const char *)data, n, &v) < 0) return 0;
    MUST(fire_values_print(v, 0, &once) == FIRE_OK);
    MUST(read_text(once.text, (size_t)once.n, &back) == FIRE_OK);
    MUST(fire_values_print(back, 0, &twice) == FIRE_OK);
    MUST(once.n == twice.n && memcmp(once.text, twice.text, (size_t)once.n) == 0);
    ask(v);
    MUST(fire_values_check(v) == FIRE_OK);
    fire_values_destroy(v);
    fire_values_destroy(back);
    fire_str_fini(&once);
    fire_str_fini(&twice);
    return 0;
}
