/* Weights as named arrays. Tests src/model/tensors/. */
#include "model/tensors/tensors.h"

#include "base/alloc.h"
#include "base/file.h"
#include "model/blob_proto.h"
#include "model/load.h"
#include "test.h"

#define FLOATS(name, a, b) \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[" a "," b "]}"

/* A .safetensors file: the header, and 16 bytes of values: 1 2 3 4. */
static size_t make(char *file, const char *header)
{
    static const float values[4] = {1, 2, 3, 4};
    uint64_t           n         = strlen(header);

    memcpy(file, &n, 8);
    memcpy(file + 8, header, n);
    memcpy(file + 8 + n, values, sizeof(values));
    return 8 + n + sizeof(values);
}

static Caffe__NetParameter *parse(const char *header)
{
    Caffe__NetParameter *net;
    char                 file[2048];
    size_t               n = make(file, header);

    CHECK_OK(fire_safetensors_parse(file, n, "a", &net));
    return net;
}

static void refuses(const char *header, fire_status_t st, const char *message)
{
    Caffe__NetParameter *net;
    char                 file[2048];
    size_t               n = make(file, header);

    CHECK_FAILS(fire_safetensors_parse(file, n, "a", &net), st, message);
}

TEST(arrays_become_parameters_by_their_names)
{
    Caffe__NetParameter *net = parse("{" FLOATS("c.bias", "8", "16") "," FLOATS(
        "c.weight", "0", "8") "," FLOATS("a.b.bias", "0", "8") "}");

    CHECK_EQ(net->n_layer, 2);
    CHECK_STR(net->layer[0]->name, "a.b"); /* a Bias layer has no other */
    CHECK_EQ(net->layer[0]->n_blobs, 1);
    CHECK_STR(net->layer[1]->name, "c");
    CHECK_EQ(net->layer[1]->n_blobs, 2);
    CHECK_EQ(net->layer[1]->blobs[0]->data[1], 2);
    CHECK_EQ(net->layer[1]->blobs[1]->data[0], 3);
    fire_message_free(net);
}

TEST(a_batch_normalisation_of_pytorch_is_two_layers)
{
    Caffe__NetParameter *net = parse("{\"__metadata__\":{\"format\":\"pt\"}," FLOATS(
        "n.weight", "0",
        "8") "," FLOATS("n.bias", "0",
                        "8") "," FLOATS("n.running_mean", "8",
                                        "16") "," FLOATS("n.running_var", "0",
                                                         "8") ","
                                                              "\"n.num_batches_"
                                                              "tracked\":{\"dtype\":"
                                                              "\"I64\",\"shape\":[],"
                                                              "\"data_offsets\":[0,8]"
                                                              "}}");

    CHECK_EQ(net->n_layer, 2);
    CHECK_STR(net->layer[0]->name, "n");
    CHECK_EQ(net->layer[0]->n_blobs, 2);
    CHECK_STR(net->layer[1]->name, "n/batchnorm");
    CHECK_EQ(net->layer[1]->n_blobs, 3);
    CHECK_EQ(net->layer[1]->blobs[0]->data[0], 3);
    CHECK_EQ(net->layer[1]->blobs[2]->data[0], 1);
    fire_message_free(net);
}

TEST(half_floats_and_doubles_are_read)
{
    Caffe__NetParameter *net = parse(
        "{\"a.weight\":{\"dtype\":\"BF16\",\"shape\":[2,1],\"data_offsets\":[0,4]},"
        "\"b.weight\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[2,4]},"
        "\"c.weight\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]}}");

    CHECK_EQ(net->layer[0]->blobs[0]->shape->n_dim, 2);
    CHECK_EQ(net->layer[0]->blobs[0]->data[1], 1); /* upper half of 1.0f */
    CHECK_NEAR(net->layer[1]->blobs[0]->data[0], 1.875, 0);
    CHECK_NEAR(net->layer[2]->blobs[0]->data[0], 2.0, 0.1);
    fire_message_free(net);
}

TEST(headers_that_cannot_be_are_refused)
{
    Caffe__NetParameter *net;
    char                 file[2048];
    size_t               n    = make(file, "{}");
    uint64_t             huge = UINT64_MAX - 3;

    for (size_t k = 0; k < 10; k++)
        CHECK_FAILS(fire_safetensors_parse(file, k, "a", &net), FIRE_ERR_PARSE,
                    "it is cut off, or no safetensors file");
    memcpy(file, &huge, 8);
    CHECK_FAILS(fire_safetensors_parse(file, n, "a", &net), FIRE_ERR_PARSE,
                "a: a header of 18446744073709551612 bytes in a file of 26");
    refuses("[]", FIRE_ERR_PARSE, "a: the header is no object");
    refuses("{\"x", FIRE_ERR_PARSE, "a:1:");
    refuses("{\"c.bias\":3}", FIRE_ERR_PARSE, "a: \"c.bias\": ");
    refuses("{" FLOATS("c.bias", "8", "24") "}", FIRE_ERR_PARSE,
            "a: \"c.bias\": its values are bytes 8 to 24 of 16: the file is cut off");
    refuses("{" FLOATS("c.bias", "8", "4") "}", FIRE_ERR_PARSE, "bytes 8 to 4");
    refuses("{" FLOATS("c.bias", "0", "4") "}", FIRE_ERR_PARSE,
            "4 bytes for 2 elements of type F32");
    refuses("{" FLOATS("c.bias", "-1", "1e300") "}", FIRE_ERR_PARSE,
            "data_offsets must be whole numbers from 0 on");
    refuses(
        "{\"c.bias\":{\"dtype\":\"F32\",\"shape\":[9007199254740991,9007199254740991"
        "],\"data_offsets\":[0,8]}}",
        FIRE_ERR_PARSE, "a shape that cannot be");
    refuses("{\"c.bias\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]}}",
            FIRE_ERR_UNSUPPORTED, "a: \"c.bias\": elements of type \"F8_E4M3\"");
}

TEST(parameters_that_are_there_twice_or_lack_one_are_refused)
{
    refuses("{" FLOATS("c.bias", "0", "8") "," FLOATS("c.bias", "8", "16") "}",
            FIRE_ERR_PARSE, "a: \"c.bias\" is there twice");
    refuses("{" FLOATS("c.bias", "0", "8") "," FLOATS("c.1", "8", "16") "}",
            FIRE_ERR_PARSE, "under two names");
    refuses("{" FLOATS("c.0", "0", "8") "," FLOATS("c.2", "8", "16") "}",
            FIRE_ERR_PARSE, "a: \"c.2\" lacks a parameter before it");
    refuses("{" FLOATS("c.running_var", "0", "8") "}", FIRE_ERR_PARSE,
            "\"c.running_var\" lacks a parameter before it");
}

/* ---- there and back ---- */

static Caffe__LayerParameter *add_layer(Caffe__NetParameter *net, const char *name,
                                        const char *type)
{
    Caffe__LayerParameter *l;

    CHECK_OK(fire_message_add_message(net, "layer", &l));
    CHECK_OK(fire_message_add_string(l, "name", name));
    CHECK_OK(fire_message_add_string(l, "type", type));
    return l;
}

static void add_blob(Caffe__LayerParameter *l, int ndim, const int64_t *dim,
                     const float *values)
{
    Caffe__BlobProto *b;
    int64_t           count;

    CHECK_OK(fire_message_add_message(l, "blobs", &b));
    CHECK_OK(fire_blob_proto_set_shape(b, ndim, dim));
    CHECK_OK(fire_tensor_count(ndim, dim, &count));
    CHECK_OK(fire_blob_proto_write(b, FIRE_DATA, count, values));
}

static Caffe__NetParameter *sample(void)
{
    static const float   values[6] = {2, 4, 6, 8, 10, 12};
    static const int64_t dim[2] = {3, 2}, one = 1;
    ProtobufCMessage    *net;
    Caffe__NetParameter *n;

    CHECK_OK(fire_message_create(&caffe__net_parameter__descriptor, &net));
    n = (Caffe__NetParameter *)net;
    add_blob(add_layer(n, "ip", "InnerProduct"), 2, dim, values);
    add_blob(n->layer[0], 1, dim, values + 1);
    add_layer(n, "n/batchnorm", "BatchNorm");
    add_blob(n->layer[1], 1, dim + 1, values);
    add_blob(n->layer[1], 1, dim + 1, values + 2);
    add_blob(n->layer[1], 1, &one, values);
    add_blob(add_layer(n, "n", "Scale"), 1, dim + 1, values);
    add_layer(n, "rnn", "RNN");
    for (int i = 0; i < 5; i++)
        add_blob(n->layer[3], 1, &one, values + i);
    add_layer(n, "relu", "ReLU");
    add_blob(add_layer(n, "z", "Bias"), 1, &one, values);
    return n;
}

static void check_sample(const Caffe__NetParameter *net)
{
    CHECK_EQ(net->n_layer, 5);
    CHECK_STR(net->layer[0]->name, "ip");
    CHECK_EQ(net->layer[0]->blobs[0]->shape->dim[0], 3);
    CHECK_EQ(net->layer[0]->blobs[0]->data[5], 12);
    CHECK_EQ(net->layer[0]->blobs[1]->data[0], 4);
    CHECK_STR(net->layer[1]->name, "n");
    CHECK_STR(net->layer[2]->name, "n/batchnorm");
    CHECK_EQ(net->layer[2]->blobs[0]->data[1], 2); /* 4 over the weight of 2 */
    CHECK_EQ(net->layer[2]->blobs[1]->data[0], 3);
    CHECK_EQ(net->layer[2]->blobs[2]->data[0], 1);
    CHECK_STR(net->layer[3]->name, "rnn");
    CHECK_EQ(net->layer[3]->n_blobs, 5);
    CHECK_EQ(net->layer[3]->blobs[4]->data[0], 10);
    CHECK_STR(net->layer[4]->name, "z");
    CHECK_EQ(net->layer[4]->n_blobs, 1);
}

TEST(weights_come_back_from_both_formats)
{
    static const char *const files[] = {"a.safetensors", "a.npz"};
    Caffe__NetParameter     *net     = sample(), *back;

    for (int i = 0; i < 2; i++) {
        char  *bytes;
        size_t n;

        CHECK_OK(fire_net_param_save_weights(test_path(files[i]), net));
        CHECK_OK(fire_net_param_load_weights(test_path(files[i]), &back));
        check_sample(back);
        fire_message_free(back);
        CHECK_OK(fire_file_read(test_path(files[i]), &bytes, &n));
        for (size_t k = 0; k < n; k++) /* cut off anywhere */
            CHECK((i == 0 ? fire_safetensors_parse : fire_npz_parse)(bytes, k, "cut",
                                                                     &back) < 0);
        fire_free(bytes);
    }
    fire_message_free(net);
}

TEST(an_old_shape_of_four_numbers_loses_its_ones)
{
    Caffe__NetParameter *net = sample(), *back;

    for (int i = 0; i < 2; i++) {
        Caffe__BlobProto *b = net->layer[0]->blobs[i];

        fire_message_clear_field(b, "shape");
        b->has_num = b->has_channels = b->has_height = b->has_width = true;
        b->num = b->channels = 1;
        b->height            = i == 0 ? 3 : 1;
        b->width             = i == 0 ? 2 : 3;
    }
    CHECK_OK(fire_net_param_save_weights(test_path("o.npz"), net));
    CHECK_OK(fire_net_param_load_weights(test_path("o.npz"), &back));
    CHECK_EQ(back->layer[0]->blobs[0]->shape->n_dim, 2);
    CHECK_EQ(back->layer[0]->blobs[1]->shape->n_dim, 1);
    check_sample(back);
    fire_message_free(back);
    fire_message_free(net);
}

TEST(a_damaged_entry_of_an_archive_is_noticed)
{
    Caffe__NetParameter *net = sample(), *back;
    char                *bytes;
    size_t               n;

    CHECK_OK(fire_net_param_save_weights(test_path("d.npz"), net));
    CHECK_OK(fire_file_read(test_path("d.npz"), &bytes, &n));
    bytes[200] ^= 1; /* a value of the first array */
    CHECK_FAILS(fire_npz_parse(bytes, n, "d.npz", &back), FIRE_ERR_PARSE,
                "d.npz: \"ip.weight.npy\" is damaged: checksum mismatch");
    bytes[200] ^= 1;
    bytes[0] = 'X';
    CHECK_FAILS(fire_npz_parse(bytes, n, "d.npz", &back), FIRE_ERR_PARSE,
                "d.npz: it is cut off, or no zip archive");
    CHECK_FAILS(fire_npz_parse("text", 4, "t", &back), FIRE_ERR_PARSE,
                "t: it is cut off, or no zip archive");
    fire_free(bytes);
    fire_message_free(net);
}

TEST(every_allocation_that_fails_is_reported)
{
    static const char *const files[] = {"f.safetensors", "f.npz"};
    Caffe__NetParameter     *net     = sample(), *back;

    for (int i = 0; i < 2; i++) {
        fire_status_t st = FIRE_ERR_NOMEM;
        int64_t       n  = 0;

        while (st < 0) {
            fire_alloc_fail_at(++n);
            st = fire_net_param_save_weights(test_path(files[i]), net);
            fire_alloc_fail_at(0);
            if (st < 0) CHECK_EQ(st, FIRE_ERR_NOMEM);
        }
        CHECK(n > 10);
        for (n = 0, st = FIRE_ERR_NOMEM; st < 0;) {
            fire_alloc_fail_at(++n);
            st = fire_net_param_load_weights(test_path(files[i]), &back);
            fire_alloc_fail_at(0);
            if (st < 0) CHECK_EQ(st, FIRE_ERR_NOMEM);
        }
        CHECK(n > 10);
        fire_message_free(back);
    }
    fire_message_free(net);
}
