/* What a snapshot has learned. Tests src/report/filters.c and src/report/confusion.c. */
#include "report/learned.h"

#include "base/file.h"
#include "model/load.h"
#include "model/text.h"
#include "test.h"

static void *message(const ProtobufCMessageDescriptor *type, const char *text)
{
    ProtobufCMessage *m;

    CHECK_OK(fire_text_parse(text, strlen(text), "test", type, &m));
    return m;
}

/* A caffemodel of one layer; its path. */
static const char *save(const char *layer)
{
    Caffe__NetParameter *net  = message(&caffe__net_parameter__descriptor, layer);
    const char          *path = test_path("x.caffemodel");

    CHECK_OK(fire_net_param_save_binary(path, net));
    fire_message_free(net);
    return path;
}

/* ---- filters ---- */

/* Two grey filters of 2 x 2: from black to white, and one that is grey all over. */
TEST(filters_become_pixels_from_their_smallest_to_their_largest_value)
{
    fire_json_writer_t w = {0};
    bool               found;

    CHECK_OK(fire_filters_write(
        &w,
        save(
            "layer { name: 'ip' blobs { shape { dim: 1 dim: 1 } data: 3 } } layer { "
            "name: 'conv' blobs { shape { dim: 2 dim: 1 dim: 2 dim: 2 } data: -1 data: "
            "1 data: -1 data: 1 data: 5 data: 5 data: 5 data: 5 } }"),
        &found));
    CHECK(found);
    CHECK_OK(w.status);
    /* 000000 ffffff 000000 ffffff 808080 808080 808080 808080 */
    CHECK_STR(w.out.text, "{\"layer\":\"conv\",\"n\":2,\"height\":2,\"width\":2,"
                          "\"pixels\":\"AAAA////AAAA////gICAgICAgICAgICA\"}");
    fire_json_writer_fini(&w);
}

/* Caffe's images are BGR. */
TEST(filters_of_three_channels_are_shown_in_colour)
{
    fire_json_writer_t w = {0};
    bool               found;

    CHECK_OK(fire_filters_write(
        &w,
        save(
            "layer { name: 'conv' blobs { shape { dim: 1 dim: 3 dim: 2 dim: 2 } data: "
            "1 data: 0 data: 0 data: 0 data: 0 data: 1 data: 0 data: 0 data: 0 data: 0 "
            "data: 1 data: 0 } }"),
        &found));
    /* 0000ff 00ff00 ff0000 000000 */
    CHECK(strstr(w.out.text, "\"pixels\":\"AAD/AP8A/wAAAAAA\"") != NULL);
    fire_json_writer_fini(&w);
}

TEST(a_model_without_filters_shows_none)
{
    fire_json_writer_t w = {0};
    bool               found;

    CHECK_OK(fire_filters_write(
        &w, save("layer { name: 'ip' blobs { shape { dim: 1 dim: 1 } data: 3 } }"),
        &found));
    CHECK(!found);
    CHECK_EQ(w.out.n, 0);
    fire_json_writer_fini(&w);
    CHECK_FAILS(fire_filters_write(&w, "/nowhere/x.caffemodel", &found), FIRE_ERR_IO,
                "/nowhere/x.caffemodel");
}

/* ---- confusion ---- */

/* Scores that DummyData gives: class 2 is always the best of three, the label 1. */
#define TEST_NET                                                                       \
    "test_iter: 2 net_param { layer { name: 'data' type: 'DummyData' top: 'label' "    \
    "dummy_data_param { shape { dim: 4 } data_filler { value: 1 } } } layer { name: "  \
    "'x' type: 'DummyData' top: 'x' dummy_data_param { shape { dim: 4 dim: 1 } "       \
    "data_filler { value: 1 } } } layer { name: 'ip' type: 'InnerProduct' bottom: 'x'" \
    " top: 'ip' inner_product_param { num_output: 3 bias_term: false } } "
#define WEIGHTS \
    "layer { name: 'ip' blobs { shape { dim: 3 dim: 1 } data: 0 data: 1 data: 2 } }"

static char *confusion(const char *solver, bool *found_p)
{
    Caffe__SolverParameter *p = message(&caffe__solver_parameter__descriptor, solver);
    fire_json_writer_t      w = {0};
    static char             text[256];

    CHECK_OK(fire_confusion_write(&w, p, save(WEIGHTS), 1e6, found_p));
    snprintf(text, sizeof(text), "%s", w.out.n > 0 ? w.out.text : "");
    fire_json_writer_fini(&w);
    fire_message_free(p);
    return text;
}

TEST(confusion_counts_labels_against_the_best_class)
{
    bool found;

    CHECK_STR(confusion(TEST_NET "layer { name: 'acc' type: 'Accuracy' bottom: 'ip' "
                                 "bottom: 'label' top: 'acc' } }",
                        &found),
              "{\"classes\":3,\"images\":8,\"counts\":[0,0,0,0,0,8,0,0,0]}");
    CHECK(found);
}

TEST(without_an_accuracy_layer_there_is_no_confusion)
{
    bool found;

    CHECK_STR(confusion(TEST_NET "}", &found), "");
    CHECK(!found);
}

TEST(a_solver_without_a_net_is_refused)
{
    Caffe__SolverParameter *p = message(&caffe__solver_parameter__descriptor, "");
    fire_json_writer_t      w = {0};
    bool                    found;

    CHECK_FAILS(fire_confusion_write(&w, p, "x.caffemodel", 1, &found),
                FIRE_ERR_INVALID, "names no test net");
    fire_message_free(p);
}
