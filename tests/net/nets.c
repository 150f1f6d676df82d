/* nets.c - reads and makes the nets. */
#include "nets.h"

#include "model/load.h"
#include "model/text.h"

Caffe__NetParameter *net_param(const char *text)
{
    ProtobufCMessage *m;

    CHECK_OK(fire_text_parse(text, strlen(text), "test.prototxt",
                             &caffe__net_parameter__descriptor, &m));
    return (Caffe__NetParameter *)m;
}

fire_status_t net_try(const char *text, Caffe__Phase phase, fire_net_t **net_p)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *p = net_param(text);
    fire_status_t        st;

    o.phase = phase;
    st      = fire_net_create(p, &o, net_p);
    fire_message_free(p);
    return st;
}

fire_net_t *net_make(const char *text, Caffe__Phase phase)
{
    fire_net_t *net;

    CHECK_OK(net_try(text, phase, &net));
    return net;
}

Caffe__NetParameter *net_file(const char *name)
{
    Caffe__NetParameter *p;
    char                 path[128];

    snprintf(path, sizeof(path), "tests/net/%s.prototxt", name);
    CHECK_OK(fire_net_param_load_text(test_source(path), &p));
    return p;
}

fire_net_t *net_make_file(const char *name, Caffe__Phase phase)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *p = net_file(name);
    fire_net_t          *net;

    o.phase = phase;
    CHECK_OK(fire_net_create(p, &o, &net));
    fire_message_free(p);
    return net;
}

void net_fill(fire_net_t *net, const char *blob, float value)
{
    CHECK_OK(fire_blob_set(fire_net_find_blob(net, blob), FIRE_DATA, value));
}
