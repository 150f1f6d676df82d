/* Tests src/layers/plugin/: what is said about plug-ins that cannot be loaded, and about
 * layers of them that cannot be set up. Each .so of build/tests/plugins has one fault
 * (faulty/faulty.c). */
#include <stdlib.h>
#include <unistd.h>
#include "base/file.h"
#include "layers/plugin/plugin.h"
#include "model/text.h"
#include "net/net.h"
#include "test.h"

static const char *plugin(const char *fault)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/tests/plugins/%s.so", FIRE_BUILD_DIR, fault);
    return path;
}

/* The plug-in is refused, and leaves nothing behind. */
static void check_refused(const char *fault, fire_status_t status, const char *message)
{
    int before = fire_plugin_count();

    CHECK_FAILS(fire_plugin_load(plugin(fault)), status, message);
    CHECK_EQ(fire_plugin_count(), before);
}

static fire_status_t create(const char *layer)
{
    fire_net_options_t options = FIRE_NET_OPTIONS_INIT;
    char               text[1024];
    ProtobufCMessage  *param;
    fire_net_t        *net;
    fire_status_t      st;

    snprintf(
        text, sizeof(text),
        "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 } } }"
        "layer { name: 'y' bottom: 'x' top: 'y' %s }",
        layer);
    CHECK_OK(fire_text_parse(text, strlen(text), "net.prototxt",
                             &caffe__net_parameter__descriptor, &param));
    st = fire_net_create((Caffe__NetParameter *)param, &options, &net);
    fire_message_free(param);
    if (st >= 0) fire_net_destroy(net);
    return st;
}

TEST(a_file_that_is_no_shared_object_is_refused)
{
    CHECK_OK(fire_file_write(test_path("text.so"), "no library", 10));
    CHECK_FAILS(fire_plugin_load(test_path("text.so")), FIRE_ERR_IO,
                "text.so: file too short");
    CHECK_FAILS(fire_plugin_load(test_path("none.so")), FIRE_ERR_IO,
                "none.so: No such file or directory");
    CHECK_FAILS(fire_plugin_load(""), FIRE_ERR_INVALID, "path of a plug-in is empty");
    CHECK_FAILS(fire_plugin_load(NULL), FIRE_ERR_INVALID, "path of a plug-in is empty");
    CHECK_EQ(fire_plugin_count(), 0);
}

TEST(a_plug_in_for_a_later_library_is_refused)
{
    check_refused("undefined", FIRE_ERR_IO,
                  "undefined symbol: fire_of_a_later_version");
    check_refused("version", FIRE_ERR_UNSUPPORTED,
                  "version.so: is made for version 2 of the plug-in interface, this "
                  "library (");
    check_refused("later", FIRE_ERR_UNSUPPORTED, "use a newer library");
    check_refused("flags", FIRE_ERR_UNSUPPORTED,
                  "type \"Twice\" has unknown flags 0x40000000");
}

TEST(a_plug_in_without_an_entry_is_refused)
{
    check_refused("no_entry", FIRE_ERR_UNSUPPORTED,
                  "no_entry.so: has no entry; it must define `const fire_plugin_t "
                  "fire_plugin`");
}

TEST(records_that_cannot_be_are_refused)
{
    check_refused("no_name", FIRE_ERR_UNSUPPORTED, "has no name, or an odd one: \"\"");
    check_refused("no_layers", FIRE_ERR_UNSUPPORTED, "has no layers");
    check_refused("type", FIRE_ERR_UNSUPPORTED, "an odd one: \"Twice as much\"");
    check_refused("arity", FIRE_ERR_UNSUPPORTED,
                  "takes 1 to 0 bottoms and 1 to 1 tops");
    check_refused("no_reshape", FIRE_ERR_UNSUPPORTED, "\"Twice\" has no reshape");
    check_refused("kernel_size", FIRE_ERR_UNSUPPORTED, "a kernel record has size 0");
    check_refused("kernel_name", FIRE_ERR_UNSUPPORTED,
                  "a kernel of type \"Twice\" has no name");
    check_refused("same_kernel", FIRE_ERR_UNSUPPORTED,
                  "has two kernels with the name \"ref\"");
    check_refused("no_forward", FIRE_ERR_UNSUPPORTED,
                  "kernel \"ref\" of type \"Twice\" has no forward");
    check_refused("reads", FIRE_ERR_UNSUPPORTED, "where 0 and reads 1048576 cannot be");
    check_refused("no_cpu", FIRE_ERR_UNSUPPORTED, "has no kernel for the CPU");
}

TEST(a_name_that_is_taken_is_refused)
{
    char message[600];

    check_refused("taken", FIRE_ERR_UNSUPPORTED,
                  "taken.so: the layer type \"ReLU\" is taken by the library itself");
    check_refused("same_type", FIRE_ERR_UNSUPPORTED,
                  "has two layer types with the name \"Twice\"");
    CHECK_OK(fire_plugin_load(plugin("none")));
    snprintf(message, sizeof(message),
             "the layer type \"Twice\" is taken by plug-in %s", plugin("none"));
    check_refused("setup", FIRE_ERR_UNSUPPORTED, message);
}

TEST(a_plug_in_is_loaded_once_and_its_types_are_known)
{
    const fire_layer_ops_t *ops;
    char                    roundabout[600];

    CHECK_OK(fire_plugin_load(plugin("none")));
    snprintf(roundabout, sizeof(roundabout), "%s/tests/../tests/plugins/none.so",
             FIRE_BUILD_DIR);
    CHECK_OK(fire_plugin_load(roundabout));
    CHECK_EQ(fire_plugin_count(), 1);
    CHECK_STR(fire_plugin_at(0)->name, "faulty");
    CHECK_STR(fire_plugin_path(0), plugin("none"));
    CHECK_OK(fire_layer_find("Twice", &ops));
    CHECK_STR(fire_plugin_path_of(ops), plugin("none"));
    CHECK(fire_plugin_type_at(0) != NULL && fire_plugin_type_at(1) == NULL);
    CHECK_FAILS(fire_layer_find("Twcie", &ops), FIRE_ERR_UNSUPPORTED,
                "did you mean \"Twice\"?");
    CHECK_OK(create("type: 'Twice'"));
}

TEST(a_setup_that_fails_says_why_and_where)
{
    CHECK_OK(fire_plugin_load(plugin("setup")));
    CHECK_FAILS(create("type: 'Twice' twice_param { factor: 3 }"), FIRE_ERR_INVALID,
                "layer \"y\" (Twice): factor 3 does not suit a layer \"y\"");
}

TEST(a_setup_that_fails_silently_is_named)
{
    CHECK_OK(fire_plugin_load(plugin("silent")));
    CHECK_FAILS(create("type: 'Twice'"), FIRE_ERR_IO,
                "layer \"y\" (Twice): setup of the plug-in failed (input/output error) "
                "and did not say why");
}

TEST(an_answer_that_is_no_status_is_a_failure)
{
    CHECK_OK(fire_plugin_load(plugin("status")));
    CHECK_FAILS(create("type: 'Twice'"), FIRE_ERR_INVALID,
                "layer \"y\" (Twice): setup of the plug-in returned 7: no status");
}

TEST(settings_that_nobody_reads_are_refused)
{
    CHECK_OK(fire_plugin_load(plugin("none")));
    CHECK_OK(create("type: 'Twice' plugin_param { factor: 3 }"));
    CHECK_FAILS(create("type: 'Twice' plugin_param { facter: 3 }"), FIRE_ERR_INVALID,
                "layer \"y\" (Twice): plugin_param has no key \"facter\"; did you mean "
                "\"factor\"?");
    CHECK_FAILS(create("type: 'Twice' twice_param { } twice_param { }"),
                FIRE_ERR_INVALID, "twice_param is given twice");
    CHECK_FAILS(create("type: 'Twice' plugin_param { } twice_param { window: 1 }"),
                FIRE_ERR_INVALID, "plugin_param/twice_param has no key \"window\"");
    CHECK_FAILS(create("type: 'Twice' plugin { field: 'x_param' }"), FIRE_ERR_INVALID,
                "plugin { } needs field and text");
    CHECK_FAILS(create("type: 'Twice' plugin { field: 'x_param' text: '}' }"),
                FIRE_ERR_PARSE, "x_param:1:1: a key of \"x_param\" must stand here");
    CHECK_FAILS(create("type: 'ReLU' vortex_param { }"), FIRE_ERR_INVALID,
                "layer \"y\" (ReLU): has settings in vortex_param, which only layers of "
                "plug-ins take");
}

TEST(a_type_that_no_plug_in_brings_is_named)
{
    CHECK_FAILS(create("type: 'Swirl' swirl_param { turns: 2 }"), FIRE_ERR_UNSUPPORTED,
                "unknown layer type \"Swirl\"");
}

TEST(the_environment_names_plug_ins_for_every_net)
{
    char list[1200];

    snprintf(list, sizeof(list), "%s:%s", plugin("none"), test_path("none.so"));
    CHECK(setenv("FIRE_PLUGINS", list, 1) == 0);
    CHECK_FAILS(create("type: 'Twice'"), FIRE_ERR_IO, "FIRE_PLUGINS: cannot load");
    CHECK(setenv("FIRE_PLUGINS", plugin("none"), 1) == 0);
    CHECK_OK(create("type: 'Twice'"));
    CHECK(unsetenv("FIRE_PLUGINS") == 0);
}
