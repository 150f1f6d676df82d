/* The way back: what the exporter writes is imported, and gives the same; other graphs are
 * made by hand. Tests src/onnx/import/ and src/onnx/import.c. */
#include <stdlib.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "cases.h"
#include "filled.h"
#include "hand.h"
#include "model/load.h"

static const char *read_text(const char *file)
{
    static char *text;

    fire_free(text);
    text = NULL;
    CHECK_OK(fire_file_read_text(test_path(file), &text));
    return text;
}

/* ---- there and back ---- */

static void copy_values(fire_blob_t *from, fire_blob_t *to)
{
    const float *x;
    float       *y;

    CHECK_OK(fire_blob_read(from, FIRE_DATA, FIRE_CPU, &x));
    CHECK_OK(fire_blob_write(to, FIRE_DATA, FIRE_CPU, &y));
    CHECK_EQ(fire_blob_count(from), fire_blob_count(to));
    memcpy(y, x, (size_t)fire_blob_count(from) * sizeof(*x));
}

/* Largest difference of the outputs of two nets with the same inputs. */
static double difference(fire_net_t *a, fire_net_t *b, const fire_onnx_model_t *m)
{
    double worst = 0, d;

    for (int64_t i = 0; i < m->ninput; i++)
        copy_values(fire_net_find_blob(a, m->input[i]->name),
                    fire_net_find_blob(b, m->input[i]->name));
    CHECK_OK(fire_net_forward(a, 0, -1, NULL));
    CHECK_OK(fire_net_forward(b, 0, -1, NULL));
    for (int64_t i = 0; i < m->noutput; i++) {
        fire_blob_t *y = fire_net_find_blob(b, m->output[i]->name);

        if (y == NULL) return INFINITY;
        d     = case_difference(a->blob[a->output[i]].blob, y, FIRE_DATA);
        worst = d > worst ? d : worst;
    }
    return worst;
}

static int back, lost;

/* Layers whose operators have no way back. */
static bool may_stay(const char *type)
{
    static const char *const types[] = {
        "ArgMax",    "BatchReindex", "Embed",     "Filter",    "LSTM",
        "LSTMUnit",  "MVN",          "Normalize", "Parameter", "PriorBox",
        "ROIAlign",  "ROIPooling",   "RNN",       "Reorg",     "SPP",
        "Threshold", "Tile",         "Upsample",  "Pooling",   "DetectionOutput",
        "LRN",       "Reduction",    "Split",     "Scale",     "Bias",
        "Eltwise"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(type, types[i]) == 0) return true;
    return false;
}

static const char *there_and_back(const layer_case_t *c)
{
    fire_onnx_export_config_t config = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_onnx_model_t        *m;
    fire_net_t               *net, *other;
    double                    d;
    fire_status_t             st;

    if (c->phase != CAFFE__PHASE__TEST) return NULL;
    net          = case_net(c, c->param, "ref", 3);
    config.batch = net->layer[0].base.top[0]->ndim > 0
                       ? (int)net->layer[0].base.top[0]->dim[0]
                       : 0;
    st           = fire_onnx_of_net(net, &config, &m);
    if (st < 0) {
        fire_net_destroy(net);
        return NULL;
    }
    CHECK_OK(fire_onnx_save(m, test_path("case.onnx"), false));
    st = import("case.onnx");
    if (st < 0) {
        fire_onnx_model_destroy(m);
        fire_net_destroy(net);
        lost++;
        return may_stay(case_layer(c)->type) ? NULL : fire_last_error();
    }
    back++;
    case_fill_inputs(c, net);
    other = imported();
    d     = difference(net, other, m);
    fire_onnx_model_destroy(m);
    fire_net_destroy(net);
    fire_net_destroy(other);
    return d <= 1e-5 ? NULL : "the imported net gives other values";
}

TEST(layers_come_back_from_onnx_with_their_results)
{
    back = lost = 0;
    cases_each(there_and_back);
    CHECK(back >= 80);
}

static void model_and_back(const char *name)
{
    char                 file[128];
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *param;
    fire_onnx_model_t   *m;
    fire_net_t          *net, *other;

    snprintf(file, sizeof(file), "models/%s/deploy.prototxt", name);
    CHECK_OK(fire_net_param_load_text(test_source(file), &param));
    o.ctx.kernels = "all=ref";
    CHECK_OK(fire_net_create(param, &o, &net));
    fire_message_free(param);
    set_batch(net, 1);
    fill_params(net);
    CHECK_OK(fire_onnx_of_net(net, NULL, &m));
    CHECK_OK(fire_onnx_save(m, test_path("model.onnx"), false));
    CHECK_OK(import("model.onnx"));
    fill_images(net);
    other = imported();
    if (difference(net, other, m) != 0)
        test_fail(__FILE__, __LINE__, "%s has other bits after a round trip", name);
    fire_onnx_model_destroy(m);
    fire_net_destroy(net);
    fire_net_destroy(other);
}

TEST(models_come_back_from_onnx_with_the_same_bits)
{
    static const char *const small[] = {"lenet", "cifar10_quick", "cifar10_full",
                                        "nin_cifar10", "squeezenet"};

    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
        model_and_back(small[i]);
}

static void large_and_back(const char *const *name, size_t n)
{
    if (getenv("FIRE_ONNX_ALL") == NULL) test_skip("./dev onnx does it");
    alarm(3000); /* instead of the time of a small test */
    for (size_t i = 0; i < n; i++)
        model_and_back(name[i]);
}

TEST(large_models_come_back_with_the_same_bits)
{
    static const char *const large[] = {"mobilenet_v1", "mobilenet_v2", "nin_imagenet",
                                        "alexnet",      "caffenet",     "googlenet",
                                        "resnet18",     "resnet50"};

    large_and_back(large, sizeof(large) / sizeof(large[0]));
}

TEST(deep_models_come_back_with_the_same_bits)
{
    static const char *const deep[] = {"resnet101", "resnet152", "vgg16", "vgg19"};

    large_and_back(deep, sizeof(deep) / sizeof(deep[0]));
}

/* ---- graphs by hand ---- */

static const int64_t row[4] = {1, 1, 1, 2};

TEST(a_linear_resizing_of_half_pixels_is_a_product)
{
    static const float   scales[4] = {1, 1, 1, 2};
    static const int64_t four      = 4;
    Onnx__NodeProto     *n;

    begin(4, row);
    constant("scales", 1, &four, scales);
    n = node("y", "Resize", "x - scales");
    text(n, "mode", "linear");
    CHECK_OK(finish());
    gives((float[]){0, 4}, 4, (float[]){0, 1, 3, 4});
}

TEST(a_swish_and_a_gelu_are_found_in_their_nodes)
{
    static const int64_t none[1] = {0};
    static const float   root = 1.41421356f, one = 1, half = 0.5f;

    begin(4, row);
    constant("root", 0, none, &root);
    constant("one", 0, none, &one);
    constant("half", 0, none, &half);
    node("s", "Sigmoid", "x");
    node("z", "Mul", "x s");
    node("d", "Div", "z root");
    node("e", "Erf", "d");
    node("a", "Add", "e one");
    node("m", "Mul", "z a");
    node("y", "Mul", "m half");
    CHECK_OK(finish());
    CHECK(strstr(read_text("net/deploy.prototxt"), "\"GELU\"") != NULL);
    CHECK(strstr(read_text("net/deploy.prototxt"), "\"Swish\"") != NULL);
    CHECK(strstr(read_text("net/deploy.prototxt"), "\"Power\"") == NULL);
    gives((float[]){0, 2}, 2, (float[]){0, 1.69277f});
}

TEST(a_layer_norm_is_made_of_layers)
{
    static const int64_t two    = 2;
    static const float   gain[] = {1, 2}, shift[] = {0, 1};

    begin(4, row);
    constant("gain", 1, &two, gain);
    constant("shift", 1, &two, shift);
    node("y", "LayerNormalization", "x gain shift");
    CHECK_OK(finish());
    gives((float[]){1, 5}, 2, (float[]){-1, 3});
}

TEST(layers_of_constants_are_run_at_once)
{
    static const int64_t two     = 2;
    static const float   twice[] = {-2, 4};
    Onnx__NodeProto     *n;

    begin(4, row);
    constant("c", 1, &two, twice);
    n                            = node("d", "LeakyRelu", "c");
    attribute(n, "alpha")->has_f = true;
    n->attribute[0]->f           = 0.5f;
    node("y", "Mul", "x d");
    CHECK_OK(finish());
    CHECK(strstr(read_text("net/deploy.prototxt"), "Parameter") == NULL);
    gives((float[]){3, 5}, 2, (float[]){-3, 20});
}

TEST(sizes_are_computed_from_shapes)
{
    Onnx__NodeProto *n;

    begin(4, (int64_t[]){2, 3, 4, 5});
    node("s", "Shape", "x");
    attribute(node("zero", "Constant", ""), "value_int")->has_i = true;
    node("b", "Gather", "s zero");
    n = node("axis", "Constant", "");
    CHECK_OK(fire_message_put(
        attribute(n, "value_ints"),
        fire_field_find(&onnx__attribute_proto__descriptor, "ints"), &(int64_t){0}));
    node("b1", "Unsqueeze", "b axis");
    n = node("rest", "Constant", "");
    CHECK_OK(fire_message_put(
        attribute(n, "value_ints"),
        fire_field_find(&onnx__attribute_proto__descriptor, "ints"), &(int64_t){-1}));
    n                           = node("shape", "Concat", "b1 rest");
    attribute(n, "axis")->has_i = true;
    node("y", "Reshape", "x shape");
    CHECK_OK(finish());
    CHECK(strstr(read_text("net/deploy.prototxt"), "dim: 60") != NULL);
}

TEST(all_nodes_that_cannot_be_had_are_reported_at_once)
{
    begin(4, row);
    node("a", "Sin", "x");
    node("b", "Relu", "a");
    node("c", "TopK", "x");
    node("y", "Add", "b c");
    CHECK_FAILS(
        finish(), FIRE_ERR_UNSUPPORTED,
        "hand.onnx: 2 nodes have no form here: node \"a\" (Sin): no layer does this; "
        "node \"c\" (TopK): no layer does this");
}

TEST(graphs_that_cannot_be_are_refused)
{
    Onnx__NodeProto *n;

    begin(4, row);
    node("a", "Relu", "b");
    node("b", "Relu", "a");
    node("y", "Relu", "b");
    CHECK_FAILS(finish(), FIRE_ERR_PARSE,
                "which no earlier node makes: the graph has a cycle");
    begin(4, row);
    node("y", "Relu", "x");
    node("y", "Relu", "x");
    CHECK_FAILS(finish(), FIRE_ERR_PARSE, "makes \"y\", which exists already");
    begin(4, row);
    n                           = node("y", "Concat", "x x");
    attribute(n, "axis")->has_i = true;
    n->attribute[0]->i          = 9;
    CHECK_FAILS(finish(), FIRE_ERR_PARSE, "there is no axis 9 among 4");
    begin(4, (int64_t[]){1, 3, -1, 4});
    node("y", "Relu", "x");
    CHECK_FAILS(finish(), FIRE_ERR_INVALID, "give --shape x=N,C,H,W");
    begin(4, row);
    n = node("y", "Relu", "x");
    CHECK_OK(fire_message_add_string(n, "domain", "com.example"));
    CHECK_FAILS(finish(), FIRE_ERR_UNSUPPORTED,
                "operators of the domain \"com.example\"");
}

static Onnx__AttributeProto *typed(Onnx__NodeProto *n, const char *name, int type)
{
    Onnx__AttributeProto *a = attribute(n, name);

    a->has_type = true;
    a->type     = (Onnx__AttributeProto__AttributeType)type;
    return a;
}

TEST(values_of_the_wrong_type_are_refused)
{
    Onnx__NodeProto   *n;
    fire_onnx_tensor_t t = {.type = FIRE_ONNX(INT64), .ndim = 4, .dim = {1, 1, 1, 1}};
    static int64_t     zero = 0;

    begin(4, row);
    n = node("y", "Concat", "x x");
    typed(n, "axis", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    CHECK_FAILS(finish(), FIRE_ERR_PARSE, "its attribute \"axis\" must be an integer");
    begin(4, row);
    t.data = &zero;
    CHECK_OK(fire_strdup("w", &t.name));
    CHECK_OK(fire_onnx_add_tensor(graph, &t));
    node("y", "Conv", "x w");
    CHECK_FAILS(finish(), FIRE_ERR_PARSE, "its tensor \"w\" is of integers");
    begin(4, row);
    graph->input[0]->type->tensor_type->elem_type = 8; /* texts */
    node("y", "Relu", "x");
    CHECK_FAILS(finish(), FIRE_ERR_UNSUPPORTED, "input \"x\" is not of numbers");
}

TEST(zeros_that_a_writer_leaves_out_are_zeros)
{
    begin(4, (int64_t[]){3, 2, 1, 2});
    typed(node("y", "Flatten", "x"), "axis",
          ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    CHECK_OK(finish());
    CHECK(strstr(read_text("net/deploy.prototxt"), "dim: 12") != NULL);
}

TEST(a_net_ready_to_train_comes_with_it)
{
    static const int64_t dim[2] = {3, 8};
    static const float   weights[24];

    begin(4, (int64_t[]){1, 2, 2, 2});
    constant("fc.weight", 2, dim, weights);
    node("f", "Flatten", "x");
    attribute(node("p", "Gemm", "f fc.weight"), "transB")->has_i = true;
    graph->node[1]->attribute[0]->i                              = 1;
    node("y", "Softmax", "p");
    CHECK_OK(finish());
    CHECK(strstr(read_text("net/train_val.prototxt"),
                 "bottom: \"fc\"\n  bottom: \"label\"") != NULL);
    CHECK(strstr(read_text("net/train_val.prototxt"), "crop_size: 2") != NULL);
    CHECK(strstr(read_text("net/solver.prototxt"), "train_val.prototxt") != NULL);
}
