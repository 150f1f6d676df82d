/* layer_case.c - a small net: parameters and inputs in; outputs, loss and gradients
 * compared. */
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "model/load.h"
#include "net/net_state.h"

/* All cases that drew random numbers began with this seed: the one of Caffe's tests. */
enum { CAFFE_SEED = 1701 };

static fire_status_t open_net(const golden_case_t *c, fire_mt_t *mt, fire_net_t **net_p)
{
    const char          *file = fire_json_string_or(c->json, "net", "net.prototxt");
    fire_net_options_t   o    = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *param;
    fire_status_t        st;

    FIRE_TRY(fire_net_param_load_text(file, &param));
    o.ctx    = golden_ctx();
    o.ctx.mt = mt;
    o.phase  = strcmp(fire_json_string_or(c->json, "phase", "TEST"), "TRAIN") == 0
                   ? CAFFE__PHASE__TRAIN
                   : CAFFE__PHASE__TEST;
    st       = fire_net_create(param, &o, net_p);
    fire_message_free(param);
    return st;
}

static fire_status_t find_blob(const fire_net_t *net, const fire_json_t *item,
                               fire_blob_t **blob_p)
{
    const char *name = fire_json_string_or(item, "blob", "");

    *blob_p = fire_net_find_blob(net, name);
    if (*blob_p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the net has no blob \"%s\"", name);
    return FIRE_OK;
}

static fire_status_t set_blob(const char *file, fire_blob_t *blob, fire_part_t part)
{
    fire_npy_t    npy;
    fire_status_t st;
    float        *x;

    FIRE_TRY(fire_npy_load(file, &npy));
    st = part == FIRE_DATA ? fire_blob_reshape(blob, npy.ndim, npy.dim) : FIRE_OK;
    if (st >= 0) st = fire_blob_write(blob, part, FIRE_CPU, &x);
    if (st >= 0 && npy.count != blob->count)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "%s has %lld elements, its blob %lld", file,
                       (long long)npy.count, (long long)blob->count);
    if (st >= 0) memcpy(x, npy.data, (size_t)npy.count * sizeof(*x));
    fire_npy_fini(&npy);
    return st;
}

/* Every blob of a list: set it, or compare it with its file. */
static fire_status_t each_blob(golden_case_t *c, fire_net_t *net,
                               const fire_json_t *list, fire_part_t part, bool set)
{
    for (int64_t i = 0; list != NULL && i < list->n; i++) {
        const char  *file = fire_json_string_or(&list->item[i], "file", "");
        fire_blob_t *blob;

        FIRE_TRY(find_blob(net, &list->item[i], &blob));
        FIRE_TRY(set ? set_blob(file, blob, part)
                     : golden_compare_blob(c, file, blob, part));
    }
    return FIRE_OK;
}

/* Every parameter whose entry names a file by `key`: set it, or compare it. */
static fire_status_t each_param(golden_case_t *c, fire_net_t *net, const char *key,
                                fire_part_t part, bool set)
{
    const fire_json_t *params = fire_json_get(c->json, "params");

    for (int64_t i = 0; params != NULL && i < params->n; i++) {
        const fire_json_t *p     = &params->item[i];
        const char        *file  = fire_json_string_or(p, key, NULL);
        const char        *name  = fire_json_string_or(p, "layer", "");
        int                index = (int)fire_json_number_or(p, "index", 0);
        fire_layer_t      *l     = fire_net_find_layer(net, name);

        if (l == NULL || index >= l->nblob)
            return FIRE_FAIL(FIRE_ERR_INVALID, "layer \"%s\" has no parameter %d", name,
                             index);
        if (file != NULL)
            FIRE_TRY(set ? set_blob(file, l->blob[index], part)
                         : golden_compare_blob(c, file, l->blob[index], part));
    }
    return FIRE_OK;
}

static fire_status_t run_step(golden_case_t *c, fire_net_t *net,
                              const fire_json_t *step)
{
    float loss, want = (float)fire_json_number_or(step, "loss", 0);

    FIRE_TRY(each_blob(c, net, fire_json_get(step, "inputs"), FIRE_DATA, true));
    FIRE_TRY(fire_net_reshape(net));
    FIRE_TRY(fire_net_forward(net, 0, -1, &loss));
    golden_compare(c, "loss", 1, &loss, &want);
    return each_blob(c, net, fire_json_get(step, "outputs"), FIRE_DATA, false);
}

static fire_status_t run_backward(golden_case_t *c, fire_net_t *net,
                                  const fire_json_t *backward)
{
    FIRE_TRY(each_blob(c, net, fire_json_get(backward, "topdiffs"), FIRE_DIFF, true));
    FIRE_TRY(fire_net_clear_diffs(net));
    FIRE_TRY(fire_net_backward(net, -1, 0));
    FIRE_TRY(
        each_blob(c, net, fire_json_get(backward, "bottomdiffs"), FIRE_DIFF, false));
    return each_param(c, net, "diff", FIRE_DIFF, false);
}

static fire_status_t run_exact(golden_case_t *c, fire_net_t *net)
{
    const fire_json_t *steps    = fire_json_get(c->json, "steps");
    const fire_json_t *backward = fire_json_get(c->json, "backward");
    const char        *weights  = fire_json_string_or(c->json, "weights", NULL);

    /* With Caffe's random numbers, fillers must have made these very weights. */
    if (weights != NULL && net->ctx.mt == NULL)
        FIRE_TRY(fire_net_load_file(net, weights));
    FIRE_TRY(each_param(c, net, "file", FIRE_DATA, c->independent));
    for (int64_t i = 0; i < steps->n; i++, net->moment.step++)
        FIRE_TRY(run_step(c, net, &steps->item[i]));
    FIRE_TRY(each_param(c, net, "after_forward", FIRE_DATA, false));
    if (backward == NULL || backward->kind != FIRE_JSON_OBJECT) return FIRE_OK;
    return run_backward(c, net, backward);
}

typedef fire_status_t (*run_t)(golden_case_t *c, fire_net_t *net);

static fire_status_t run_net(golden_case_t *c, fire_mt_t *mt, run_t run)
{
    fire_net_t   *net;
    fire_status_t st, after;

    FIRE_TRY(open_net(c, mt, &net));
    st = golden_before_layer(c, net);
    if (st >= 0) st = run(c, net);
    after = golden_after_layer(c, net);
    return st < 0 ? st : after;
}

/* Our random numbers must have the right properties, Caffe's its own values. */
static fire_status_t run_random(golden_case_t *c)
{
    fire_mt_t    *mt;
    fire_status_t st;

    FIRE_TRY(run_net(c, NULL, golden_run_random));
    if (c->independent) return FIRE_OK; /* there are no values to compare with */
    FIRE_TRY(fire_mt_create(CAFFE_SEED, &mt));
    st = run_net(c, mt, run_exact);
    fire_mt_destroy(mt);
    return st;
}

fire_status_t golden_run_layer(golden_case_t *c)
{
    const fire_json_t *steps;

    FIRE_TRY(fire_json_want(c->json, "steps", FIRE_JSON_ARRAY, &steps));
    return fire_json_bool_or(c->json, "random", false) ? run_random(c)
                                                       : run_net(c, NULL, run_exact);
}
