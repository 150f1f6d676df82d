/* What must not work: each layer type with settings or shapes of its own to check has at
 * least one net in tests/layers/wrong, whose failure names the layer and the reason.
 * Tests src/layers/layer.c. */
#include <unistd.h>

#include "cases.h"
#include "model/message.h"
#include "model/text.h"

static char wrong[1024];

/* Build the net and run it both ways; the first failure. */
static fire_status_t run(const layer_case_t *c)
{
    fire_net_t   *net;
    fire_status_t st;

    FIRE_TRY(case_create(c, c->param, "ref", &net));
    case_fill_inputs(c, net);
    st = fire_net_forward(net, 0, -1, NULL);
    if (st >= 0) st = fire_net_backward(net, -1, 0);
    fire_net_destroy(net);
    return st;
}

static const char *fails_as_it_says(const layer_case_t *c)
{
    char layer[128];

    snprintf(layer, sizeof(layer), "layer \"%s\" (%s): ", case_layer(c)->name,
             case_layer(c)->type);
    if (run(c) >= 0) return "works, but should not";
    if (strstr(fire_last_error(), layer) != NULL && c->says[0] != '\0' &&
        strstr(fire_last_error(), c->says) != NULL)
        return NULL;
    snprintf(wrong, sizeof(wrong), "should say \"%s...%s\", but says \"%s\"", layer,
             c->says, fire_last_error());
    return wrong;
}

TEST(wrong_use_of_a_layer_names_the_layer_and_the_reason)
{
    cases_each_wrong(fails_as_it_says);
}

static const char *tests_its_own_type(const layer_case_t *c)
{
    const char *type = case_layer(c)->type;

    return strncmp(c->file, type, strlen(type)) == 0 && c->file[strlen(type)] == '.'
               ? NULL
               : "its last layer is of another type";
}

/* Nothing can be wrong but the number of bottoms and tops. */
static bool checks_nothing(const fire_layer_ops_t *ops)
{
    return ops->setup == NULL && ops->reshape == fire_layer_reshape_same;
}

TEST(every_layer_type_has_a_case_of_wrong_use)
{
    for (int i = 0; fire_layer_at(i) != NULL; i++) {
        char path[128];

        if (checks_nothing(fire_layer_at(i))) continue;
        snprintf(path, sizeof(path), "tests/layers/wrong/%s.prototxt",
                 fire_layer_at(i)->type);
        if (access(test_source(path), R_OK) != 0) test_fail(path, 0, "is missing");
    }
    cases_each_wrong(tests_its_own_type);
}

/* A net whose only layer has one bottom more than its type takes. */
static fire_status_t build_with_too_many(const fire_layer_ops_t *ops)
{
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;
    char               text[1024];
    int                at = 0;
    ProtobufCMessage  *m;
    fire_net_t        *net;
    fire_status_t      st;

    at += snprintf(text + at, sizeof(text) - (size_t)at,
                   "layer { name: \"in\" type: \"Input\" top: \"x\" input_param { "
                   "shape { dim: 2 } } } layer { name: \"it\" type: \"%s\" top: \"y\"",
                   ops->type);
    for (int i = 0; i <= ops->bottoms.max; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, " bottom: \"x\"");
    snprintf(text + at, sizeof(text) - (size_t)at, " }");
    FIRE_TRY(fire_text_parse(text, strlen(text), "text",
                             &caffe__net_parameter__descriptor, &m));
    st = fire_net_create((Caffe__NetParameter *)m, &o, &net);
    if (st >= 0) fire_net_destroy(net);
    fire_message_free(m);
    return st;
}

TEST(every_layer_type_refuses_a_bottom_too_many)
{
    for (int i = 0; fire_layer_at(i) != NULL; i++) {
        const fire_layer_ops_t *ops = fire_layer_at(i);

        if (ops->bottoms.max < 0) continue;
        if (build_with_too_many(ops) >= 0) test_fail(ops->type, 0, "takes it");
        if (strstr(fire_last_error(), "layer \"it\"") == NULL ||
            strstr(fire_last_error(), "takes") == NULL)
            test_fail(ops->type, 0, "says \"%s\"", fire_last_error());
    }
}
