/* check.c - runs all checks on all kernels of a layer. */
#include "net/check/check.h"

#include <string.h>

#include "device/gpu.h"
#include "model/message.h"
#include "net/check/laws.h"

static const struct {
    const char *what;
    fire_law_t  law;
} laws[] = {
    {"gradients equal finite differences", fire_law_gradients},
    {"forward and backward repeat their bits", fire_law_repeats},
    {"any number of threads gives the same bits", fire_law_threads},
    {"the kernel agrees with the reference", fire_law_agrees_with_ref},
    {"forward overwrites its tops", fire_law_overwrites_tops},
    {"backward overwrites diffs of bottoms", fire_law_overwrites_diffs},
    {"backward adds to diffs of parameters", fire_law_adds_to_params},
    {"backward writes no diff that is not wanted", fire_law_unwanted},
    {"backward reads only what it says", fire_law_reads},
    {"another batch size and back changes nothing", fire_law_reshapes},
    {"in place it computes the same", fire_law_in_place},
    {"saved and loaded it computes the same", fire_law_survives_saving},
    {"a net that frees memory computes the same", fire_law_lean},
};

/* The message with force_backward, so that inputs get gradients. */
static fire_status_t force_gradients(const Caffe__NetParameter *param,
                                     Caffe__NetParameter      **forced_p)
{
    ProtobufCMessage *copy;

    FIRE_TRY(fire_message_copy(param, &copy));
    *forced_p                       = (Caffe__NetParameter *)copy;
    (*forced_p)->has_force_backward = (*forced_p)->force_backward = true;
    return FIRE_OK;
}

static void tell(const fire_check_options_t *o, const char *kernel, const char *what,
                 fire_verdict_t verdict, const char *detail)
{
    const fire_check_result_t result = {kernel, what, verdict, detail};

    if (o->report != NULL) o->report(o->arg, &result);
}

/* A layer whose shapes do not allow the first axis to be changed says so by failing. */
static bool is_forgiven(fire_law_t law, fire_status_t st)
{
    return law == fire_law_reshapes && st == FIRE_ERR_INVALID;
}

static fire_status_t check_kernel(const fire_subject_t *s)
{
    for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++) {
        fire_finding_t f  = {.text = ""};
        fire_status_t  st = laws[i].law(s, &f);

        if (is_forgiven(laws[i].law, st))
            fire_finding_left_out(&f, fire_last_error());
        else if (st < 0)
            return fire_error_prefix(st, "kernel %s: %s", s->kernel, laws[i].what);
        tell(s->options, s->kernel, laws[i].what,
             f.wrong      ? FIRE_VERDICT_FAILED
             : f.noted    ? FIRE_VERDICT_NOTED
             : f.left_out ? FIRE_VERDICT_LEFT_OUT
                          : FIRE_VERDICT_PASSED,
             f.text);
    }
    return FIRE_OK;
}

/* Why a kernel cannot run the layer, as it is in a net on the CPU; NULL: it may. */
static const char *reason_against(const fire_check_options_t *o, const fire_layer_t *l,
                                  const fire_kernel_t *k)
{
    const char *why = "there is no GPU";

    if (k->where == FIRE_CPU) return k->declines != NULL ? k->declines(l) : NULL;
    if (o->ctx.place == FIRE_GPU) return NULL;
    return fire_gpu_count(&why) > 0 ? "runs on a GPU: --gpu 0" : why;
}

/* Can a net be made with this kernel? It may decline these shapes. */
static bool takes(const fire_check_options_t *o, const Caffe__NetParameter *param,
                  const char *kernel)
{
    fire_rig_t r;
    bool       ok = fire_rig_create(o, param, kernel, false, &r) >= 0;

    fire_rig_destroy(&r);
    return ok;
}

/* The options for a kernel of the CPU: nothing of a GPU in them. */
static fire_check_options_t on_host(const fire_check_options_t *o)
{
    fire_check_options_t host = *o;

    host.ctx           = FIRE_CTX_INIT;
    host.ctx.threads   = o->ctx.threads;
    host.ctx.exact     = o->ctx.exact;
    host.ctx.recompute = o->ctx.recompute;
    return host;
}

/* l: the layer under test in a net of its own. */
static fire_status_t check_kernels(const fire_layer_t         *l,
                                   const Caffe__NetParameter  *param,
                                   const fire_check_options_t *o)
{
    const fire_layer_ops_t *ops  = l->ops;
    fire_check_options_t    host = on_host(o);
    fire_subject_t          s    = {.param = param, .on_host = host};

    for (int i = 0; ops->kernels[i] != NULL; i++)
        if (ops->kernels[i]->where == FIRE_CPU) s.ref = ops->kernels[i]->name;
    for (int i = 0; ops->kernels[i] != NULL; i++) {
        const fire_kernel_t *k      = ops->kernels[i];
        const char          *reason = reason_against(o, l, k);

        s.kernel  = k->name;
        s.options = k->where == FIRE_CPU ? &host : o;
        if (reason != NULL)
            tell(o, k->name, "", FIRE_VERDICT_LEFT_OUT, reason);
        else if (!takes(s.options, param, k->name))
            tell(o, k->name, "", FIRE_VERDICT_LEFT_OUT, fire_last_error());
        else
            FIRE_TRY(check_kernel(&s));
    }
    return FIRE_OK;
}

fire_status_t fire_check_layer(const Caffe__NetParameter  *param,
                               const fire_check_options_t *options)
{
    fire_check_options_t host = on_host(options);
    Caffe__NetParameter *forced;
    fire_rig_t           r;
    fire_status_t        st;

    FIRE_TRY(force_gradients(param, &forced));
    st = fire_rig_create(&host, forced, NULL, false, &r);
    if (st >= 0) st = fire_rig_forward(&r);
    if (st >= 0) st = check_kernels(r.l, forced, options);
    fire_rig_destroy(&r);
    fire_message_free(forced);
    return st;
}
