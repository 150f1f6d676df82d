/* Fields of Caffe's forks in prototxts: taken where they change nothing, else named. */
#include "base/log.h"
#include "caffe.pb-c.h"
#include "model/text.h"
#include "test.h"

static char heard[1024];
static int  times;

static void listen(void *arg, fire_log_level_t level, const char *file, int line,
                   const char *message)
{
    (void)arg, (void)level, (void)file, (void)line;
    snprintf(heard, sizeof(heard), "%s", message);
    times++;
}

static fire_status_t parse(const char *text, Caffe__NetParameter **net_p)
{
    fire_status_t st;

    fire_log_set_sink(listen, NULL, FIRE_WARNING);
    st = fire_text_parse(text, strlen(text), "net.prototxt",
                         &caffe__net_parameter__descriptor, (ProtobufCMessage **)net_p);
    fire_log_set_sink(NULL, NULL, FIRE_ERROR);
    return st;
}

TEST(fields_of_forks_without_effect_are_taken_and_named_once)
{
    Caffe__NetParameter *net;

    CHECK_OK(parse("default_forward_type: FLOAT16 eltwise_mem_sharing: false "
                   "layer { name: \"a\" forward_type: FLOAT engine: \"MKL\" \"DNN\" } "
                   "layer { name: \"b\" forward_type: FLOAT, "
                   "quantization_param { bw: [8, 8] deep < x: -1 > }; type: \"ReLU\" }",
                   &net));
    CHECK_EQ(times, 1);
    CHECK_STR(heard,
              "net.prototxt: fields of other Caffes that have no effect here: "
              "default_forward_type (NVIDIA), eltwise_mem_sharing (NVIDIA), "
              "forward_type (NVIDIA), engine (Intel), quantization_param (Intel)");
    CHECK_EQ(net->n_layer, 2);
    CHECK_STR(net->layer[1]->type, "ReLU");
    CHECK_EQ(net->layer[1]->n_plugin, 0);
    fire_message_free(net);
}

TEST(a_field_of_a_fork_that_changes_results_is_refused_by_the_name_of_the_fork)
{
    Caffe__NetParameter *net;

    CHECK_FAILS(
        parse("layer { elu_param { lambda: 2 } }", &net), FIRE_ERR_PARSE,
        "message \"ELUParameter\" has no field \"lambda\" here: it is of another "
        "Caffe (NVIDIA) and would change results");
}

TEST(a_field_that_nobody_knows_is_an_error_with_the_nearest_name)
{
    Caffe__NetParameter *net;

    CHECK_FAILS(parse("layer { forwrd_type: FLOAT }", &net), FIRE_ERR_PARSE,
                "has no field \"forwrd_type\"");
    CHECK_FAILS(parse("layer { elu_param { alpa: 2 } }", &net), FIRE_ERR_PARSE,
                "did you mean \"alpha\"?");
}

TEST(a_field_to_skip_must_have_a_value)
{
    static const char *const bad[] = {"engine",    "engine:",     "engine: }",
                                      "engine: {", "engine: [ 1", "engine: \"x"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        Caffe__NetParameter *net;

        CHECK(parse(bad[i], &net) < 0);
    }
}

TEST(engines_of_forks_are_known)
{
    Caffe__NetParameter *net;

    CHECK_OK(parse("layer { pooling_param { engine: MKL2017 kernel_size: 2 } } "
                   "layer { convolution_param { engine: LIBDNN } }",
                   &net));
    fire_message_free(net);
}
