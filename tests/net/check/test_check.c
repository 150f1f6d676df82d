/* Tests src/net/check/: each check finds the fault that it is for, and no fault in a
 * layer without. The layers are those of wrong/wrong.c. */
#include "layers/plugin/plugin.h"
#include "model/text.h"
#include "net/check/check.h"
#include "test.h"

/* What was reported, a line each: "fast: WHAT: FAILED: DETAIL". */
static char report[16384];

static void keep(void *arg, const fire_check_result_t *r)
{
    static const char *const words[] = {"ok", "FAILED", "note", "-"};
    size_t                   n       = strlen(report);

    (void)arg;
    snprintf(report + n, sizeof(report) - n, "%s: %s: %s: %s\n", r->kernel, r->what,
             words[r->verdict], r->detail);
}

static fire_status_t check_net(const char *text, const char *layer)
{
    fire_check_options_t o = FIRE_CHECK_OPTIONS_INIT;
    ProtobufCMessage    *param;
    fire_status_t        st;

    report[0] = '\0';
    CHECK_OK(fire_plugin_load(FIRE_BUILD_DIR "/tests/plugins/wrong.so"));
    CHECK_OK(fire_text_parse(text, strlen(text), "net.prototxt",
                             &caffe__net_parameter__descriptor, &param));
    o.report = keep;
    o.layer  = layer;
    st       = fire_check_layer((Caffe__NetParameter *)param, &o);
    fire_message_free(param);
    return st;
}

/* Check a layer of this type with four elements in three rows, and with this fault. */
static void check(const char *type, const char *fault)
{
    char text[512];

    snprintf(text, sizeof(text),
             "layer { name: 'x' type: 'Input' top: 'x' "
             "  input_param { shape { dim: 3 dim: 4 } } }"
             "layer { name: 'y' type: '%s' bottom: 'x' top: 'y' %s%s%s }",
             type, fault[0] != '\0' ? "wrong_param { fault: '" : "", fault,
             fault[0] != '\0' ? "' }" : "");
    CHECK_OK(check_net(text, NULL));
}

static int count(const char *text)
{
    int n = 0;

    for (const char *at = report; (at = strstr(at, text)) != NULL; at++)
        n++;
    return n;
}

/* This check failed, with these words. */
static void check_found(const char *kernel, const char *what, const char *detail)
{
    char        line[256];
    const char *at;

    snprintf(line, sizeof(line), "%s: %s: FAILED: ", kernel, what);
    at = strstr(report, line);
    if (at == NULL) test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", line, report);
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
    if (strstr(line, detail) == NULL)
        test_fail(__FILE__, __LINE__, "no \"%s\" in: %s", detail, line);
}

TEST(a_correct_layer_passes_every_check)
{
    check("Wrong", "none");
    CHECK_EQ(count("FAILED"), 0);
    CHECK_EQ(count(": ok:"), 23);
    CHECK(strstr(report, "ref: the kernel agrees with the reference: -: ") != NULL);
    CHECK(strstr(report, "fast: the kernel agrees with the reference: ok: ") != NULL);
}

TEST(a_wrong_formula_is_found_by_finite_differences)
{
    check("Wrong", "formula");
    check_found("ref", "gradients equal finite differences", "backward gives ");
    CHECK_EQ(count("FAILED"), 2);
}

TEST(a_kernel_that_differs_from_the_reference_is_found)
{
    check("Wrong", "other kernel");
    check_found("fast", "the kernel agrees with the reference", "output y differs by ");
    CHECK_EQ(count("FAILED"), 1);
}

TEST(a_layer_that_remembers_earlier_passes_is_found)
{
    check("Wrong", "memory");
    check_found("ref", "forward and backward repeat their bits",
                "a second pass must not depend on the first");
}

TEST(a_layer_that_remembers_earlier_shapes_is_found)
{
    check("Wrong", "shape");
    check_found("ref", "another batch size and back changes nothing",
                "after a reshape and back the layer must be as new");
    CHECK_EQ(count("FAILED"), 2);
}

TEST(a_top_that_is_not_written_whole_is_found)
{
    check("Wrong", "first element");
    check_found("ref", "forward overwrites its tops",
                "forward must write every element of its tops");
}

TEST(a_diff_of_a_bottom_that_is_added_to_is_found)
{
    check("Wrong", "add");
    check_found("ref", "backward overwrites diffs of bottoms", "write it, do not add");
}

TEST(a_diff_of_a_parameter_that_is_overwritten_is_found)
{
    check("Wrong", "overwrite");
    check_found("ref", "backward adds to diffs of parameters",
                "add to it, do not write");
    CHECK_EQ(count("FAILED"), 2);
}

TEST(diffs_that_nobody_wants_must_not_be_written)
{
    check("Wrong", "unwanted bottom");
    check_found("ref", "backward writes no diff that is not wanted",
                "the diff of bottom 0 is written where it is not wanted");
    CHECK_EQ(count("FAILED"), 2);
    check("Wrong", "unwanted parameter");
    check_found("ref", "backward writes no diff that is not wanted",
                "the diff of parameter 0 is written where it is not wanted");
    CHECK_EQ(count("FAILED"), 2);
}

TEST(reading_more_than_said_and_working_in_place_wrongly_are_found)
{
    check("WrongReads", "");
    check_found("ref", "backward reads only what it says",
                "backward reads more than the kernel's `reads` says");
    check_found("ref", "in place it computes the same", "in place, the bottom's diff");
}

TEST(results_that_depend_on_threads_are_found)
{
#ifndef FIRE_HAVE_OPENMP
    test_skip("built without OpenMP");
#endif
    check("WrongThreads", "");
    check_found("ref", "any number of threads gives the same bits",
                "with three threads instead of one");
}

TEST(a_layer_of_the_middle_can_be_checked)
{
    CHECK_OK(check_net("layer { name: 'x' type: 'Input' top: 'x' "
                       "  input_param { shape { dim: 2 dim: 3 } } }"
                       "layer { name: 'y' type: 'Wrong' bottom: 'x' top: 'y'"
                       "  wrong_param { fault: 'formula' } }"
                       "layer { name: 'z' type: 'TanH' bottom: 'y' top: 'z' }",
                       "y"));
    check_found("ref", "gradients equal finite differences", "backward gives ");
}

TEST(a_net_without_the_layer_is_refused)
{
    CHECK_FAILS(check_net("layer { name: 'x' type: 'Input' top: 'x' "
                          "  input_param { shape { dim: 2 } } }",
                          "y"),
                FIRE_ERR_INVALID, "the net has no layer \"y\"");
    CHECK_FAILS(check_net("name: 'empty'", NULL), FIRE_ERR_INVALID,
                "the net has no layers");
    CHECK_FAILS(check_net("layer { name: 'x' type: 'Input' top: 'x' "
                          "  include { phase: TEST } "
                          "  input_param { shape { dim: 2 } } }",
                          "x"),
                FIRE_ERR_INVALID, "is not in the net of this phase");
}
