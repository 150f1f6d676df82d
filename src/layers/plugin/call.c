/* call.c - calls the functions of plug-ins: reads the settings before setup, looks for
 * unknown ones after it, and takes no status for an answer that is none. */
#include "layers/plugin/plugin.h"

#include <string.h>

static const fire_plugged_type_t *type_of(const fire_layer_t *l)
{
    return (const fire_plugged_type_t *)l->ops;
}

static const fire_plugin_kernel_t *kernel_of(const fire_layer_t *l)
{
    return &((const fire_plugged_kernel_t *)l->kernel)->own;
}

/* Pass on what a function of a plug-in has returned. `before` is the number of failures
 * that were recorded before the call. */
static fire_status_t finish(fire_layer_t *l, const char *what, fire_status_t st,
                            uint64_t before)
{
    fire_plugin_drop_scratch(l);
    if (st > 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s of the plug-in returned %d: no status",
                         what, (int)st);
    if (st < 0 && fire_error_count() == before)
        return FIRE_FAIL(st,
                         "%s of the plug-in failed (%s) and did not say why "
                         "(fire_fail)",
                         what, fire_status_string(st));
    return st;
}

/* ---- settings ---- */

/* The names of all fields, "plugin_param" where there is none. */
static fire_status_t name_values(const Caffe__LayerParameter *p, fire_str_t *name)
{
    for (size_t i = 0; i < p->n_plugin; i++) {
        const char *field = p->plugin[i]->field;

        if (field == NULL || p->plugin[i]->text == NULL)
            return FIRE_FAIL(FIRE_ERR_INVALID, "plugin { } needs field and text");
        for (size_t k = 0; k < i; k++)
            if (strcmp(p->plugin[k]->field, field) == 0)
                return FIRE_FAIL(FIRE_ERR_INVALID, "%s is given twice", field);
        FIRE_TRY(fire_str_printf(name, "%s%s", i > 0 ? "/" : "", field));
    }
    return name->n > 0 ? FIRE_OK : fire_str_printf(name, "plugin_param");
}

static fire_status_t read_values(fire_layer_t *l, fire_plugged_t *s)
{
    const Caffe__LayerParameter *p    = l->param;
    fire_str_t                   name = {0};
    fire_status_t                st   = name_values(p, &name);

    if (st >= 0) st = fire_values_create(name.text, &s->values);
    for (size_t i = 0; i < p->n_plugin && st >= 0; i++)
        st = fire_values_parse(s->values, p->plugin[i]->text,
                               strlen(p->plugin[i]->text), p->plugin[i]->field);
    fire_str_fini(&name);
    return st;
}

/* ---- the functions of ops ---- */

static fire_status_t plugged_setup(fire_layer_t *l)
{
    const fire_plugin_layer_t *own = &type_of(l)->own;
    fire_plugged_t            *s   = fire_plugged_state(l);
    uint64_t                   before;

    FIRE_TRY(read_values(l, s));
    s->began = true;
    before   = fire_error_count();
    if (own->setup != NULL) FIRE_TRY(finish(l, "setup", own->setup(l), before));
    return fire_values_check(s->values);
}

static fire_status_t plugged_reshape(fire_layer_t *l)
{
    uint64_t before = fire_error_count();

    return finish(l, "reshape", type_of(l)->own.reshape(l), before);
}

static void plugged_teardown(fire_layer_t *l)
{
    const fire_plugin_layer_t *own = &type_of(l)->own;
    fire_plugged_t            *s   = fire_plugged_state(l);

    if (s->began && own->teardown != NULL) own->teardown(l);
    fire_plugin_drop_scratch(l);
    fire_values_destroy(s->values);
    for (int64_t i = 0; i < s->nother; i++)
        fire_values_destroy(s->other[i]);
    fire_free(s->other);
    fire_free(s->scratch);
}

/* ---- the functions of kernels ---- */

static fire_status_t plugged_forward(fire_layer_t *l)
{
    uint64_t before = fire_error_count();

    return finish(l, "forward", kernel_of(l)->forward(l), before);
}

static fire_status_t plugged_backward(fire_layer_t *l)
{
    uint64_t before = fire_error_count();

    return finish(l, "backward", kernel_of(l)->backward(l), before);
}

static fire_status_t plugged_prepare(fire_layer_t *l)
{
    uint64_t before = fire_error_count();

    return finish(l, "prepare", kernel_of(l)->prepare(l), before);
}

const fire_layer_ops_t fire_plugged_ops = {
    .setup    = plugged_setup,
    .reshape  = plugged_reshape,
    .teardown = plugged_teardown,
};

const fire_kernel_t fire_plugged_kernel = {
    .forward  = plugged_forward,
    .backward = plugged_backward,
    .prepare  = plugged_prepare,
};

int64_t fire_plugin_batch(const fire_layer_t *l)
{
    return fire_plugged_state(l)->batch;
}
