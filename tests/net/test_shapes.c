/* Shapes for nets without their data. */
#include "net/shapes.h"
#include "nets.h"

#define DATA                                                                        \
    "layer { name: 'd' type: 'Data' top: 'data' top: 'label' data_param { source: " \
    "'nowhere' batch_size: 4 } transform_param { crop_size: 6 } }"
#define INPUT                                                          \
    "layer { name: 'd' type: 'Input' top: 'data' input_param { shape " \
    "{ dim: 2 dim: 3 dim: 5 dim: 5 } } }"

static fire_status_t set(const char *text, const char *shape, int64_t batch,
                         Caffe__NetParameter **p)
{
    const fire_net_shapes_t wanted = {.file   = "here/net.prototxt",
                                      .shape  = &shape,
                                      .nshape = shape != NULL,
                                      .batch  = batch};

    *p = net_param(text);
    return fire_net_set_shapes(*p, &wanted);
}

static void check_dims(const Caffe__LayerParameter *l, int top, int n, const int64_t *d)
{
    const Caffe__BlobShape *s = l->input_param->shape[top];

    CHECK_STR(l->type, "Input");
    CHECK_EQ(s->n_dim, n);
    for (int i = 0; i < n; i++)
        CHECK_EQ(s->dim[i], d[i]);
}

TEST(data_that_are_missing_have_the_shape_of_the_crop)
{
    Caffe__NetParameter *p;

    CHECK_OK(set(DATA, NULL, 0, &p));
    check_dims(p->layer[0], 0, 4, (const int64_t[]){4, 3, 6, 6});
    check_dims(p->layer[0], 1, 1, (const int64_t[]){4}); /* labels: one a sample */
    fire_message_free(p);
}

TEST(a_shape_that_is_given_wins)
{
    Caffe__NetParameter *p;

    CHECK_OK(set(DATA, "data=2,1,8x9", 0, &p));
    check_dims(p->layer[0], 0, 4, (const int64_t[]){2, 1, 8, 9});
    fire_message_free(p);
}

TEST(a_batch_replaces_the_first_length_of_every_input)
{
    Caffe__NetParameter *p;

    CHECK_OK(set(INPUT, NULL, 7, &p));
    check_dims(p->layer[0], 0, 4, (const int64_t[]){7, 3, 5, 5});
    fire_message_free(p);
    CHECK_OK(set("layer { name: 'd' type: 'Data' top: 'x' data_param { source: '/' "
                 "batch_size: 4 } }",
                 NULL, 9, &p));
    CHECK_EQ(*fire_layer_batch_size(p->layer[0]), 9);
    fire_message_free(p);
}

TEST(what_no_layer_takes_is_an_error)
{
    Caffe__NetParameter *p;

    CHECK_FAILS(set(INPUT, "image=1,3", 0, &p), FIRE_ERR_INVALID,
                "no data layer of here/net.prototxt has the top \"image\"");
    fire_message_free(p);
    CHECK_FAILS(set(INPUT, "data=1,,2", 0, &p), FIRE_ERR_INVALID, "write BLOB=N,C,H,W");
    fire_message_free(p);
    CHECK_FAILS(
        set("layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'x' }", NULL, 3, &p),
        FIRE_ERR_INVALID, "no layer has a batch size");
    fire_message_free(p);
}
