/* select.c - which kernel a layer runs. Strongest first: the prototxt's engine, then
 * the user's wish for the type, then the order of the layer's own list. */
#include <string.h>

#include "layers/layer.h"

/* `engine: CAFFE` means ref, CUDNN the GPU library; NULL where nothing is said. */
static const char *engine_wish(const Caffe__LayerParameter *p)
{
#define ENGINE(field, E)                              \
    if (p->field != NULL && p->field->has_engine)     \
    return p->field->engine == E##__CAFFE   ? "ref"   \
           : p->field->engine == E##__CUDNN ? "cudnn" \
                                            : NULL
    ENGINE(convolution_param, CAFFE__CONVOLUTION_PARAMETER__ENGINE);
    ENGINE(pooling_param, CAFFE__POOLING_PARAMETER__ENGINE);
    ENGINE(lrn_param, CAFFE__LRNPARAMETER__ENGINE);
    ENGINE(relu_param, CAFFE__RE_LUPARAMETER__ENGINE);
    ENGINE(sigmoid_param, CAFFE__SIGMOID_PARAMETER__ENGINE);
    ENGINE(softmax_param, CAFFE__SOFTMAX_PARAMETER__ENGINE);
    ENGINE(tanh_param, CAFFE__TAN_HPARAMETER__ENGINE);
    ENGINE(spp_param, CAFFE__SPPPARAMETER__ENGINE);
#undef ENGINE
    return NULL;
}

/* Does "Convolution=ref,ReLU=onednn" (or "all=ref") ask for this kernel of this type?
 * Says yes for types that are not mentioned. */
static bool wish_allows(const char *wishes, const char *type, const char *kernel)
{
    bool allowed = true;

    while (wishes != NULL && *wishes != '\0') {
        const char *eq  = strchr(wishes, '=');
        const char *end = wishes + strcspn(wishes, ",");

        if (eq != NULL && eq < end) {
            size_t ntype = (size_t)(eq - wishes), nkernel = (size_t)(end - eq - 1);

            if ((strlen(type) == ntype && strncmp(type, wishes, ntype) == 0) ||
                (ntype == 3 && strncmp(wishes, "all", 3) == 0))
                allowed =
                    strlen(kernel) == nkernel && strncmp(kernel, eq + 1, nkernel) == 0;
        }
        wishes = *end == ',' ? end + 1 : end;
    }
    return allowed;
}

static const char *reason_against(const fire_layer_t *l, const fire_kernel_t *k,
                                  fire_place_t where)
{
    const char *engine = engine_wish(l->param);

    if (k->where != where) return where == FIRE_GPU ? "runs on the CPU" : "needs a GPU";
    if (engine != NULL && where == FIRE_GPU && strcmp(engine, "ref") == 0)
        engine = "cuda"; /* Caffe's own GPU code, not the library's */
    if (engine != NULL && strcmp(engine, k->name) != 0 &&
        !(strcmp(engine, "cudnn") == 0 && where == FIRE_CPU))
        return "the prototxt asks for another engine";
    if (engine == NULL && !wish_allows(l->ctx->kernels, l->ops->type, k->name))
        return "--kernel asks for another";
    return k->declines != NULL ? k->declines(l) : NULL;
}

static const fire_kernel_t *first_willing(fire_layer_t *l, fire_place_t where,
                                          fire_kernel_report_t report, void *arg)
{
    for (const fire_kernel_t *k = l->ops->kernels; k->name != NULL; k++) {
        const char *reason = reason_against(l, k, where);

        if (report != NULL) report(arg, l, k, reason);
        if (reason == NULL) return k;
    }
    return NULL;
}

fire_status_t fire_kernel_select(fire_layer_t *l, fire_kernel_report_t report,
                                 void *arg)
{
    const fire_kernel_t *k = first_willing(l, l->ctx->place, report, arg);

    /* A layer without a GPU kernel runs on the CPU; `firecaffe net --explain` says so. */
    if (k == NULL && l->ctx->place != FIRE_CPU)
        k = first_willing(l, FIRE_CPU, report, arg);
    if (k == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "no kernel fits; `firecaffe net --explain` tells why");
    if (l->kernel != k && l->kernel != NULL && l->kernel->release != NULL)
        l->kernel->release(l);
    l->kernel = k;
    return k->prepare != NULL ? k->prepare(l) : FIRE_OK;
}
