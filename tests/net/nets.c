#include "nets.h"

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
