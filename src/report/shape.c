/* shape.c - a recursive parser of shapes that compares a value on the way. */
#include "report/shape.h"

#include <string.h>

/* fits() and skip() move *shape past what they have read. Shapes are constants of the
 * program and never malformed. */
static bool fits(const fire_json_t *json, const char **shape);

/* Move past a shape without comparing. */
static void skip(const char **shape)
{
    int depth = 0;

    do {
        char c = *(*shape)++;

        depth += strchr("[({", c) != NULL;
        depth -= strchr("])}", c) != NULL;
    } while (depth > 0);
}

/* Every element must fit the shape inside of [ ]. */
static bool fits_array(const fire_json_t *json, const char **shape)
{
    const char *each = *shape;
    bool        ok   = json->kind == FIRE_JSON_ARRAY;

    for (int64_t i = 0; ok && i < json->n; i++) {
        const char *again = each;

        ok = fits(&json->item[i], &again);
    }
    skip(shape);
    (*shape)++; /* ] */
    return ok;
}

/* As many elements as shapes inside of ( ). */
static bool fits_tuple(const fire_json_t *json, const char **shape)
{
    bool    ok = json->kind == FIRE_JSON_ARRAY;
    int64_t i  = 0;

    while (**shape != ')') {
        if (ok && i < json->n)
            ok = fits(&json->item[i], shape);
        else
            skip(shape);
        i++;
        *shape += **shape == ' ';
    }
    (*shape)++;
    return ok && i == json->n;
}

/* All members of the shape, in any order; others are allowed. */
static bool fits_object(const fire_json_t *json, const char **shape)
{
    bool ok = json->kind == FIRE_JSON_OBJECT;

    while (**shape != '}') {
        size_t             n = strcspn(*shape, ":");
        char               key[32];
        const fire_json_t *item;
        bool               fine = true;

        memcpy(key, *shape, n);
        key[n] = '\0';
        *shape += n + 1;
        item = fire_json_get(json, key);
        if (item != NULL)
            fine = fits(item, shape);
        else
            skip(shape);
        if (**shape == '?')
            (*shape)++;
        else
            fine = fine && item != NULL;
        ok = ok && fine;
        *shape += **shape == ' ';
    }
    (*shape)++;
    return ok;
}

static bool fits(const fire_json_t *json, const char **shape)
{
    switch (*(*shape)++) {
    case 's':
        return json->kind == FIRE_JSON_STRING;
    case 'n':
        return json->kind == FIRE_JSON_NUMBER || json->kind == FIRE_JSON_NULL;
    case '[':
        return fits_array(json, shape);
    case '(':
        return fits_tuple(json, shape);
    default:
        return fits_object(json, shape);
    }
}

bool fire_json_fits(const fire_json_t *json, const char *shape)
{
    return fits(json, &shape);
}
