/* fault.c - bad inputs that kernels find (a label out of range) become errors of the
 * host, when it next waits for the GPU. */
#include <string.h>

#include "base/alloc.h"
#include "base/text/text.h"
#include "device/cuda/cuda.h"

void fire_gpu_set_current_layer(fire_stream_t *s, const char *layer)
{
    s->current_layer = layer;
}

/* The number, from 1, of a copy of this name: when the kernel runs, the layer may be
 * gone. 0 if memory is out. */
static int number_of(fire_stream_t *s, const char *name)
{
    for (int64_t i = 0; i < s->nname; i++)
        if (strcmp(s->name[i], name) == 0) return (int)i + 1;
    if (fire_grow(&s->name, &s->name_cap, s->nname + 1, sizeof(*s->name)) < 0 ||
        fire_strdup(name, &s->name[s->nname]) < 0)
        return 0;
    return (int)++s->nname;
}

fire_cuda_reporter_t fire_cuda_make_reporter(fire_stream_t *s)
{
    return (fire_cuda_reporter_t){
        s->fault, s->current_layer != NULL ? number_of(s, s->current_layer) : 0};
}

fire_status_t fire_cuda_check_fault(fire_stream_t *s)
{
    int layer = s->fault->layer, classes = s->fault->classes;

    if (layer <= 0 || layer > s->nname) return FIRE_OK;
    s->fault->layer = 0;
    if (s->fault->is_index)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "layer \"%s\": index %g; it must be from 0 to %d",
                         s->name[layer - 1], (double)s->fault->label, classes - 1);
    return FIRE_FAIL(
        FIRE_ERR_INVALID,
        "layer \"%s\": label %g is none of the %d classes 0 ... %d; check the "
        "labels, or the number of outputs below",
        s->name[layer - 1], (double)s->fault->label, classes, classes - 1);
}
