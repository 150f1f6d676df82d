/* machine.c - reads machine files: JSON objects with a table of known fields. */
#include "sim/machine.h"

#include <stdio.h>
#include <string.h>

/* A number of a machine file. */
typedef struct field {
    const char *name;
    size_t      offset; /* of the double in its struct */
    double      unit;   /* factor to SI units */
    double      preset; /* default, in the file's unit; MUST: no default */
    double      least;  /* in the file's unit */
} field_t;

#define LINK(name, member, unit, preset, least)                  \
    {                                                            \
        name, offsetof(fire_wire_t, member), unit, preset, least \
    }
#define COMPUTE(name, member, unit, preset, least)                  \
    {                                                               \
        name, offsetof(fire_compute_t, member), unit, preset, least \
    }

enum { MUST = -1 };

static const field_t link_fields[] = {
    LINK("latency_us", latency, 1e-6, MUST, 0),
    LINK("bandwidth_gb_s", bandwidth, 1e9, MUST, 1e-6),
    LINK("overhead_us", overhead, 1e-6, 0, 0),
    LINK("reduce_gb_s", reduce, 1e9, 1e6, 1e-6), /* default: costs nothing */
    {0},
};
static const field_t compute_fields[] = {
    COMPUTE("gflop_s", flops, 1e9, MUST, 1e-6),
    COMPUTE("memory_gb_s", bandwidth, 1e9, MUST, 1e-6),
    COMPUTE("half_batch", half_batch, 1, 0, 0),
    COMPUTE("update_gb_s", update, 1e9, 1e6, 1e-6),
    COMPUTE("memory_gb", memory, 1e9, 0, 0),
    COMPUTE("input_samples_s", input, 1, 0, 0),
    {0},
};

/* Where the reader is, for error messages. */
typedef struct place {
    const char *file, *object; /* "" at the top */
} place_t;

static fire_status_t wrong(const place_t *p, const fire_json_t *at, const char *field,
                           const char *what)
{
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s:%d: field \"%s%s%s\" %s", p->file,
                     at != NULL ? at->line : 1, p->object, p->object[0] ? "." : "",
                     field, what);
}

static fire_status_t get(const place_t *p, const fire_json_t *json, const char *field,
                         fire_json_kind_t kind, const fire_json_t **item_p)
{
    static const char *const kinds[] = {
        "must be null",   "must be true or false", "must be a number",
        "must be a text", "must be a list",        "must be an object",
    };
    const fire_json_t *item = fire_json_get(json, field);

    if (item == NULL) return wrong(p, json, field, "is missing");
    if (item->kind != kind) return wrong(p, item, field, kinds[kind]);
    *item_p = item;
    return FIRE_OK;
}

static fire_status_t read_number(const place_t *p, const fire_json_t *json,
                                 const field_t *f, double *value_p)
{
    const fire_json_t *item;
    char               text[64];

    *value_p = f->preset * f->unit;
    if (fire_json_get(json, f->name) == NULL && f->preset != MUST) return FIRE_OK;
    FIRE_TRY(get(p, json, f->name, FIRE_JSON_NUMBER, &item));
    snprintf(text, sizeof(text), "is %g, must be at least %g", item->number, f->least);
    if (!(item->number >= f->least)) return wrong(p, item, f->name, text);
    *value_p = item->number * f->unit;
    return FIRE_OK;
}

/* Refuse unknown fields: a misspelt one would silently keep its default. */
static fire_status_t check_names(const place_t *p, const fire_json_t *json,
                                 const field_t *fields)
{
    for (int64_t i = 0; i < json->n; i++) {
        const field_t *f = fields;

        while (f->name != NULL && strcmp(f->name, json->item[i].key) != 0)
            f++;
        if (f->name == NULL)
            return wrong(p, &json->item[i], json->item[i].key, "is not known");
    }
    return FIRE_OK;
}

static fire_status_t read_count(const place_t *p, const fire_json_t *json,
                                const char *name, int preset, int *count_p)
{
    const field_t f = {name, 0, 1, preset, preset};
    double        n;

    FIRE_TRY(read_number(p, json, &f, &n));
    *count_p = n < 65536 ? (int)n : 65536;
    return FIRE_OK;
}

static fire_status_t read_object(const place_t *top, const fire_json_t *json,
                                 const char *name, const field_t *fields, void *out)
{
    const place_t      p = {top->file, name};
    const fire_json_t *object;

    FIRE_TRY(get(top, json, name, FIRE_JSON_OBJECT, &object));
    FIRE_TRY(check_names(&p, object, fields));
    for (const field_t *f = fields; f->name != NULL; f++)
        FIRE_TRY(read_number(&p, object, f, (double *)((char *)out + f->offset)));
    return FIRE_OK;
}

static fire_status_t read_dims(const place_t *p, const fire_json_t *json,
                               fire_cluster_t *c)
{
    const fire_json_t *list;

    FIRE_TRY(get(p, json, "dims", FIRE_JSON_ARRAY, &list));
    if (list->n < 1 || list->n > FIRE_TORUS_DIMS)
        return wrong(p, list, "dims", "must list 1 to 3 lengths");
    for (int i = 0; i < FIRE_TORUS_DIMS; i++) {
        double n = i < list->n ? list->item[i].number : 1;

        if (!(n >= 1 && n <= 32)) return wrong(p, list, "dims", "must be 1 to 32 each");
        c->dims[i] = (int)n;
    }
    return FIRE_OK;
}

static fire_status_t read_topology(const place_t *top, const fire_json_t *json,
                                   fire_cluster_t *c)
{
    const place_t      p    = {top->file, "topology"};
    const field_t      leaf = {"leaf", 0, 1, MUST, 1};
    const field_t      over = {"oversubscription", 0, 1, 1, 1};
    const fire_json_t *object, *kind;
    double             n;

    FIRE_TRY(get(top, json, "topology", FIRE_JSON_OBJECT, &object));
    FIRE_TRY(get(&p, object, "kind", FIRE_JSON_STRING, &kind));
    if (strcmp(kind->string, "star") == 0) {
        c->topology = FIRE_STAR;
    } else if (strcmp(kind->string, "fat_tree") == 0) {
        c->topology = FIRE_FAT_TREE;
        FIRE_TRY(read_number(&p, object, &leaf, &n));
        FIRE_TRY(read_number(&p, object, &over, &c->oversubscription));
        c->leaf = n < 65536 ? (int)n : 65536;
    } else if (strcmp(kind->string, "torus") == 0) {
        c->topology = FIRE_TORUS;
        FIRE_TRY(read_dims(&p, object, c));
    } else {
        return wrong(&p, kind, "kind", "must be star, fat_tree or torus");
    }
    return FIRE_OK;
}

/* *flag_p keeps its value if the field is missing. */
static fire_status_t read_flag(const place_t *top, const fire_json_t *json,
                               const char *name, bool *flag_p)
{
    const fire_json_t *flag;

    if (fire_json_get(json, name) == NULL) return FIRE_OK;
    FIRE_TRY(get(top, json, name, FIRE_JSON_BOOL, &flag));
    *flag_p = flag->boolean;
    return FIRE_OK;
}

/* How many workers a node has, and what they share. */
static fire_status_t read_sharing(const place_t *top, const fire_json_t *json,
                                  fire_cluster_t *c)
{
    FIRE_TRY(read_count(top, json, "workers_per_node", 1, &c->per_node));
    FIRE_TRY(read_count(top, json, "cores_per_node", 0, &c->cores));
    FIRE_TRY(read_count(top, json, "cores_per_worker", 1, &c->cores_each));
    FIRE_TRY(read_flag(top, json, "messages_mingle", &c->mingle));
    return read_flag(top, json, "shared_memory", &c->shared);
}

fire_status_t fire_cluster_parse(const fire_json_t *json, const char *file,
                                 fire_cluster_t *cluster_p)
{
    static const field_t known[] = {{.name = "name"},
                                    {.name = "note"},
                                    {.name = "topology"},
                                    {.name = "workers_per_node"},
                                    {.name = "cores_per_node"},
                                    {.name = "cores_per_worker"},
                                    {.name = "shared_memory"},
                                    {.name = "messages_mingle"},
                                    {.name = "net"},
                                    {.name = "node"},
                                    {.name = "compute"},
                                    {0}};
    const place_t        top     = {file, ""};
    const fire_json_t   *name;
    fire_cluster_t       c = {0};

    if (json->kind != FIRE_JSON_OBJECT)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: a machine file holds one object", file);
    FIRE_TRY(check_names(&top, json, known));
    FIRE_TRY(get(&top, json, "name", FIRE_JSON_STRING, &name));
    snprintf(c.name, sizeof(c.name), "%s", name->string);
    FIRE_TRY(read_sharing(&top, json, &c));
    FIRE_TRY(read_topology(&top, json, &c));
    FIRE_TRY(read_object(&top, json, "net", link_fields, &c.net));
    c.node = c.net;
    if (c.per_node > 1 || fire_json_get(json, "node") != NULL)
        FIRE_TRY(read_object(&top, json, "node", link_fields, &c.node));
    FIRE_TRY(read_object(&top, json, "compute", compute_fields, &c.compute));
    *cluster_p = c;
    return FIRE_OK;
}

fire_status_t fire_cluster_load(const char *path, fire_cluster_t *cluster_p)
{
    fire_json_t  *json;
    fire_status_t st;

    FIRE_TRY(fire_json_load(path, &json));
    st = fire_cluster_parse(json, path, cluster_p);
    fire_json_free(json);
    return st;
}

static double cores_wanted(const fire_cluster_t *c, int workers)
{
    int here = workers < c->per_node ? workers : c->per_node;

    return (double)here * c->cores_each;
}

double fire_cluster_crowd(const fire_cluster_t *c, int workers)
{
    double wanted = cores_wanted(c, workers);

    return c->cores > 0 && wanted > c->cores ? wanted / c->cores : 1;
}

bool fire_cluster_is_full(const fire_cluster_t *c, int workers)
{
    return c->cores > 0 && cores_wanted(c, workers) >= c->cores;
}
