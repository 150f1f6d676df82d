/* fuzz_text.c - text format: what is read can be printed, and reading that again
 * gives the same. The first byte picks the message. */
#include <stdlib.h>
#include "caffe.pb-c.h"
#include "fuzz.h"
#include "model/text.h"
#include "model/upgrade.h"

static const ProtobufCMessageDescriptor *const kinds[] = {
    &caffe__net_parameter__descriptor,
    &caffe__solver_parameter__descriptor,
    &caffe__datum__descriptor,
    &caffe__solver_state__descriptor,
};

static void upgrade(ProtobufCMessage *msg)
{
    if (msg->descriptor == kinds[0])
        IGNORE(fire_net_param_upgrade((Caffe__NetParameter *)msg, "fuzz"));
    if (msg->descriptor == kinds[1])
        IGNORE(fire_solver_param_upgrade((Caffe__SolverParameter *)msg, "fuzz"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const ProtobufCMessageDescriptor *desc;
    ProtobufCMessage                 *msg, *back, *copy;
    fire_str_t                        text = {0};

    if (n == 0) return 0;
    desc = kinds[data[0] % 4];
    if (fire_text_parse((const char *)data + 1, n - 1, "fuzz", desc, &msg) < 0)
        return 0;
    MUST(fire_text_print(msg, &text) == FIRE_OK);
    MUST(fire_text_parse(text.text, (size_t)text.n, "again", desc, &back) == FIRE_OK);
    MUST(fire_message_equal(msg, back));
    MUST(fire_message_copy(back, &copy) == FIRE_OK);
    MUST(fire_message_equal(msg, copy));
    upgrade(msg);
    fire_message_free(msg);
    fire_message_free(back);
    fire_message_free(copy);
    fire_str_fini(&text);
    return 0;
}
