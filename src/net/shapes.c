/* shapes.c - edits the shapes of a NetParameter before the net is built. A data layer
 * whose database is missing becomes an Input layer of a given or guessed shape. */
#include "net/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "blob/blob.h"
#include "model/load.h"

/* A shape for a blob, as --shape gives it. */
typedef struct shape {
    char    blob[256];
    int     ndim;
    int64_t dim[FIRE_MAX_DIMS];
} shape_t;

/* "BLOB=N,C,H,W"; x may be written instead of commas. */
static fire_status_t parse_shape(const char *text, shape_t *s)
{
    const char *c = strchr(text, '=');

    if (c == NULL || (size_t)(c - text) >= sizeof(s->blob))
        return FIRE_FAIL(FIRE_ERR_INVALID, "--shape %s: write BLOB=N,C,H,W", text);
    snprintf(s->blob, sizeof(s->blob), "%.*s", (int)(c - text), text);
    s->ndim = 0;
    do {
        char     *end;
        long long d = strtoll(c + 1, &end, 10);

        if (end == c + 1 || d < 1 || (*end != ',' && *end != 'x' && *end != '\0') ||
            s->ndim == FIRE_MAX_DIMS)
            return FIRE_FAIL(FIRE_ERR_INVALID, "--shape %s: write BLOB=N,C,H,W", text);
        s->dim[s->ndim++] = d;
        c                 = end;
    } while (*c != '\0');
    return FIRE_OK;
}

static const char *type_of(const Caffe__LayerParameter *l)
{
    return l->type != NULL ? l->type : "";
}

/* Is the blob a top of a data layer (one without bottoms)? */
static bool is_source_of(const Caffe__LayerParameter *l, const char *blob)
{
    for (size_t i = 0; i < l->n_top; i++)
        if (strcmp(l->top[i], blob) == 0) return l->n_bottom == 0;
    return false;
}

static fire_status_t set_shape(Caffe__BlobShape *shape, int ndim, const int64_t *dim)
{
    const fire_field_t *field = fire_field_find(&caffe__blob_shape__descriptor, "dim");

    fire_message_clear(shape, field);
    for (int i = 0; i < ndim; i++)
        FIRE_TRY(fire_message_put(shape, field, &dim[i]));
    return FIRE_OK;
}

static bool is_input(const Caffe__LayerParameter *l)
{
    return strcmp(type_of(l), "Input") == 0 && l->input_param != NULL &&
           l->input_param->n_shape == l->n_top;
}

/* Turn a data layer into an Input layer: all its tops get the shape (N), as labels
 * have. */
static fire_status_t become_input(Caffe__LayerParameter *l, const shape_t *s)
{
    static const char     *type_name = "Input";
    Caffe__InputParameter *input;

    FIRE_TRY(
        fire_message_put(l, fire_field_find(l->base.descriptor, "type"), &type_name));
    fire_message_clear(l, fire_field_find(l->base.descriptor, "input_param"));
    FIRE_TRY(fire_message_add_message(l, "input_param", &input));
    for (size_t i = 0; i < l->n_top; i++) {
        Caffe__BlobShape *shape;

        FIRE_TRY(fire_message_add_message(input, "shape", &shape));
        FIRE_TRY(set_shape(shape, 1, s->dim));
    }
    return FIRE_OK;
}

/* Give one top of a data layer its shape; other tops of an Input layer keep theirs. */
static fire_status_t give_shape(Caffe__LayerParameter *l, const shape_t *s)
{
    if (!is_input(l)) FIRE_TRY(become_input(l, s));
    for (size_t i = 0; i < l->n_top; i++)
        if (strcmp(l->top[i], s->blob) == 0)
            FIRE_TRY(set_shape(l->input_param->shape[i], s->ndim, s->dim));
    return FIRE_OK;
}

static fire_status_t apply_shape(Caffe__NetParameter *param, const char *file,
                                 const shape_t *s)
{
    bool found = false;

    for (size_t i = 0; i < param->n_layer; i++)
        if (is_source_of(param->layer[i], s->blob)) {
            FIRE_TRY(give_shape(param->layer[i], s));
            found = true;
        }
    if (!found)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--shape: no data layer of %s has the top \"%s\"", file,
                         s->blob);
    return FIRE_OK;
}

/* (channels, height, width) of the input of deploy.prototxt in the same directory, if
 * there is one. */
static bool shape_of_deploy(const char *file, int64_t dim[3])
{
    const char                  *slash  = strrchr(file, '/');
    int                          n      = slash != NULL ? (int)(slash - file) + 1 : 0;
    Caffe__NetParameter         *deploy = NULL;
    const Caffe__InputParameter *input;
    char                         path[1024];
    bool                         found = false;

    snprintf(path, sizeof(path), "%.*sdeploy.prototxt", n, file);
    if (access(path, R_OK) != 0 || fire_net_param_load_text(path, &deploy) < 0)
        return false;
    input = deploy->n_layer > 0 ? deploy->layer[0]->input_param : NULL;
    if (input != NULL && input->n_shape > 0 && input->shape[0]->n_dim == 4) {
        memcpy(dim, input->shape[0]->dim + 1, 3 * sizeof(*dim));
        found = true;
    }
    fire_message_free(deploy);
    return found;
}

/* For a Data layer whose database is missing: images of crop_size, or of the deploy
 * net's size. */
static fire_status_t assume_shape(Caffe__LayerParameter *l, const char *file)
{
    const Caffe__TransformationParameter *t = l->transform_param;
    shape_t                               s = {.ndim = 4};

    if (is_input(l) || l->data_param == NULL || l->data_param->source == NULL ||
        l->n_top == 0 || access(l->data_param->source, F_OK) == 0)
        return FIRE_OK;
    snprintf(s.blob, sizeof(s.blob), "%s", l->top[0]);
    s.dim[0] = l->data_param->batch_size;
    s.dim[1] = t != NULL && t->force_gray ? 1 : 3;
    s.dim[2] = s.dim[3] = t != NULL ? t->crop_size : 0;
    if (s.dim[2] == 0 && !shape_of_deploy(file, s.dim + 1)) {
        FIRE_LOG(WARNING,
                 "layer \"%s\": %s is missing; without it, give the shape of its "
                 "images: --shape %s=N,C,H,W",
                 l->name != NULL ? l->name : "", l->data_param->source, s.blob);
        return FIRE_OK;
    }
    FIRE_LOG(WARNING, "layer \"%s\": %s is missing; assuming %lld x %lld x %lld x %lld",
             l->name != NULL ? l->name : "", l->data_param->source, (long long)s.dim[0],
             (long long)s.dim[1], (long long)s.dim[2], (long long)s.dim[3]);
    return give_shape(l, &s);
}

uint32_t *fire_layer_batch_size(const Caffe__LayerParameter *l)
{
    const ProtobufCMessageDescriptor *d = &caffe__layer_parameter__descriptor;

    for (unsigned i = 0; i < d->n_fields; i++) {
        const fire_field_t *settings = &d->fields[i], *batch;
        ProtobufCMessage   *inside;

        if (settings->type != PROTOBUF_C_TYPE_MESSAGE ||
            settings->label == PROTOBUF_C_LABEL_REPEATED ||
            !fire_message_has(l, settings))
            continue;
        inside = *(ProtobufCMessage **)fire_message_at(l, settings, 0);
        batch  = fire_field_find(inside->descriptor, "batch_size");
        if (batch != NULL && fire_message_has(inside, batch))
            return fire_message_at(inside, batch, 0);
    }
    return NULL;
}

/* Set axis 0 of all shapes. */
static bool set_first(size_t n, Caffe__BlobShape **shape, int64_t batch)
{
    bool any = false;

    for (size_t i = 0; i < n; i++)
        if (shape[i]->n_dim > 0) {
            shape[i]->dim[0] = batch;
            any              = true;
        }
    return any;
}

/* Set the batch size of a layer that has one; the shapes of all others follow. */
static bool apply_batch(Caffe__LayerParameter *l, int64_t batch)
{
    const Caffe__InputParameter     *input = l->input_param;
    const Caffe__DummyDataParameter *dummy = l->dummy_data_param;
    uint32_t                        *size  = fire_layer_batch_size(l);
    bool                             any   = size != NULL;

    if (size != NULL) *size = (uint32_t)batch;
    if (input != NULL) any |= set_first(input->n_shape, input->shape, batch);
    if (dummy == NULL) return any;
    for (size_t i = 0; i < dummy->n_num; i++)
        dummy->num[i] = (uint32_t)batch;
    return any | set_first(dummy->n_shape, dummy->shape, batch) | (dummy->n_num > 0);
}

fire_status_t fire_net_set_shapes(Caffe__NetParameter     *param,
                                  const fire_net_shapes_t *wanted)
{
    bool taken = wanted->batch == 0;

    for (int64_t k = 0; k < wanted->nshape; k++) {
        shape_t s;

        FIRE_TRY(parse_shape(wanted->shape[k], &s));
        FIRE_TRY(apply_shape(param, wanted->file, &s));
    }
    for (size_t i = 0; i < param->n_layer; i++) {
        FIRE_TRY(assume_shape(param->layer[i], wanted->file));
        if (wanted->batch > 0) taken |= apply_batch(param->layer[i], wanted->batch);
    }
    if (!taken)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: no layer has a batch size, or a shape whose first axis "
                         "could be set",
                         wanted->file);
    return FIRE_OK;
}
