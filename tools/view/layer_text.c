/* layer_text.c - windows of convolution and pooling layers as text. */
#include "view/layer_text.h"

#include <string.h>

static fire_status_t print_window(fire_str_t *out, unsigned kernel, unsigned stride,
                                  unsigned pad)
{
    FIRE_TRY(fire_str_printf(out, "%u", kernel));
    if (stride != 1) FIRE_TRY(fire_str_printf(out, "/%u", stride));
    return pad != 0 ? fire_str_printf(out, "+%u", pad) : FIRE_OK;
}

const char *layer_type(const Caffe__LayerParameter *l)
{
    return l->type != NULL ? l->type : "";
}

fire_status_t layer_print_window(const Caffe__LayerParameter *l, fire_str_t *out)
{
    const Caffe__ConvolutionParameter *c = l->convolution_param;
    const Caffe__PoolingParameter     *p = l->pooling_param;

    if (strcmp(layer_type(l), "Pooling") == 0 && p != NULL && p->has_kernel_size)
        return print_window(out, p->kernel_size, p->stride, p->pad);
    if (c == NULL || c->n_kernel_size != 1) return FIRE_OK;
    FIRE_TRY(print_window(out, c->kernel_size[0], c->n_stride > 0 ? c->stride[0] : 1,
                          c->n_pad > 0 ? c->pad[0] : 0));
    FIRE_TRY(fire_str_printf(out, " %u", c->num_output));
    return c->group != 1 ? fire_str_printf(out, "/%u", c->group) : FIRE_OK;
}
