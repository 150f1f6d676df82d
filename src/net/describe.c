/* describe.c - writes the layers of a net as JSON. */
#include "net/describe.h"
#include "net/net_state.h"

static void add_names(fire_json_writer_t *w, const char *key, size_t n, char **name)
{
    fire_json_open(w, key, '[');
    for (size_t i = 0; i < n; i++)
        fire_json_add_string(w, NULL, name[i]);
    fire_json_close(w, ']');
}

static void add_shapes(fire_json_writer_t *w, const fire_layer_t *l)
{
    fire_json_open(w, "shapes", '[');
    for (int i = 0; i < l->ntop; i++) {
        fire_json_open(w, NULL, '[');
        for (int k = 0; k < fire_blob_ndim(l->top[i]); k++)
            fire_json_add_int(w, NULL, fire_blob_dims(l->top[i])[k]);
        fire_json_close(w, ']');
    }
    fire_json_close(w, ']');
}

/* Elements of all parameters of a layer. */
static int64_t count_params(const fire_layer_t *l)
{
    int64_t n = 0;

    for (int i = 0; i < l->nblob; i++)
        n += fire_blob_count(l->blob[i]);
    return n;
}

void fire_net_describe(fire_json_writer_t *w, const char *key, const fire_net_t *net)
{
    fire_json_open(w, key, '[');
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t          *l = &net->layer[i].base;
        const Caffe__LayerParameter *p = l->param;

        fire_json_open(w, NULL, '{');
        fire_json_add_string(w, "name", p->name != NULL ? p->name : "");
        fire_json_add_string(w, "type", p->type);
        add_names(w, "bottoms", p->n_bottom, p->bottom);
        add_names(w, "tops", p->n_top, p->top);
        add_shapes(w, l);
        fire_json_add_int(w, "params", count_params(l));
        if (l->ops->macs != NULL) fire_json_add_number(w, "macs", l->ops->macs(l));
        if (l->kernel != NULL) fire_json_add_string(w, "kernel", l->kernel->name);
        fire_json_close(w, '}');
    }
    fire_json_close(w, ']');
}
