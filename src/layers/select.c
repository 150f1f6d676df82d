/* select.c - chooses the kernel that a layer runs. Strongest first: the prototxt's
 * `engine`, then the user's request (--kernel), then the order of the layer's own list. */
#include <string.h>

#include "layers/layer.h"

typedef enum engine { ANY, CAFFE, CUDNN } engine_t;

static engine_t engine_of(const Caffe__LayerParameter *p)
{
#define ENGINE(field, E)                            \
    if (p->field != NULL && p->field->has_engine)   \
    return p->field->engine == E##__CAFFE   ? CAFFE \
           : p->field->engine == E##__CUDNN ? CUDNN \
                                            : ANY
    ENGINE(convolution_param, CAFFE__CONVOLUTION_PARAMETER__ENGINE);
    ENGINE(pooling_param, CAFFE__POOLING_PARAMETER__ENGINE);
    ENGINE(lrn_param, CAFFE__LRNPARAMETER__ENGINE);
    ENGINE(relu_param, CAFFE__RE_LUPARAMETER__ENGINE);
    ENGINE(sigmoid_param, CAFFE__SIGMOID_PARAMETER__ENGINE);
    ENGINE(softmax_param, CAFFE__SOFTMAX_PARAMETER__ENGINE);
    ENGINE(tanh_param, CAFFE__TAN_HPARAMETER__ENGINE);
    ENGINE(spp_param, CAFFE__SPPPARAMETER__ENGINE);
#undef ENGINE
    return ANY;
}

/* `engine: CAFFE` means Caffe's own code: here ref, or cuda on a GPU. It allows `direct`
 * too: nets say CAFFE for depthwise convolution because cuDNN was slow at it, and ref
 * would be slower still. `engine: CUDNN` has no effect on the CPU. */
static bool engine_allows(engine_t engine, const char *kernel, fire_place_t where)
{
    if (engine == CAFFE)
        return strcmp(kernel, where == FIRE_CPU ? "ref" : "cuda") == 0 ||
               strcmp(kernel, "direct") == 0;
    return engine == ANY || where == FIRE_CPU || strcmp(kernel, "cudnn") == 0;
}

bool fire_kernel_allowed(const fire_ctx_t *ctx, const char *type, const char *kernel)
{
    const char *request = ctx->kernels;
    bool        allowed = true;

    while (request != NULL && *request != '\0') {
        const char *eq  = strchr(request, '=');
        const char *end = request + strcspn(request, ",");

        if (eq != NULL && eq < end) {
            size_t ntype = (size_t)(eq - request), nkernel = (size_t)(end - eq - 1);

            if ((strlen(type) == ntype && strncmp(type, request, ntype) == 0) ||
                (ntype == 3 && strncmp(request, "all", 3) == 0))
                allowed =
                    strlen(kernel) == nkernel && strncmp(kernel, eq + 1, nkernel) == 0;
        }
        request = *end == ',' ? end + 1 : end;
    }
    return allowed;
}

static const char *reason_against(const fire_layer_t *l, const fire_kernel_t *k,
                                  fire_place_t where)
{
    engine_t engine = engine_of(l->param);
    bool     free   = engine == ANY || (engine == CUDNN && where == FIRE_CPU) ||
                strcmp(k->name, "direct") == 0;

    if (k->where != where && where == FIRE_GPU)
        return l->ops->flags & FIRE_LAYER_HOST
                   ? "is work for the CPU: blobs go there and back"
                   : "runs on the CPU";
    if (k->where != where) return FIRE_KERNEL_NEEDS_GPU;
    if (!engine_allows(engine, k->name, where))
        return "the prototxt asks for another engine";
    if (free && !fire_kernel_allowed(l->ctx, l->ops->type, k->name))
        return "--kernel asks for another";
    return k->declines != NULL ? k->declines(l) : NULL;
}

static const fire_kernel_t *first_willing(fire_layer_t *l, fire_place_t where,
                                          fire_kernel_report_t report, void *arg)
{
    for (int i = 0; l->ops->kernels[i] != NULL; i++) {
        const fire_kernel_t *k      = l->ops->kernels[i];
        const char          *reason = reason_against(l, k, where);

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
