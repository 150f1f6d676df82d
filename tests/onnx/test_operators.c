/* Operators that become several layers, or a layer by other rules than ONNX's. Tests
 * src/onnx/import/. */
#include "hand.h"

static const int64_t four[4] = {1, 1, 1, 4}, square[4] = {1, 1, 2, 2}, one = 1, two = 2;

static void ints(Onnx__NodeProto *n, const char *name, int count, const int64_t *values)
{
    Onnx__AttributeProto *a = attribute(n, name);

    for (int i = 0; i < count; i++)
        CHECK_OK(fire_message_put(a, fire_field_find(a->base.descriptor, "ints"),
                                  &values[i]));
}

static void integer(Onnx__NodeProto *n, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = attribute(n, name);

    a->has_i = true;
    a->i     = value;
}

/* An integer list as a constant. */
static void list(const char *name, int64_t n, const int64_t *values)
{
    fire_onnx_tensor_t t = {
        .type = FIRE_ONNX(INT64), .ndim = 1, .dim = {n}, .data = values};

    CHECK_OK(fire_strdup(name, &t.name));
    CHECK_OK(fire_onnx_add_tensor(graph, &t));
}

#define LIST(name, ...)                                            \
    list(name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
         (int64_t[]){__VA_ARGS__})

TEST(a_slice_takes_every_second_element)
{
    int64_t starts[1] = {1}, ends[1] = {INT64_MAX}, axes[1] = {3}, steps[1] = {2};

    begin(4, four);
    list("starts", 1, starts);
    list("ends", 1, ends);
    list("axes", 1, axes);
    list("steps", 1, steps);
    node("y", "Slice", "x starts ends axes steps");
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 2, (float[]){2, 4});
}

TEST(a_slice_goes_backwards)
{
    int64_t starts[1] = {-1}, ends[1] = {INT64_MIN}, axes[1] = {3}, steps[1] = {-1};

    begin(4, four);
    list("starts", 1, starts);
    list("ends", 1, ends);
    list("axes", 1, axes);
    list("steps", 1, steps);
    node("y", "Slice", "x starts ends axes steps");
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 4, (float[]){4, 3, 2, 1});
}

TEST(depth_becomes_space)
{
    static const int64_t deep[4] = {1, 4, 1, 1};
    Onnx__NodeProto     *n;

    begin(4, deep);
    n = node("y", "DepthToSpace", "x");
    integer(n, "blocksize", 2);
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 4, (float[]){1, 2, 3, 4});
}

/* One element more behind than before, as the rule SAME_UPPER of TensorFlow has it. */
TEST(a_convolution_is_padded_on_one_side)
{
    static const int64_t wide[4] = {1, 1, 1, 2};
    Onnx__NodeProto     *n;

    begin(4, four);
    constant("w", 4, wide, (float[]){1, 10});
    n = node("y", "Conv", "x w");
    ints(n, "pads", 4, (int64_t[]){0, 0, 0, 1});
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 4, (float[]){21, 32, 43, 4});
}

TEST(an_average_leaves_padding_out)
{
    Onnx__NodeProto *n;

    begin(4, four);
    n = node("y", "AveragePool", "x");
    ints(n, "kernel_shape", 2, (int64_t[]){1, 3});
    ints(n, "pads", 4, (int64_t[]){0, 1, 0, 1});
    CHECK_OK(finish());
    gives((float[]){2, 4, 6, 8}, 4, (float[]){3, 4, 6, 7});
}

/* Two values of a row beside one that is left over. */
TEST(a_transposed_convolution_has_the_size_that_is_asked)
{
    static const int64_t wide[4] = {1, 1, 1, 2};
    Onnx__NodeProto     *n;

    begin(4, (int64_t[]){1, 1, 1, 2});
    constant("w", 4, wide, (float[]){1, 10});
    constant("b", 1, &one, (float[]){5});
    n = node("y", "ConvTranspose", "x w b");
    ints(n, "strides", 2, (int64_t[]){1, 2});
    ints(n, "output_padding", 2, (int64_t[]){0, 1});
    CHECK_OK(finish());
    gives((float[]){1, 2}, 5, (float[]){6, 15, 7, 25, 5});
}

TEST(two_values_are_repeated_along_each_other)
{
    begin(4, square);
    LIST("rows", 3);
    node("m", "ReduceMax", "x rows");
    LIST("columns", 2);
    node("k", "ReduceMin", "x columns");
    node("y", "Sub", "m k");
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 4, (float[]){1, 0, 3, 2});
}

TEST(a_constant_is_divided_by_a_value)
{
    begin(4, square);
    constant("c", 1, &two, (float[]){12, 24});
    node("y", "Div", "c x");
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 4, (float[]){12, 12, 4, 6});
}

TEST(one_of_two_values_is_chosen)
{
    begin(4, four);
    constant("limit", 1, &one, (float[]){2.5f});
    node("c", "Greater", "x limit");
    node("n", "Neg", "x");
    node("y", "Where", "c x n");
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 4, (float[]){-1, -2, 3, 4});
}

TEST(matrices_of_the_net_are_multiplied)
{
    Onnx__NodeProto *n;

    begin(4, square);
    n = node("t", "Transpose", "x");
    ints(n, "perm", 4, (int64_t[]){0, 1, 3, 2});
    node("y", "MatMul", "x t");
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 4, (float[]){5, 11, 11, 25});
}

/* Weights that are computed from constants of several axes. */
TEST(constants_of_any_shape_are_computed)
{
    static const int64_t six[4] = {1, 1, 2, 3};
    Onnx__NodeProto     *n;

    begin(4, four);
    constant("v", 4, six, (float[]){1, 2, 3, 4, 5, 6});
    n = node("t", "Transpose", "v");
    ints(n, "perm", 4, (int64_t[]){0, 1, 3, 2});
    LIST("axes", 2);
    node("s", "ReduceSum", "t axes");
    node("h", "Mul", "s s");
    node("w", "Reshape", "h shape");
    LIST("shape", 1, 1, 1, 2);
    node("y", "Conv", "x w");
    CHECK_OK(finish());
    gives((float[]){1, 0, 0, 1}, 3, (float[]){36, 0, 225});
}

/* Weights less their mean, over their deviation. */
TEST(a_convolution_takes_weights_that_are_normalised)
{
    static const int64_t channel[3] = {1, 1, 2};
    Onnx__NodeProto     *n;

    begin(4, four);
    constant("w", 3, channel, (float[]){1, 3});
    constant("gain", 1, &one, (float[]){1});
    constant("zero", 1, &one, (float[]){0});
    n = node("v", "BatchNormalization", "w gain zero zero gain");
    integer(n, "training_mode", 1);
    attribute(n, "epsilon")->has_f = true;
    node("u", "Reshape", "v shape");
    LIST("shape", 1, 1, 1, 2);
    node("y", "Conv", "x u");
    CHECK_OK(finish());
    gives((float[]){2, 5, 5, 1}, 3, (float[]){3, 0, -4});
}

/* (1 2 3 / 4 5 6) with 9 at (0, 1), summed along rows: 1 10 13 / 4 9 15; above the second
 * diagonal 0 10 13 / 0 0 15; of these 10 and 15. */
TEST(elements_of_constants_are_found_by_numbers)
{
    static const int64_t table[2] = {2, 3}, place[2] = {1, 2}, pairs[2] = {2, 2};

    begin(4, (int64_t[]){1, 1, 1, 2});
    constant("t", 2, table, (float[]){1, 2, 3, 4, 5, 6});
    constant("place", 2, place, (float[]){0, -2});
    constant("nine", 1, &one, (float[]){9});
    node("s", "ScatterND", "t place nine");
    LIST("last", 1);
    node("c", "CumSum", "s last");
    node("u", "Trilu", "c last");
    constant("pairs", 2, pairs, (float[]){0, 1, 1, 2});
    node("g", "GatherND", "u pairs");
    node("y", "Mul", "x g");
    CHECK_OK(finish());
    gives((float[]){1, 2}, 2, (float[]){10, 30});
    begin(4, (int64_t[]){1, 1, 1, 2});
    constant("t", 2, table, (float[]){1, 2, 3, 4, 5, 6});
    constant("place", 2, place, (float[]){2, -3});
    integer(node("g", "GatherElements", "t place"), "axis", 1);
    node("y", "Mul", "x g");
    CHECK_OK(finish());
    gives((float[]){1, 2}, 2, (float[]){3, 2});
    begin(4, four);
    constant("t", 2, table, (float[]){1, 2, 3, 4, 5, 6});
    constant("place", 2, place, (float[]){2, 0});
    node("g", "GatherND", "t place");
    node("y", "Mul", "x g");
    CHECK_FAILS(finish(), FIRE_ERR_PARSE, "element 2 of 2");
}

TEST(a_pad_repeats_the_edge)
{
    Onnx__NodeProto *n;

    begin(4, four);
    LIST("pads", 0, 0, 0, 2, 0, 0, 0, 0);
    n = node("y", "Pad", "x pads");
    text(n, "mode", "edge");
    CHECK_OK(finish());
    gives((float[]){1, 2, 3, 4}, 6, (float[]){1, 1, 1, 2, 3, 4});
}
