/* measured.c - names of what is measured. */
#include "runlog/measured.h"

#include <stdio.h>

const char *const fire_phase_names[FIRE_NPHASE] = {"data", "forward", "backward",
                                                   "exposed", "update"};

const char *const fire_activity_names[] = {
    [FIRE_ACTIVITY_FORWARD] = "forward",   [FIRE_ACTIVITY_BACKWARD] = "backward",
    [FIRE_ACTIVITY_EXCHANGE] = "exchange", [FIRE_ACTIVITY_WAIT] = "wait",
    [FIRE_ACTIVITY_UPDATE] = "update",     [FIRE_ACTIVITY_ITERATION] = "iteration"};

void fire_times_add(fire_times_t *sum, const fire_times_t *t)
{
    sum->seconds += t->seconds;
    sum->hidden += t->hidden;
    sum->bytes += t->bytes;
    for (int i = 0; i < FIRE_NPHASE; i++)
        sum->phase[i] += t->phase[i];
}

static const fire_layer_label_t *label_of(const fire_layer_times_t *layers,
                                          const fire_activity_t    *a)
{
    bool has_one =
        a->kind == FIRE_ACTIVITY_FORWARD || a->kind == FIRE_ACTIVITY_BACKWARD;

    return has_one && a->index < layers->nlayer ? &layers->label[a->index] : NULL;
}

const char *fire_activity_name(const fire_layer_times_t *layers,
                               const fire_activity_t *a, char *buf, size_t size)
{
    const fire_layer_label_t *l = label_of(layers, a);

    if (l != NULL)
        snprintf(buf, size, "%s", l->name);
    else if (a->kind == FIRE_ACTIVITY_EXCHANGE)
        snprintf(buf, size, "bucket %d", a->index);
    else if (a->kind == FIRE_ACTIVITY_ITERATION)
        snprintf(buf, size, "iteration +%d", a->index);
    else
        snprintf(buf, size, "%s", fire_activity_names[a->kind]);
    return buf;
}

bool fire_activity_is_data(const fire_layer_times_t *layers, const fire_activity_t *a)
{
    const fire_layer_label_t *l = label_of(layers, a);

    return l != NULL && l->is_source;
}
