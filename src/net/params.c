/* params.c - collects the parameters that learn. Layers that give a parameter the same
 * name share it: the first is its owner, the others use its memory and add to its
 * gradient. */
#include <string.h>

#include "net/net_state.h"

/* The prototxt's `param` entry of parameter i; NULL: there is none. */
static const Caffe__ParamSpec *spec_of(const fire_layer_t *l, int i)
{
    return (size_t)i < l->param->n_param ? l->param->param[i] : NULL;
}

/* The parameter of this name; NULL: there is none, or the name is empty. */
static fire_param_t *find_shared(fire_net_t *net, const char *name)
{
    for (int i = 0; i < net->nparam && name[0] != '\0'; i++)
        if (strcmp(net->learn[i].name, name) == 0) return &net->learn[i];
    return NULL;
}

/* Any of the sharing layers may give lr_mult and decay_mult, but all the same. */
static fire_status_t merge_mult(const char *what, const char *name, bool has,
                                float mult, bool *owner_has, float *owner_mult)
{
    if (!has) return FIRE_OK;
    if (*owner_has && *owner_mult != mult)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "shared parameter \"%s\" has %s %g here and %g elsewhere",
                         name, what, (double)mult, (double)*owner_mult);
    *owner_has  = true;
    *owner_mult = mult;
    return FIRE_OK;
}

/* Let parameter i of a layer use the owner's memory. */
static fire_status_t share(fire_net_t *net, fire_param_t *owner, fire_layer_t *l,
                           int layer, int i)
{
    const Caffe__ParamSpec *spec  = spec_of(l, i);
    fire_blob_t            *blob  = l->blob[i];
    bool                    loose = spec->has_share_mode &&
                 spec->share_mode == CAFFE__PARAM_SPEC__DIM_CHECK_MODE__PERMISSIVE;
    char a[FIRE_SHAPE_TEXT], b[FIRE_SHAPE_TEXT];

    if (loose ? blob->count != owner->blob->count
              : !fire_blob_same_shape(blob, owner->blob))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "cannot share parameter \"%s\": shape %s here, %s in layer \"%s\"",
            owner->name, fire_blob_shape_string(blob, a, sizeof(a)),
            fire_blob_shape_string(owner->blob, b, sizeof(b)),
            net->layer[owner->layer].base.param->name);
    FIRE_TRY(merge_mult("lr_mult", owner->name, spec->has_lr_mult, spec->lr_mult,
                        &owner->has_lr, &owner->lr_mult));
    FIRE_TRY(merge_mult("decay_mult", owner->name, spec->has_decay_mult,
                        spec->decay_mult, &owner->has_decay, &owner->decay_mult));
    fire_blob_share(blob, owner->blob, FIRE_DATA);
    fire_blob_share(blob, owner->blob, FIRE_DIFF);
    if (layer < owner->first_use) owner->first_use = layer;
    return FIRE_OK;
}

/* Add parameter i of a layer, or share the one of the same name. */
static fire_status_t collect(fire_net_t *net, int layer, int i)
{
    fire_layer_t           *l    = &net->layer[layer].base;
    const Caffe__ParamSpec *spec = spec_of(l, i);
    const char             *name = spec != NULL && spec->name != NULL ? spec->name : "";
    fire_param_t           *owner = find_shared(net, name);
    fire_param_kind_t       kind  = fire_layer_param_kind(l, i);

    if (owner != NULL) return share(net, owner, l, layer, i);
    net->learn[net->nparam++] = (fire_param_t){
        .blob       = l->blob[i],
        .name       = name,
        .layer      = layer,
        .index      = i,
        .first_use  = layer,
        .lr_mult    = spec != NULL ? spec->lr_mult : 1,
        .decay_mult = spec != NULL ? spec->decay_mult : 1,
        .has_lr     = spec != NULL && spec->has_lr_mult,
        .has_decay  = spec != NULL && spec->has_decay_mult,
        .kind       = kind,
        .stat_decay = l->stat_decay,
    };
    if (kind == FIRE_PARAM_STATISTIC || l->frozen) {
        net->learn[net->nparam - 1].lr_mult    = 0;
        net->learn[net->nparam - 1].decay_mult = 0;
    }
    return FIRE_OK;
}

fire_status_t fire_net_collect_params(fire_net_t *net)
{
    int n = 0;

    for (int i = 0; i < net->nlayer; i++)
        n += net->layer[i].base.nblob;
    FIRE_TRY(FIRE_NEW(&net->learn, n));
    for (int i = 0; i < net->nlayer; i++)
        for (int j = 0; j < net->layer[i].base.nblob; j++) {
            fire_status_t st = collect(net, i, j);

            if (st < 0)
                return fire_error_prefix(st, "layer \"%s\"",
                                         net->layer[i].base.param->name);
        }
    return FIRE_OK;
}
