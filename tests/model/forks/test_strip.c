/* Binary nets of forks, whose layers have fields that Caffe has not or has others for. */
#include "base/file.h"
#include "model/forks/strip.h"
#include "model/load.h"
#include "test.h"

/* name: "n", a layer "c" of type "BN" with blob [0.5], and a field of its own between:
 * 143 is input_param, a message, here with a number in it where Caffe has a shape. */
static const char net[] = "\x0a\x01n"
                          "\xa2\x06\x14"
                          "\x0a\x01"
                          "c"
                          "\x12\x02"
                          "BN"
                          "\xfa\x08\x02\x08\x05"
                          "\x3a\x06\x2a\x04\x00\x00\x00\x3f";

TEST(a_net_of_a_fork_keeps_names_and_weights)
{
    char                 path[512];
    Caffe__NetParameter *m;

    snprintf(path, sizeof(path), "%s/fork.caffemodel", test_tmpdir());
    CHECK_OK(fire_file_write(path, net, sizeof(net) - 1));
    CHECK_OK(fire_net_param_load_binary(path, &m));
    CHECK_EQ(m->n_layer, 1);
    CHECK_STR(m->layer[0]->name, "c");
    CHECK_STR(m->layer[0]->type, "BN");
    CHECK(m->layer[0]->input_param == NULL);
    CHECK_EQ(m->layer[0]->n_blobs, 1);
    CHECK_NEAR(m->layer[0]->blobs[0]->data[0], 0.5, 0);
    fire_message_free(m);
}

TEST(stripping_leaves_what_every_caffe_has)
{
    char   copy[sizeof(net)];
    size_t n;

    memcpy(copy, net, sizeof(net));
    CHECK(fire_foreign_strip(copy, sizeof(net) - 1, &n));
    CHECK_EQ(n, sizeof(net) - 1 - 5); /* the field of its own */
    CHECK_EQ(copy[5], 0x14 - 5);      /* length of the layer */
    CHECK(memcmp(copy + n - 4, "\x00\x00\x00\x3f", 4) == 0);
}

TEST(stripping_sees_what_is_cut_off_or_no_message)
{
    char   copy[sizeof(net)];
    size_t n;

    memcpy(copy, net, sizeof(net));
    CHECK(!fire_foreign_strip(copy, sizeof(net) - 3, &n));
    memcpy(copy, "\x0f\x01", 2); /* wire type 7 */
    CHECK(!fire_foreign_strip(copy, 2, &n));
    memcpy(copy, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    CHECK(!fire_foreign_strip(copy, 11, &n));
}
