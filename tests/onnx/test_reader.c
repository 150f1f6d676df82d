/* Files of models: written, read back, damaged. Tests src/onnx/model.c, src/onnx/writer.c,
 * src/onnx/reader.c, src/onnx/wire.c, src/onnx/tensor.c and src/onnx/external.c. */
#include "nets.h"

#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "onnx/wire.h"

#define NET                                                                         \
    IMAGE "layer { name: 'conv' type: 'Convolution' bottom: 'x' top: 'y' "          \
          "convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: " \
          "'uniform' } } } layer { name: 'f' type: 'Flatten' bottom: 'y' top: 'z' } "

static void write_net(const char *path, bool external)
{
    fire_onnx_export_config_t c   = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_net_t               *net = net_of(NET);

    c.external = external;
    CHECK_OK(fire_onnx_export(net, path, &c));
    fire_net_destroy(net);
}

static void same_models(const fire_onnx_model_t *a, const fire_onnx_model_t *b)
{
    CHECK_EQ(a->opset, b->opset);
    CHECK_STR(operators_of(a), operators_of(b));
    CHECK_EQ(a->ntensor, b->ntensor);
    for (int64_t i = 0; i < a->ntensor; i++) {
        const fire_onnx_tensor_t *t = &a->tensor[i], *u = &b->tensor[i];

        CHECK_STR(t->name, u->name);
        CHECK_EQ(t->type, u->type);
        CHECK_EQ(t->count, u->count);
        CHECK(memcmp(t->data, u->data,
                     (size_t)t->count * fire_onnx_type_size(t->type)) == 0);
    }
    CHECK_STR(a->input[0]->name, b->input[0]->name);
    CHECK_STR(a->output[0]->name, b->output[0]->name);
}

TEST(a_model_that_is_read_back_is_the_same)
{
    fire_onnx_model_t *a, *b, *c;

    write_net(test_path("a.onnx"), false);
    write_net(test_path("b.onnx"), true);
    CHECK(access(test_path("a.onnx.data"), F_OK) != 0);
    CHECK(access(test_path("b.onnx.data"), F_OK) == 0);
    CHECK_OK(fire_onnx_load(test_path("a.onnx"), &a));
    CHECK_OK(fire_onnx_load(test_path("b.onnx"), &b));
    same_models(a, b);
    CHECK_OK(fire_onnx_save(b, test_path("c.onnx"), false));
    CHECK_OK(fire_onnx_load(test_path("c.onnx"), &c));
    same_models(a, c);
    fire_onnx_model_destroy(a);
    fire_onnx_model_destroy(b);
    fire_onnx_model_destroy(c);
}

TEST(a_file_cut_off_anywhere_is_refused_or_smaller)
{
    fire_onnx_model_t *m;
    char              *bytes;
    size_t             n;
    int64_t            fewer = 0;

    write_net(test_path("a.onnx"), false);
    CHECK_OK(fire_file_read(test_path("a.onnx"), &bytes, &n));
    for (size_t k = 0; k < n; k++) {
        char         *part;
        fire_status_t st;

        CHECK_OK(
            fire_alloc_raw(k + 1, "part", (void **)&part)); /* sanitizers see beyond */
        memcpy(part, bytes, k);
        st = fire_onnx_parse(part, k, "cut.onnx", NULL, &m);
        if (st >= 0) {
            fewer++;
            fire_onnx_model_destroy(m);
        } else {
            CHECK(strncmp(fire_last_error(), "cut.onnx: ", 10) == 0);
        }
        fire_free(part);
    }
    CHECK_EQ(fewer, 0);
    fire_free(bytes);
}

/* ---- models by hand ---- */

static fire_str_t model_text; /* of the last model; its tensors point into it */

/* A model with one tensor whose message is `body`. */
static fire_status_t parse_tensor(const fire_str_t *body, const char *folder,
                                  fire_onnx_model_t **m_p)
{
    fire_str_t    graph = {0};
    fire_status_t st;

    CHECK_OK(fire_wire_put(&graph, 5, FIRE_WIRE_BYTES, (uint64_t)body->n));
    CHECK_OK(fire_str_add(&graph, body->text, (size_t)body->n));
    CHECK_OK(fire_wire_put(&model_text, 7, FIRE_WIRE_BYTES, (uint64_t)graph.n));
    CHECK_OK(fire_str_add(&model_text, graph.text, (size_t)graph.n));
    st = fire_onnx_parse(model_text.text, (size_t)model_text.n, "t.onnx", folder, m_p);
    fire_str_fini(&graph);
    if (st < 0) fire_str_fini(&model_text);
    return st;
}

static void drop(fire_onnx_model_t *m)
{
    fire_onnx_model_destroy(m);
    fire_str_fini(&model_text);
}

static fire_str_t tensor(int type, int64_t dim)
{
    fire_str_t t = {0};

    CHECK_OK(fire_wire_put(&t, 1, FIRE_WIRE_VARINT, (uint64_t)dim));
    CHECK_OK(fire_wire_put(&t, 2, FIRE_WIRE_VARINT, (uint64_t)type));
    return t;
}

static void add_bytes(fire_str_t *t, uint32_t number, const void *bytes, size_t n)
{
    CHECK_OK(fire_wire_put(t, number, FIRE_WIRE_BYTES, n));
    CHECK_OK(fire_str_add(t, bytes, n));
}

static void refuses(fire_str_t t, const char *folder, fire_status_t st,
                    const char *text)
{
    fire_onnx_model_t *m;

    CHECK_FAILS(parse_tensor(&t, folder, &m), st, text);
    fire_str_fini(&t);
}

TEST(values_are_read_from_lists_of_numbers_too)
{
    static const float   floats[2] = {1.5f, -2};
    static const uint8_t varints[] = {5,    0xff, 0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0xff, 0x01};
    fire_str_t           t         = tensor(FIRE_ONNX(FLOAT), 2);
    fire_onnx_model_t   *m;

    add_bytes(&t, 4, floats, sizeof(floats));
    CHECK_OK(parse_tensor(&t, NULL, &m));
    CHECK_NEAR(fire_onnx_tensor_number(&m->tensor[0], 1), -2, 0);
    drop(m);
    fire_str_fini(&t);
    t = tensor(FIRE_ONNX(INT32), 2);
    add_bytes(&t, 5, varints, sizeof(varints));
    CHECK_OK(parse_tensor(&t, NULL, &m));
    CHECK_EQ(fire_onnx_tensor_integer(&m->tensor[0], 0), 5);
    CHECK_EQ(fire_onnx_tensor_integer(&m->tensor[0], 1), -1);
    drop(m);
    fire_str_fini(&t);
}

TEST(tensors_of_impossible_shapes_are_refused)
{
    fire_str_t t = tensor(FIRE_ONNX(FLOAT), 3);

    add_bytes(&t, 9, "12345678", 8);
    refuses(t, NULL, FIRE_ERR_PARSE, "has 8 bytes of values, not 12");
    refuses(tensor(FIRE_ONNX(FLOAT), -4), NULL, FIRE_ERR_PARSE, "dimension 0 is -4");
    refuses(tensor(FIRE_ONNX(FLOAT), INT64_MAX), NULL, FIRE_ERR_PARSE,
            "too many elements");
    t = tensor(FIRE_ONNX(FLOAT), 1 << 30);
    CHECK_OK(fire_wire_put(&t, 1, FIRE_WIRE_VARINT, 1u << 31));
    refuses(t, NULL, FIRE_ERR_PARSE, "too many elements");
    t = tensor(FIRE_ONNX(FLOAT), 1);
    for (int i = 0; i < FIRE_MAX_DIMS; i++)
        CHECK_OK(fire_wire_put(&t, 1, FIRE_WIRE_VARINT, 1));
    refuses(t, NULL, FIRE_ERR_PARSE, "33 axes");
}

/* ---- external data ---- */

static fire_str_t outside(const char *location, const char *length)
{
    const char *key[2] = {"location", "length"}, *value[2] = {location, length};
    fire_str_t  t = tensor(FIRE_ONNX(FLOAT), 2);

    for (int i = 0; i < 2; i++) {
        fire_str_t entry = {0};

        add_bytes(&entry, 1, key[i], strlen(key[i]));
        add_bytes(&entry, 2, value[i], strlen(value[i]));
        add_bytes(&t, 13, entry.text, (size_t)entry.n);
        fire_str_fini(&entry);
    }
    CHECK_OK(fire_wire_put(&t, 14, FIRE_WIRE_VARINT, 1));
    return t;
}

TEST(external_data_are_read_from_the_models_folder_only)
{
    static const float values[2] = {3, 4};
    char               folder[512];
    fire_onnx_model_t *m;
    fire_str_t         t;

    snprintf(folder, sizeof(folder), "%s/models", test_tmpdir());
    CHECK_OK(fire_dir_make(folder));
    CHECK_OK(fire_file_write(test_path("models/w"), values, sizeof(values)));
    CHECK_OK(fire_file_write(test_path("secret"), values, sizeof(values)));
    CHECK(symlink(test_path("secret"), test_path("models/link")) == 0);
    t = outside("w", "8");
    CHECK_OK(parse_tensor(&t, folder, &m));
    CHECK_NEAR(fire_onnx_tensor_number(&m->tensor[0], 1), 4, 0);
    drop(m);
    fire_str_fini(&t);
    refuses(outside("../secret", "8"), folder, FIRE_ERR_PARSE, "leads out of");
    refuses(outside("a/../../secret", "8"), folder, FIRE_ERR_PARSE, "leads out of");
    refuses(outside("/etc/passwd", "8"), folder, FIRE_ERR_PARSE, "leads out of");
    refuses(outside("link", "8"), folder, FIRE_ERR_PARSE, "it is a link out of");
    CHECK(mkfifo(test_path("models/pipe"), 0600) == 0);
    refuses(outside("pipe", "8"), folder, FIRE_ERR_IO, "it is no regular file");
    refuses(outside("missing", "8"), folder, FIRE_ERR_IO, "\"missing\" is missing");
    refuses(outside("w", "12"), folder, FIRE_ERR_PARSE, "12 bytes for a tensor of 8");
    refuses(outside("w", "x"), folder, FIRE_ERR_PARSE, "length \"x\" is no number");
    CHECK(truncate(test_path("models/w"), 7) == 0);
    refuses(outside("w", "8"), folder, FIRE_ERR_PARSE, "has 7 bytes, 8 from 0 on");
}

TEST(files_that_are_no_models_are_refused_with_their_name)
{
    fire_onnx_model_t *m;

    CHECK_OK(fire_file_write(test_path("empty.onnx"), "", 0));
    CHECK_FAILS(fire_onnx_load(test_path("empty.onnx"), &m), FIRE_ERR_PARSE,
                "empty.onnx: it has no graph");
    CHECK_OK(fire_file_write(test_path("text.onnx"), "layer { name: 'x' }", 19));
    CHECK_FAILS(fire_onnx_load(test_path("text.onnx"), &m), FIRE_ERR_PARSE,
                "text.onnx: ");
    CHECK_FAILS(fire_onnx_load(test_path("none.onnx"), &m), FIRE_ERR_IO, "none.onnx");
}

TEST(every_allocation_that_fails_is_reported)
{
    fire_net_t        *net = net_of(NET);
    fire_onnx_model_t *m   = NULL;
    fire_status_t      st  = FIRE_ERR_NOMEM;
    int64_t            n   = 0;

    write_net(test_path("a.onnx"), false);
    while (st < 0) {
        fire_alloc_fail_at(++n);
        st = fire_onnx_of_net(net, NULL, &m);
        fire_alloc_fail_at(0);
        if (st < 0) CHECK_EQ(st, FIRE_ERR_NOMEM);
    }
    fire_onnx_model_destroy(m);
    fire_net_destroy(net);
    CHECK(n > 50);
    for (n = 0, st = FIRE_ERR_NOMEM; st < 0;) {
        fire_alloc_fail_at(++n);
        st = fire_onnx_load(test_path("a.onnx"), &m);
        fire_alloc_fail_at(0);
    }
    fire_onnx_model_destroy(m);
    CHECK(n > 20);
}
