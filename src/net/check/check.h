/* check.h - checks one layer of a net, of ours or of a plug-in, for what must hold for
 * any: gradients against finite differences, every kernel against `ref`, the rules of
 * layers/layer.h. `firecaffe check-layer` prints what it finds. */
#ifndef FIRE_NET_CHECK_CHECK_H
#define FIRE_NET_CHECK_CHECK_H
#include "net/net.h"

typedef enum fire_verdict {
    FIRE_VERDICT_PASSED,
    FIRE_VERDICT_FAILED,
    FIRE_VERDICT_NOTED,    /* no fault, but its author should know */
    FIRE_VERDICT_LEFT_OUT, /* there is nothing to check, or no machine for it */
} fire_verdict_t;

/* One result. Texts are valid during the call that reports it. */
typedef struct fire_check_result {
    const char    *kernel; /* of the layer */
    const char    *what;   /* is checked: "gradient of parameter 0" */
    fire_verdict_t verdict;
    const char    *detail; /* what is wrong, why it was left out, or "" */
} fire_check_result_t;

/* Values for an input of the net. */
typedef struct fire_check_fill {
    const char *blob;
    double      low, high;
    bool        whole; /* integers, low ... high - 1 */
} fire_check_fill_t;

typedef struct fire_check_options {
    const char  *layer; /* its name; NULL: the last one of the net */
    fire_ctx_t   ctx;   /* of a GPU, for kernels on one; else of the CPU */
    Caffe__Phase phase;
    int          level, nstage;
    const char **stage;
    uint64_t     seed;
    double       step;      /* of finite differences */
    double       tolerance; /* of gradients, relative to the largest one of the blob */
    /* Inputs that are not named get multiples of 0.1 around 0, none twice and none near
     * 0, where many functions have a kink. */
    const fire_check_fill_t *fill;
    int                      nfill;
    void (*report)(void *arg, const fire_check_result_t *result);
    void *arg;
} fire_check_options_t;

#define FIRE_CHECK_OPTIONS_INIT                               \
    ((fire_check_options_t){.ctx       = FIRE_CTX_INIT,       \
                            .phase     = CAFFE__PHASE__TRAIN, \
                            .seed      = 1,                   \
                            .step      = 1e-2,                \
                            .tolerance = 1e-2})

/* Check a layer of this net, whose inputs come from Input layers. Fails only if the net
 * or the layer cannot be made or run; what is wrong is reported. */
fire_status_t fire_check_layer(const Caffe__NetParameter  *param,
                               const fire_check_options_t *options);
#endif
