/* fuzz_caffemodel.c - binary nets: unpacked, upgraded, every blob read out; and stripped
 * of their layers' settings, as nets of forks are. */
#include <string.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "model/blob_proto.h"
#include "model/forks/strip.h"
#include "model/message.h"
#include "model/text.h"
#include "model/upgrade.h"

enum { VALUES_MAX = 1 << 16 };

static void read_blob(const Caffe__BlobProto *blob)
{
    static float values[VALUES_MAX];
    int64_t      dim[FIRE_MAX_DIMS], count;
    int          ndim;

    if (fire_blob_proto_shape(blob, "fuzz", &ndim, dim, &count) < 0) return;
    MUST(fire_blob_proto_fits(blob, ndim, dim));
    if (count > VALUES_MAX) return;
    IGNORE(fire_blob_proto_read(blob, FIRE_DATA, "fuzz", count, values));
    IGNORE(fire_blob_proto_read(blob, FIRE_DIFF, "fuzz", count, values));
}

static void strip(const uint8_t *data, size_t n)
{
    uint8_t          *copy = malloc(n + 1);
    ProtobufCMessage *net;
    size_t            rest;

    memcpy(copy, data, n);
    if (fire_foreign_strip(copy, n, &rest)) {
        MUST(rest <= n);
        if (fire_message_unpack(&caffe__net_parameter__descriptor, copy, rest, "fuzz",
                                &net) == FIRE_OK)
            fire_message_free(net);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    Caffe__NetParameter *net;
    ProtobufCMessage    *copy;
    fire_str_t           text = {0};

    strip(data, n);
    if (fire_message_unpack(&caffe__net_parameter__descriptor, data, n, "fuzz",
                            (ProtobufCMessage **)&net) < 0)
        return 0;
    MUST(fire_message_copy(net, &copy) == FIRE_OK);
    MUST(fire_message_equal(net, copy));
    MUST(fire_text_print(net, &text) == FIRE_OK);
    if (fire_net_param_upgrade(net, "fuzz") == FIRE_OK)
        for (size_t i = 0; i < net->n_layer; i++)
            for (size_t b = 0; b < net->layer[i]->n_blobs; b++)
                read_blob(net->layer[i]->blobs[b]);
    fire_str_fini(&text);
    fire_message_free(copy);
    fire_message_free(net);
    return 0;
}
