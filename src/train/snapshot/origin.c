/* origin.c - what a snapshot was made with: solver type, batch and data. A run may go on
 * with others, and Caffe would not say a word; results then are no continuation. */
#include <string.h>

#include "base/log.h"
#include "model/message.h"
#include "train/trainer_state.h"

/* Where the data of a layer are; NULL: it names no place. */
static const char *source_of(const Caffe__LayerParameter *p)
{
    if (p->data_param != NULL) return p->data_param->source;
    if (p->image_data_param != NULL) return p->image_data_param->source;
    if (p->hdf5_data_param != NULL) return p->hdf5_data_param->source;
    if (p->window_data_param != NULL) return p->window_data_param->source;
    return NULL;
}

fire_status_t fire_trainer_save_origin(const fire_trainer_t *t, Caffe__FireState *ours)
{
    ours->has_batch = true;
    ours->batch     = t->batch * t->param->iter_size;
    FIRE_TRY(fire_message_add_string(ours, "solver_type", t->solver->rule->type));
    for (int i = 0; i < t->net->nlayer; i++) {
        const char *source = source_of(t->net->layer[i].base.param);

        if (source != NULL) FIRE_TRY(fire_message_add_string(ours, "source", source));
    }
    return FIRE_OK;
}

/* Data layers are compared in their order. */
static void compare_sources(const fire_trainer_t *t, const Caffe__FireState *ours)
{
    size_t k = 0;

    for (int i = 0; i < t->net->nlayer; i++) {
        const char *source = source_of(t->net->layer[i].base.param);

        if (source == NULL || k == ours->n_source) continue;
        if (strcmp(source, ours->source[k]) != 0)
            FIRE_LOG(WARNING,
                     "the snapshot was made with the data \"%s\", this run has \"%s\": "
                     "if these are others, it goes on at a place in them that means "
                     "nothing",
                     ours->source[k], source);
        k++;
    }
}

void fire_trainer_compare_origin(const fire_trainer_t *t, const Caffe__FireState *ours)
{
    int64_t batch = t->batch * t->param->iter_size;

    if (ours == NULL || fire_trainer_rank(t) != 0) return;
    if (ours->solver_type != NULL &&
        strcmp(ours->solver_type, t->solver->rule->type) != 0)
        FIRE_LOG(WARNING,
                 "the snapshot was made with the solver type %s, this run has %s: its "
                 "history means something else",
                 ours->solver_type, t->solver->rule->type);
    if (ours->has_batch && ours->batch != batch)
        FIRE_LOG(
            WARNING,
            "the snapshot was made with batches of %lld, this run has %lld: it goes "
            "on at another place in its data, and results will differ",
            (long long)ours->batch, (long long)batch);
    compare_sources(t, ours);
}
