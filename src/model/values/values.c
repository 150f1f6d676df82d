/* values.c - looks up values in a tree by their keys, and finds keys that nobody asked
 * for. */
#include "model/values/values.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include "base/alloc.h"
#include "base/text/text.h"

fire_status_t fire_values_create(const char *name, fire_values_t **v_p)
{
    fire_values_t *v;
    fire_status_t  st;

    FIRE_TRY(FIRE_NEW(&v, 1));
    st = fire_strdup(name, &v->name);
    if (st < 0)
        fire_free(v);
    else
        *v_p = v;
    return st;
}

void fire_values_destroy(fire_values_t *v)
{
    if (v == NULL) return;
    for (int64_t i = 0; i < v->n; i++) {
        fire_free(v->item[i].key);
        fire_free(v->item[i].text);
        fire_values_destroy(v->item[i].group);
    }
    for (int64_t i = 0; i < v->nknown; i++)
        fire_free(v->known[i]);
    fire_free(v->item);
    fire_free(v->known);
    fire_free(v->name);
    fire_free(v);
}

/* ---- keys that were asked for ---- */

static bool is_known(const fire_values_t *v, const char *key)
{
    for (int64_t i = 0; i < v->nknown; i++)
        if (strcmp(v->known[i], key) == 0) return true;
    return false;
}

/* Remember that somebody reads this key. Without memory for that, the key would be
 * called unknown later: a failure too. */
static void learn(fire_values_t *v, const char *key)
{
    if (is_known(v, key)) return;
    if (fire_grow(&v->known, &v->known_cap, v->nknown + 1, sizeof(*v->known)) < 0)
        return;
    if (fire_strdup(key, &v->known[v->nknown]) == FIRE_OK) v->nknown++;
}

static const char *known_at(const void *list, int i)
{
    const fire_values_t *v = list;

    return i < v->nknown ? v->known[i] : NULL;
}

static fire_status_t fail_unknown(const fire_values_t *v, const char *key)
{
    const char *near = fire_name_nearest(key, known_at, v);
    char        known[320];

    if (near != NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s has no key \"%s\"; did you mean \"%s\"?",
                         v->name, key, near);
    if (v->nknown == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s has no key \"%s\"; it has no keys",
                         v->name, key);
    fire_name_list(known_at, v, known, sizeof(known));
    return FIRE_FAIL(FIRE_ERR_INVALID, "%s has no key \"%s\"; it has: %s", v->name, key,
                     known);
}

fire_status_t fire_values_check(const fire_values_t *v)
{
    for (int64_t i = 0; i < v->n; i++) {
        if (!is_known(v, v->item[i].key)) return fail_unknown(v, v->item[i].key);
        if (v->item[i].group != NULL) FIRE_TRY(fire_values_check(v->item[i].group));
    }
    return FIRE_OK;
}

/* All keys of a group, and of those inside. */
static void learn_all(fire_values_t *v)
{
    for (int64_t i = 0; i < v->n; i++) {
        learn(v, v->item[i].key);
        if (v->item[i].group != NULL) learn_all(v->item[i].group);
    }
}

void fire_values_trust(fire_values_t *v, const char *key)
{
    learn(v, key);
    for (int64_t i = 0; i < v->n; i++)
        if (v->item[i].group != NULL && strcmp(v->item[i].key, key) == 0)
            learn_all(v->item[i].group);
}

/* ---- looking up ---- */

int fire_values_count(fire_values_t *v, const char *key)
{
    int n = 0;

    learn(v, key);
    for (int64_t i = 0; i < v->n; i++)
        n += strcmp(v->item[i].key, key) == 0;
    return n;
}

/* The i-th value of a key, or NULL. */
static const fire_value_t *find(fire_values_t *v, const char *key, int i)
{
    learn(v, key);
    for (int64_t k = 0; k < v->n; k++)
        if (strcmp(v->item[k].key, key) == 0 && i-- == 0) return &v->item[k];
    return NULL;
}

/* The only value of a key; *item_p is NULL if it is not given. */
static fire_status_t find_one(fire_values_t *v, const char *key,
                              const fire_value_t **item_p)
{
    int n = fire_values_count(v, key);

    if (n > 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: %s is given %d times, it takes one",
                         v->name, key, n);
    *item_p = find(v, key, 0);
    return FIRE_OK;
}

static fire_status_t find_at(fire_values_t *v, const char *key, int i,
                             const fire_value_t **item_p)
{
    *item_p = find(v, key, i);
    if (*item_p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: value %d of %s is missing", v->name,
                         i + 1, key);
    return FIRE_OK;
}

static fire_status_t fail_kind(const fire_values_t *v, const fire_value_t *item,
                               const char *what)
{
    const char *text  = item->kind == FIRE_VALUE_GROUP ? "{ ... }" : item->text;
    const char *quote = item->kind == FIRE_VALUE_GROUP ? "" : "\"";

    return FIRE_FAIL(FIRE_ERR_INVALID, "%s: %s needs %s, not %s%.60s%s", v->name,
                     item->key, what, quote, text, quote);
}

/* The value of the digits of an integer: decimal, 0x... or octal 0... */
static bool integer_value(const char *at, uint64_t *value_p)
{
    uint64_t value = 0, base = 10;

    if (at[0] == '0' && at[1] != '\0') {
        base = at[1] == 'x' || at[1] == 'X' ? 16 : 8;
        at += base == 16 ? 2 : 1;
    }
    for (; *at != '\0'; at++) {
        int digit = fire_hex_value(*at);

        if (digit < 0 || (uint64_t)digit >= base ||
            __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *value_p = value;
    return true;
}

static fire_status_t to_int(const fire_values_t *v, const fire_value_t *item,
                            int64_t *value_p)
{
    bool     minus = item->kind == FIRE_VALUE_NUMBER && item->text[0] == '-';
    uint64_t most  = (uint64_t)INT64_MAX + minus, value;

    if (item->kind != FIRE_VALUE_NUMBER || !integer_value(item->text + minus, &value) ||
        value > most)
        return fail_kind(v, item, "an integer");
    *value_p = (int64_t)(minus ? -value : value);
    return FIRE_OK;
}

static fire_status_t to_number(const fire_values_t *v, const fire_value_t *item,
                               double *value_p)
{
    const char *text   = item->text != NULL ? item->text : "";
    bool        minus  = text[0] == '-';
    const char *digits = text + minus;
    size_t      n      = strlen(digits);
    uint64_t    whole;
    double      value;

    if (item->kind == FIRE_VALUE_WORD && strcasecmp(digits, "nan") == 0)
        value = NAN;
    else if (item->kind == FIRE_VALUE_WORD &&
             (strcasecmp(digits, "inf") == 0 || strcasecmp(digits, "infinity") == 0))
        value = INFINITY;
    else if (item->kind == FIRE_VALUE_NUMBER && integer_value(digits, &whole))
        value = (double)whole;
    else if (item->kind != FIRE_VALUE_NUMBER ||
             !fire_number_parse(digits, n - ((digits[n - 1] | 0x20) == 'f'), &value))
        return fail_kind(v, item, "a number");
    *value_p = minus ? -value : value;
    return FIRE_OK;
}

static fire_status_t to_text(const fire_values_t *v, const fire_value_t *item,
                             const char **text_p)
{
    if (item->kind != FIRE_VALUE_TEXT && item->kind != FIRE_VALUE_WORD)
        return fail_kind(v, item, "a text");
    *text_p = item->text;
    return FIRE_OK;
}

fire_status_t fire_values_int(fire_values_t *v, const char *key, int64_t preset,
                              int64_t *value_p)
{
    const fire_value_t *item;

    FIRE_TRY(find_one(v, key, &item));
    if (item != NULL) return to_int(v, item, value_p);
    *value_p = preset;
    return FIRE_OK;
}

fire_status_t fire_values_number(fire_values_t *v, const char *key, double preset,
                                 double *value_p)
{
    const fire_value_t *item;

    FIRE_TRY(find_one(v, key, &item));
    if (item != NULL) return to_number(v, item, value_p);
    *value_p = preset;
    return FIRE_OK;
}

fire_status_t fire_values_text(fire_values_t *v, const char *key, const char *preset,
                               const char **text_p)
{
    const fire_value_t *item;

    FIRE_TRY(find_one(v, key, &item));
    if (item != NULL) return to_text(v, item, text_p);
    *text_p = preset;
    return FIRE_OK;
}

/* The spellings that text format accepts. */
fire_status_t fire_values_bool(fire_values_t *v, const char *key, bool preset,
                               bool *value_p)
{
    static const char *const words[] = {"false", "False", "f", "0",
                                        "true",  "True",  "t", "1"};
    const fire_value_t      *item;

    FIRE_TRY(find_one(v, key, &item));
    if (item == NULL) {
        *value_p = preset;
        return FIRE_OK;
    }
    for (int i = 0; i < 8; i++)
        if (item->kind <= FIRE_VALUE_WORD && strcmp(item->text, words[i]) == 0) {
            *value_p = i >= 4;
            return FIRE_OK;
        }
    return fail_kind(v, item, "true or false");
}

fire_status_t fire_values_int_at(fire_values_t *v, const char *key, int i,
                                 int64_t *value_p)
{
    const fire_value_t *item;

    FIRE_TRY(find_at(v, key, i, &item));
    return to_int(v, item, value_p);
}

fire_status_t fire_values_number_at(fire_values_t *v, const char *key, int i,
                                    double *value_p)
{
    const fire_value_t *item;

    FIRE_TRY(find_at(v, key, i, &item));
    return to_number(v, item, value_p);
}

fire_status_t fire_values_text_at(fire_values_t *v, const char *key, int i,
                                  const char **text_p)
{
    const fire_value_t *item;

    FIRE_TRY(find_at(v, key, i, &item));
    return to_text(v, item, text_p);
}

fire_status_t fire_values_group(fire_values_t *v, const char *key, int i,
                                fire_values_t **group_p)
{
    const fire_value_t *item = find(v, key, i);

    if (item != NULL && item->kind != FIRE_VALUE_GROUP)
        return fail_kind(v, item, "{ ... }");
    *group_p = item != NULL ? item->group : NULL;
    return FIRE_OK;
}
