/* vision.c - resizing, regions, and what depends on shapes alone. */
#include "onnx/export/put.h"

/* The linear resizing whose corners stay in place, after cutting negative pads off. */
void fire_onnx_put_interp(fire_onnx_export_t *x)
{
    static const Caffe__InterpParameter preset = CAFFE__INTERP_PARAMETER__INIT;
    const fire_layer_t                 *l      = x->layer;
    const Caffe__InterpParameter       *p      = l->param->interp_param;
    const fire_blob_t                  *b      = l->bottom[0];
    const char                         *v      = fire_onnx_in(x, 0), *sizes;

    if (p == NULL) p = &preset;
    for (int axis = 2; axis < 4 && (p->pad_beg != 0 || p->pad_end != 0); axis++)
        v = fire_onnx_cut(x, v, NULL, axis, -p->pad_beg, b->dim[axis] + p->pad_end);
    sizes = fire_onnx_shape(x, l->top[0], v, 2);
    fire_onnx_op(x, "Resize", fire_onnx_out(x, 0), v, "", "", sizes, NULL);
    fire_onnx_text(x, "mode", "linear");
    fire_onnx_text(x, "coordinate_transformation_mode", "align_corners");
}

/* With a mask: every value goes to its place in a plane of zeros. */
static void unpool(fire_onnx_export_t *x)
{
    const fire_layer_t *l = x->layer;
    const fire_blob_t  *b = l->bottom[0], *top = l->top[0];
    int64_t             plane = top->dim[2] * top->dim[3];
    int64_t             in[3] = {b->dim[0], b->dim[1], b->dim[2] * b->dim[3]};
    bool        open[3] = {fire_onnx_varies(x, b, 0), fire_onnx_varies(x, b, 1), false};
    const char *value, *index, *zeros;

    value = fire_onnx_reshape_to(x, fire_onnx_in(x, 0), NULL, b, 3, in, open);
    index = fire_onnx_reshape_to(x, fire_onnx_in(x, 1), NULL, b, 3, in, open);
    index = fire_onnx_op(x, "Cast", NULL, index, NULL);
    fire_onnx_int(x, "to", FIRE_ONNX(INT64));
    zeros = fire_onnx_op(x, "Shape", NULL, value, NULL);
    zeros = fire_onnx_cut(x, zeros, NULL, 0, 0, 2);
    zeros =
        fire_onnx_op(x, "Concat", NULL, zeros, fire_onnx_integers(x, 1, &plane), NULL);
    fire_onnx_int(x, "axis", 0);
    zeros = fire_onnx_op(x, "Expand", NULL, fire_onnx_scalar(x, 0.0f), zeros, NULL);
    value = fire_onnx_op(x, "ScatterElements", NULL, zeros, index, value, NULL);
    fire_onnx_int(x, "axis", 2);
    fire_onnx_reshape(x, value, fire_onnx_out(x, 0), b, top);
}

/* Without: every value is repeated, then what is too much is cut off. */
void fire_onnx_put_upsample(fire_onnx_export_t *x)
{
    static const Caffe__UpsampleParameter preset = CAFFE__UPSAMPLE_PARAMETER__INIT;
    const fire_layer_t                   *l      = x->layer;
    const Caffe__UpsampleParameter       *p      = l->param->upsample_param;
    static const int64_t                  four   = 4;
    const char                           *v;
    float                                 scale[4] = {1, 1};
    bool                                  cut;

    if (l->nbottom > 1) {
        unpool(x);
        return;
    }
    if (p == NULL) p = &preset;
    scale[2] = (float)(p->has_scale_h ? p->scale_h : p->scale);
    scale[3] = (float)(p->has_scale_w ? p->scale_w : p->scale);
    cut      = p->pad_out_h || p->pad_out_w;
    v = fire_onnx_op(x, "Resize", cut ? NULL : fire_onnx_out(x, 0), fire_onnx_in(x, 0),
                     "", fire_onnx_floats(x, 1, &four, scale), NULL);
    fire_onnx_text(x, "mode", "nearest");
    fire_onnx_text(x, "coordinate_transformation_mode", "asymmetric");
    fire_onnx_text(x, "nearest_mode", "floor");
    if (!cut) return;
    v = fire_onnx_cut(x, v, NULL, 2, 0, l->top[0]->dim[2]);
    fire_onnx_cut(x, v, fire_onnx_out(x, 0), 3, 0, l->top[0]->dim[3]);
}

void fire_onnx_put_roi_pooling(fire_onnx_export_t *x)
{
    const Caffe__ROIPoolingParameter *p       = x->layer->param->roi_pooling_param;
    const int64_t                     size[2] = {p->pooled_h, p->pooled_w};

    if (p->pad_ratio != 0) fire_onnx_refuse(x, "pad_ratio has no form in ONNX");
    fire_onnx_op(x, "MaxRoiPool", fire_onnx_out(x, 0), fire_onnx_in(x, 0),
                 fire_onnx_in(x, 1), NULL);
    fire_onnx_ints(x, "pooled_shape", 2, size);
    fire_onnx_float(x, "spatial_scale", p->spatial_scale);
}

/* That of Mask R-CNN: regions are (image, x1, y1, x2, y2). */
void fire_onnx_put_roi_align(fire_onnx_export_t *x)
{
    static const int64_t            all    = -1;
    const Caffe__ROIAlignParameter *p      = x->layer->param->roi_align_param;
    const char                     *region = fire_onnx_in(x, 1), *image;

    if (p == NULL) {
        fire_onnx_refuse(x, "the corners of bins, roi_pooling_param, have no form");
        return;
    }
    image = fire_onnx_cut(x, region, NULL, 1, 0, 1);
    image =
        fire_onnx_op(x, "Reshape", NULL, image, fire_onnx_integers(x, 1, &all), NULL);
    image = fire_onnx_op(x, "Cast", NULL, image, NULL);
    fire_onnx_int(x, "to", FIRE_ONNX(INT64));
    region = fire_onnx_cut(x, region, NULL, 1, 1, 5);
    fire_onnx_op(x, "RoiAlign", fire_onnx_out(x, 0), fire_onnx_in(x, 0), region, image,
                 NULL);
    fire_onnx_int(x, "output_height", p->pooled_h);
    fire_onnx_int(x, "output_width", p->pooled_w);
    fire_onnx_int(x, "sampling_ratio", p->sampling_ratio > 0 ? p->sampling_ratio : 0);
    fire_onnx_float(x, "spatial_scale", p->spatial_scale);
    if (x->opset >= 16)
        fire_onnx_text(x, "coordinate_transformation_mode", "output_half_pixel");
}

/* PriorBox: its values follow from shapes; the layer computes them now. */
void fire_onnx_put_constant(fire_onnx_export_t *x)
{
    const fire_blob_t *b = x->layer->top[0];
    const float       *values;
    const char        *name;

    for (int i = 0; i < b->ndim; i++)
        fire_onnx_needs_fixed(x, b, i);
    if (x->st >= 0) x->st = fire_net_forward(x->net, x->index, x->index, NULL);
    if (x->st >= 0)
        x->st = fire_blob_read(x->layer->top[0], FIRE_DATA, FIRE_CPU, &values);
    if (x->st < 0) return;
    name = fire_onnx_floats(x, b->ndim, b->dim, values);
    fire_onnx_op(x, "Identity", fire_onnx_out(x, 0), name, NULL);
}
