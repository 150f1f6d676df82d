/* filter.c - keeps the layers of a NetParameter that belong to a phase, level and
 * stages. */
#include <string.h>

#include "base/log.h"
#include "net/net.h"

/* Is this stage set? */
static bool has_stage(const Caffe__NetState *state, const char *stage)
{
    for (size_t i = 0; i < state->n_stage; i++)
        if (strcmp(state->stage[i], stage) == 0) return true;
    return false;
}

/* Are all conditions of the rule true in this state? */
static bool satisfies(const Caffe__NetState *state, const Caffe__NetStateRule *rule)
{
    if (rule->has_phase && rule->phase != state->phase) return false;
    if (rule->has_min_level && state->level < rule->min_level) return false;
    if (rule->has_max_level && state->level > rule->max_level) return false;
    for (size_t i = 0; i < rule->n_stage; i++)
        if (!has_stage(state, rule->stage[i])) return false;
    for (size_t i = 0; i < rule->n_not_stage; i++)
        if (has_stage(state, rule->not_stage[i])) return false;
    return true;
}

/* A layer without rules is always included. With `include` rules one must be satisfied,
 * with `exclude` rules none. */
static bool is_included(const Caffe__LayerParameter *l, const Caffe__NetState *state)
{
    bool included = l->n_include == 0; /* no rule: everywhere */

    for (size_t i = 0; i < l->n_exclude && included; i++)
        included = !satisfies(state, l->exclude[i]);
    for (size_t i = 0; i < l->n_include && !included; i++)
        included = satisfies(state, l->include[i]);
    return included;
}

fire_status_t fire_net_filter(const Caffe__NetParameter *in,
                              const Caffe__NetState *state, Caffe__NetParameter **out_p)
{
    Caffe__NetParameter *out;
    size_t               kept = 0;

    for (size_t i = 0; i < in->n_layer; i++)
        if (in->layer[i]->n_include > 0 && in->layer[i]->n_exclude > 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "layer \"%s\" has both include and exclude rules; use one "
                             "kind",
                             in->layer[i]->name);
    FIRE_TRY(fire_message_copy(in, (ProtobufCMessage **)&out));
    for (size_t i = 0; i < out->n_layer; i++)
        if (is_included(out->layer[i], state))
            out->layer[kept++] = out->layer[i];
        else
            fire_message_free(out->layer[i]);
    out->n_layer = kept;
    *out_p       = out;
    return FIRE_OK;
}
