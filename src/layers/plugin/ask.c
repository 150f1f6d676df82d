/* ask.c - what a plug-in's functions can ask of their layer (<fire/layer.h>). Those for
 * settings are in src/model/values/values.c, those for any layer in src/layers/access.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "device/cpu/parallel.h"
#include "layers/plugin/plugin.h"
#include "model/text.h"

enum { MESSAGE_MAX = 1024 };

void fire_layer_message(const fire_layer_t *l, fire_log_level_t level,
                        const char *format, ...)
{
    char    text[MESSAGE_MAX];
    va_list ap;

    if (!fire_log_wants(level)) return;
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    fire_log_write(level, __FILE__, __LINE__, "layer \"%s\" (%s): %s", l->param->name,
                   l->ops->type, text);
}

void *fire_layer_state(const fire_layer_t *l)
{
    return fire_plugged_state(l)->own;
}

/* ---- parameters ---- */

static fire_status_t add_filled(fire_layer_t *l, int ndim, const int64_t *dim,
                                const char *text, const char *what)
{
    ProtobufCMessage *filler;
    fire_status_t     st;

    FIRE_TRY(fire_text_parse(text, strlen(text), what,
                             &caffe__filler_parameter__descriptor, &filler));
    st = fire_layer_add_blob(l, ndim, dim, (Caffe__FillerParameter *)filler);
    fire_message_free(filler);
    return st;
}

fire_status_t fire_layer_add_param(fire_layer_t *l, int ndim, const int64_t *dim,
                                   const char *key, const char *preset)
{
    fire_values_t *v = fire_plugged_state(l)->values, *group = NULL;
    fire_str_t     text = {0};
    fire_status_t  st;

    if (ndim < 0 || ndim > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "a parameter with %d axes", ndim);
    if (key != NULL) {
        fire_values_trust(v, key);
        FIRE_TRY(fire_values_group(v, key, 0, &group));
        if (fire_values_count(v, key) > 1)
            return FIRE_FAIL(FIRE_ERR_INVALID, "%s is given twice", key);
    }
    if (group == NULL && preset == NULL) return fire_layer_add_blob(l, ndim, dim, NULL);
    if (group == NULL) return add_filled(l, ndim, dim, preset, "filler");
    st = fire_values_print(group, 0, &text);
    if (st >= 0) st = add_filled(l, ndim, dim, text.text, key);
    fire_str_fini(&text);
    return st;
}

/* ---- where it runs ---- */

fire_place_t fire_layer_place(const fire_layer_t *l)
{
    return l->kernel != NULL ? l->kernel->where : l->ctx->place;
}

#ifndef FIRE_HAVE_CUDA
void *fire_layer_stream(const fire_layer_t *l)
{
    (void)l;
    return NULL;
}
#endif

fire_status_t fire_layer_scratch(fire_layer_t *l, size_t bytes, void **ptr_p)
{
    fire_plugged_t *s    = fire_plugged_state(l);
    fire_pool_t    *pool = fire_pool_on(l->ctx->pool, fire_layer_place(l));
    void           *ptr;

    FIRE_TRY(
        fire_grow(&s->scratch, &s->scratch_cap, s->nscratch + 1, sizeof(*s->scratch)));
    if (pool != NULL)
        FIRE_TRY(fire_pool_take(pool, bytes, &ptr));
    else
        FIRE_TRY(fire_device_find(fire_layer_place(l))->alloc(bytes, &ptr));
    s->scratch[s->nscratch++] = ptr;
    *ptr_p                    = ptr;
    return FIRE_OK;
}

void fire_plugin_drop_scratch(fire_layer_t *l)
{
    fire_plugged_t *s = fire_plugged_state(l);

    while (s->nscratch > 0) {
        fire_pool_t *pool = fire_pool_on(l->ctx->pool, fire_layer_place(l));
        void        *ptr  = s->scratch[--s->nscratch];

        if (pool != NULL)
            fire_pool_give(pool, ptr);
        else
            fire_device_find(fire_layer_place(l))->free(ptr);
    }
}

void fire_layer_parallel(fire_layer_t *l, int64_t n, int64_t grain,
                         void (*piece)(void *arg, int64_t begin, int64_t end),
                         void *arg)
{
    (void)l;
    if (grain < 1) grain = 1;
    FIRE_PARALLEL_PIECES(i, n, grain)
    {
        piece(arg, i, i + fire_piece(n, i, grain));
    }
}

/* ---- random numbers and samples ---- */

static fire_rng_key_t key_of(const fire_layer_t *l)
{
    return fire_layer_rng(l, FIRE_RNG_PLUGIN);
}

uint32_t fire_layer_random(const fire_layer_t *l, int64_t index)
{
    return fire_rng_u32(key_of(l), (uint64_t)index);
}

float fire_layer_uniform(const fire_layer_t *l, int64_t index)
{
    return fire_rng_uniform(key_of(l), (uint64_t)index);
}

float fire_layer_gaussian(const fire_layer_t *l, int64_t index)
{
    return fire_rng_gaussian(key_of(l), (uint64_t)index);
}

int64_t fire_layer_row(const fire_layer_t *l, int64_t n, int64_t i)
{
    return fire_moment_row(l->moment, n, i);
}

void fire_layer_samples(const fire_layer_t *l, int64_t batch, int64_t *first_p,
                        int64_t *stride_p, int64_t *n_p)
{
    fire_slice_t slice = fire_moment_slice(l->moment, batch);

    fire_plugged_state(l)->batch = batch;
    *first_p                     = slice.first;
    *stride_p                    = slice.stride;
    *n_p                         = slice.n;
}

/* ---- settings ---- */

fire_values_t *fire_layer_values(const fire_layer_t *l)
{
    return fire_plugged_state(l)->values;
}

/* The message as a tree; it is kept until teardown. */
static fire_status_t read_message(fire_plugged_t *s, const ProtobufCMessage *msg,
                                  const char *field, fire_values_t **v_p)
{
    fire_str_t     text = {0};
    fire_values_t *v    = NULL;
    fire_status_t  st =
        fire_grow(&s->other, &s->other_cap, s->nother + 1, sizeof(*s->other));

    if (st >= 0) st = fire_text_print(msg, &text);
    if (st >= 0) st = fire_values_create(field, &v);
    if (st >= 0) st = fire_values_parse(v, text.text, (size_t)text.n, field);
    fire_str_fini(&text);
    if (st < 0)
        fire_values_destroy(v);
    else
        *v_p = s->other[s->nother++] = v;
    return st;
}

fire_values_t *fire_layer_values_of(fire_layer_t *l, const char *field)
{
    const fire_field_t *f = fire_field_find(&caffe__layer_parameter__descriptor, field);
    fire_values_t      *v = NULL;

    if (f == NULL || f->type != PROTOBUF_C_TYPE_MESSAGE ||
        f->label == PROTOBUF_C_LABEL_REPEATED || !fire_message_has(l->param, f))
        return NULL;
    if (read_message(fire_plugged_state(l),
                     *(ProtobufCMessage **)fire_message_at(l->param, f, 0), field,
                     &v) < 0)
        return NULL;
    return v;
}
