/* upgrade.c - recognises old formats and upgrades them in the right order. */
#include "model/upgrade.h"

#include <string.h>
#include "base/log.h"
#include "model/forks/forks.h"
#include "model/message.h"

#define REWRITE "; `firecaffe upgrade` writes the file anew"

/* V0 and V1 keep their layers in `layers`, today's format in `layer`. */
static fire_status_t upgrade_layers(Caffe__NetParameter *net, const char *file)
{
    if (net->n_layers == 0) return FIRE_OK;
    if (net->n_layer > 0)
        return FIRE_FAIL(
            FIRE_ERR_PARSE,
            "%s: the net has both `layer` and `layers`, the present and an "
            "old format; write all of them as layer { type: \"Name\" ... }",
            file);
    if (fire_net_param_is_v0(net)) {
        FIRE_TRY(fire_net_param_upgrade_v0(net, file));
        FIRE_LOG(WARNING, "%s: upgraded from the deprecated V0LayerParameter" REWRITE,
                 file);
    }
    FIRE_TRY(fire_net_param_upgrade_v1(net, file));
    FIRE_LOG(WARNING, "%s: upgraded from the deprecated V1LayerParameter" REWRITE,
             file);
    return FIRE_OK;
}

/* Shape of input i: from input_shape, or four numbers of input_dim. */
static fire_status_t add_shape(const Caffe__NetParameter *net, size_t i,
                               Caffe__InputParameter *param)
{
    const fire_field_t *dim = fire_field_find(&caffe__blob_shape__descriptor, "dim");
    Caffe__BlobShape   *shape;

    FIRE_TRY(fire_message_add_message(param, "shape", &shape));
    if (net->n_input_shape > 0) return fire_message_merge(net->input_shape[i], shape);
    for (size_t d = 4 * i; d < 4 * i + 4; d++) {
        int64_t value = net->input_dim[d];

        FIRE_TRY(fire_message_put(shape, dim, &value));
    }
    return FIRE_OK;
}

/* There must be one input_shape, or four input_dim, for each input. */
static fire_status_t check_input_shapes(const Caffe__NetParameter *net,
                                        const char                *file)
{
    if (net->n_input_shape > 0 && net->n_input_shape != net->n_input)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: %zu inputs, but %zu times input_shape; give one for each",
                         file, net->n_input, net->n_input_shape);
    if (net->n_input_shape == 0 && net->n_input_dim != 4 * net->n_input)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: %zu inputs, but %zu times input_dim; give four for each",
                         file, net->n_input, net->n_input_dim);
    return FIRE_OK;
}

/* Insert an Input layer in front with the tops and shapes that `input` declared. */
static fire_status_t add_input_layer(Caffe__NetParameter *net, const char *file)
{
    Caffe__LayerParameter *layer;
    Caffe__InputParameter *param;

    FIRE_TRY(check_input_shapes(net, file));
    FIRE_TRY(fire_message_add_message(net, "layer", &layer));
    memmove(net->layer + 1, net->layer, (net->n_layer - 1) * sizeof(*net->layer));
    net->layer[0] = layer;
    FIRE_TRY(fire_message_add_string(layer, "name", "input"));
    FIRE_TRY(fire_message_add_string(layer, "type", "Input"));
    FIRE_TRY(fire_message_add_message(layer, "input_param", &param));
    for (size_t i = 0; i < net->n_input; i++) {
        FIRE_TRY(fire_message_add_string(layer, "top", net->input[i]));
        FIRE_TRY(add_shape(net, i, param));
    }
    return FIRE_OK;
}

/* Replace `input` fields by an Input layer. */
static fire_status_t upgrade_input(Caffe__NetParameter *net, const char *file)
{
    if (net->n_input == 0) return FIRE_OK;
    /* A .caffemodel may name inputs without shapes; they mean nothing there. */
    if (net->n_input_shape > 0 || net->n_input_dim > 0)
        FIRE_TRY(add_input_layer(net, file));
    fire_message_clear_field(net, "input");
    fire_message_clear_field(net, "input_shape");
    fire_message_clear_field(net, "input_dim");
    FIRE_LOG(WARNING,
             "%s: upgraded from deprecated input fields to an Input layer" REWRITE,
             file);
    return FIRE_OK;
}

/* The three blobs of a BatchNorm layer are statistics, not weights, and must not be
 * changed by the solver. Old files had to say so for each of them and may have got it
 * wrong. */
static void freeze_batch_norm(Caffe__NetParameter *net, const char *file)
{
    bool found = false;

    for (size_t i = 0; i < net->n_layer; i++) {
        Caffe__LayerParameter *layer = net->layer[i];

        if (layer->type == NULL || strcmp(layer->type, "BatchNorm") != 0 ||
            layer->n_param != 3)
            continue;
        for (size_t p = 0; p < 3; p++) {
            layer->param[p]->has_lr_mult = layer->param[p]->has_decay_mult = 1;
            layer->param[p]->lr_mult = layer->param[p]->decay_mult = 0;
        }
        found = true;
    }
    if (found)
        FIRE_LOG(INFO, "%s: BatchNorm params set to lr_mult 0 and decay_mult 0", file);
}

fire_status_t fire_net_param_upgrade(Caffe__NetParameter *net, const char *file)
{
    FIRE_TRY(upgrade_layers(net, file));
    FIRE_TRY(upgrade_input(net, file));
    FIRE_TRY(fire_fork_layers_upgrade(net, file));
    freeze_batch_norm(net, file);
    return FIRE_OK;
}

/* Replace the old enum by the name of the solver. */
static fire_status_t upgrade_solver_type(Caffe__SolverParameter *solver,
                                         const char             *file)
{
    static const char *const names[] = {"SGD",     "Nesterov", "AdaGrad",
                                        "RMSProp", "AdaDelta", "Adam"};
    const fire_field_t      *type =
        fire_field_find(&caffe__solver_parameter__descriptor, "type");

    if (!solver->has_solver_type) return FIRE_OK;
    if (fire_message_has(solver, type))
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: both type and the old solver_type are given; remove "
                         "solver_type",
                         file);
    if ((unsigned)solver->solver_type >= sizeof(names) / sizeof(names[0]))
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: solver_type %d is unknown", file,
                         (int)solver->solver_type);
    FIRE_TRY(fire_message_put(solver, type, &names[solver->solver_type]));
    fire_message_clear_field(solver, "solver_type");
    FIRE_LOG(WARNING,
             "%s: upgraded from the deprecated solver_type to type: \"%s\"" REWRITE,
             file, solver->type);
    return FIRE_OK;
}

/* ---- solver settings of forks that are ours under another name ---- */

static fire_status_t ours(Caffe__SolverParameter *solver, Caffe__FireParameter **fire_p)
{
    return fire_message_add_message(solver, "fire", fire_p);
}

/* "clip" takes the smaller of the layer's rate and the common one, "scale" their
 * product. */
static fire_status_t take_larc(Caffe__SolverParameter *solver, const char *file)
{
    bool                  clips = strcmp(solver->larc_policy, "clip") == 0;
    Caffe__FireParameter *f;

    if (!solver->larc) return FIRE_OK;
    if (!clips && strcmp(solver->larc_policy, "scale") != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: larc_policy is \"scale\" or \"clip\", not \"%s\"", file,
                         solver->larc_policy);
    FIRE_TRY(ours(solver, &f));
    FIRE_TRY(fire_message_add_string(f, "adapt", clips ? "larc" : "lars"));
    f->has_adapt_eta = true;
    f->adapt_eta     = solver->larc_eta;
    FIRE_LOG(INFO, "%s: larc is fire { adapt: \"%s\" adapt_eta: %g }", file, f->adapt,
             (double)f->adapt_eta);
    return FIRE_OK;
}

/* Both forks raise the rate linearly from a rate of its own; ours begins with a part of
 * base_lr. */
static fire_status_t take_warmup(Caffe__SolverParameter *solver, const char *file)
{
    bool                  intel = solver->warmup_iter > 0;
    int                   n     = intel ? solver->warmup_iter : solver->rampup_interval;
    float                 from  = intel ? solver->warmup_start_lr : solver->rampup_lr;
    Caffe__FireParameter *f;

    if (n <= 0 || solver->base_lr == 0) return FIRE_OK;
    FIRE_TRY(ours(solver, &f));
    f->has_warmup_iter = f->has_warmup_ratio = true;
    f->warmup_iter                           = n;
    f->warmup_ratio                          = from / solver->base_lr;
    FIRE_LOG(INFO, "%s: %s is fire { warmup_iter: %d warmup_ratio: %g }", file,
             intel ? "warmup_start_lr" : "rampup_lr", n, (double)f->warmup_ratio);
    return FIRE_OK;
}

static fire_status_t take_forks(Caffe__SolverParameter *solver, const char *file)
{
    FIRE_TRY(take_larc(solver, file));
    return take_warmup(solver, file);
}

fire_status_t fire_solver_param_upgrade(Caffe__SolverParameter *solver,
                                        const char             *file)
{
    FIRE_TRY(upgrade_solver_type(solver, file));
    FIRE_TRY(take_forks(solver, file));
    if (solver->net_param != NULL)
        FIRE_TRY(fire_net_param_upgrade(solver->net_param, file));
    if (solver->train_net_param != NULL)
        FIRE_TRY(fire_net_param_upgrade(solver->train_net_param, file));
    for (size_t i = 0; i < solver->n_test_net_param; i++)
        FIRE_TRY(fire_net_param_upgrade(solver->test_net_param[i], file));
    return FIRE_OK;
}
