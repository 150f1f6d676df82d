/* Models and solver states as files. Tests src/model/file.c too. */
#include "model/load.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "model/text.h"
#include "test.h"

static const char net_text[] =
    "name: \"tiny \\\"net\\\"\\n\" force_backward: true\n"
    "layer { name: 'data' type: 'Input' top: 'data' "
    "  input_param { shape { dim: [1, 3] } } }\n"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' phase: TEST "
    "  param { lr_mult: 0.1 } loss_weight: [0.25, 1e-8] propagate_down: true "
    "  inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } "
    "  blobs { shape { dim: [2, 3] } data: [1, -2.5, 3e-30, 0.1, inf, 6] } "
    "  blobs { shape { dim: 2 } data: [7, 8] diff: [0.5, -0.5] } "
    "  clip_param { min: -1 max: 1 } exp_param { base: 2.5 } log_param { base: 10 } "
    "}\n";

static const char *write_tmp(const char *name, const void *data, size_t n)
{
    const char *path = test_path(name);

    CHECK_OK(fire_file_write(path, data, n));
    return path;
}

static Caffe__NetParameter *sample_net(void)
{
    ProtobufCMessage *msg;

    CHECK_OK(fire_text_parse(net_text, strlen(net_text), "t",
                             &caffe__net_parameter__descriptor, &msg));
    return (Caffe__NetParameter *)msg;
}

TEST(a_net_survives_text_and_binary_files)
{
    Caffe__NetParameter *net = sample_net(), *back;

    CHECK_OK(fire_net_param_save_text(test_path("n.prototxt"), net));
    CHECK_OK(fire_net_param_load_text(test_path("n.prototxt"), &back));
    CHECK(fire_message_equal(net, back));
    fire_message_free(back);
    CHECK_OK(fire_net_param_save_binary(test_path("n.caffemodel"), net));
    CHECK_OK(fire_net_param_load_binary(test_path("n.caffemodel"), &back));
    CHECK(fire_message_equal(net, back));
    fire_message_free(back);
    CHECK_OK(fire_net_param_save_weights(test_path("m.caffemodel"), net));
    CHECK_OK(fire_net_param_load_weights(test_path("m.caffemodel"), &back));
    CHECK(fire_message_equal(net, back));
    fire_message_free(back);
    fire_message_free(net);
}

TEST(loading_upgrades_old_formats)
{
    static const char text[] =
        "input: 'd' input_dim: [1, 2, 3, 4] layers { type: RELU }";
    Caffe__NetParameter *net;

    write_tmp("v1.prototxt", text, strlen(text));
    CHECK_OK(fire_net_param_load_text(test_path("v1.prototxt"), &net));
    CHECK_STR(net->layer[0]->type, "Input");
    CHECK_STR(net->layer[1]->type, "ReLU");
    fire_message_free(net);
    write_tmp("bad.prototxt", "layer {} layers {}", 18);
    CHECK_FAILS(fire_net_param_load_text(test_path("bad.prototxt"), &net),
                FIRE_ERR_PARSE, "bad.prototxt: the net has both");
}

TEST(bad_files_are_named_with_what_is_wrong)
{
    Caffe__NetParameter    *net;
    Caffe__SolverParameter *solver;
    Caffe__SolverState     *state;

    CHECK_FAILS(fire_net_param_load_text("/no/net.prototxt", &net), FIRE_ERR_IO,
                "cannot open \"/no/net.prototxt\": No such file");
    CHECK_FAILS(fire_net_param_load_binary("/no/x.caffemodel", &net), FIRE_ERR_IO,
                "/no/x.caffemodel");
    CHECK_FAILS(fire_net_param_load_text(test_tmpdir(), &net), FIRE_ERR_IO,
                "is a directory");
    write_tmp("empty", "", 0);
    CHECK_FAILS(fire_net_param_load_text(test_path("empty"), &net), FIRE_ERR_PARSE,
                "empty: the file is empty");
    CHECK_FAILS(fire_net_param_load_binary(test_path("empty"), &net), FIRE_ERR_PARSE,
                "the file is empty");
    CHECK_FAILS(fire_solver_state_load(test_path("empty"), &state), FIRE_ERR_PARSE,
                "the file is empty");
    write_tmp("s.prototxt", "net: 'n'\nbase_lrr: 1", 20);
    CHECK_FAILS(
        fire_solver_param_load(test_path("s.prototxt"), &solver), FIRE_ERR_PARSE,
        "s.prototxt:2:1: message \"SolverParameter\" has no field \"base_lrr\"; did "
        "you mean \"base_lr\"?");
    write_tmp("t.caffemodel", net_text, strlen(net_text));
    CHECK_FAILS(fire_net_param_load_binary(test_path("t.caffemodel"), &net),
                FIRE_ERR_PARSE, "t.caffemodel: no net in binary form, or damaged");
}

TEST(a_caffemodel_cut_off_anywhere_is_an_error_or_a_shorter_net)
{
    Caffe__NetParameter *net     = sample_net(), *part;
    int                  refused = 0;
    char                *bytes;
    size_t               n;

    CHECK_OK(fire_net_param_save_binary(test_path("n.caffemodel"), net));
    CHECK_OK(fire_file_read(test_path("n.caffemodel"), &bytes, &n));
    for (size_t k = 1; k < n; k++) {
        write_tmp("cut.caffemodel", bytes, k);
        if (fire_net_param_load_binary(test_path("cut.caffemodel"), &part) == FIRE_OK) {
            CHECK(!fire_message_equal(net, part));
            fire_message_free(part);
        } else {
            refused++;
            CHECK(strstr(fire_last_error(), "cut.caffemodel: no net in binary form") !=
                  NULL);
        }
    }
    CHECK(refused > (int)n - 10);
    fire_free(bytes);
    fire_message_free(net);
}

TEST(floats_that_are_not_packed_are_read_too)
{
    /* blobs { data: 1 data: 2 } written one by one, and a legacy shape */
    static const char bytes[] = "\xA2\x06\x10"          /* layer, 16 bytes */
                                "\x3A\x0E"              /* blobs, 14 bytes */
                                "\x08\x02\x20\x01"      /* num: 2 width: 1 */
                                "\x2D\x00\x00\x80\x3F"  /* data: 1 */
                                "\x2D\x00\x00\x00\x40"; /* data: 2 */
    Caffe__NetParameter *net;

    write_tmp("u.caffemodel", bytes, sizeof(bytes) - 1);
    CHECK_OK(fire_net_param_load_binary(test_path("u.caffemodel"), &net));
    CHECK_EQ(net->layer[0]->blobs[0]->n_data, 2);
    CHECK_NEAR(net->layer[0]->blobs[0]->data[1], 2, 0);
    CHECK_EQ(net->layer[0]->blobs[0]->num, 2);
    fire_message_free(net);
}

TEST(a_solver_gets_its_snapshot_prefix)
{
    Caffe__SolverParameter *s;
    char                    text[2048];

    write_tmp("lenet.solver.prototxt", "base_lr: .01", 12);
    CHECK_OK(fire_solver_param_load(test_path("lenet.solver.prototxt"), &s));
    CHECK_STR(s->snapshot_prefix, test_path("lenet.solver"));
    fire_message_free(s);

    snprintf(text, sizeof(text), "snapshot_prefix: '%s'", test_tmpdir());
    write_tmp("x.prototxt", text, strlen(text));
    CHECK_OK(fire_solver_param_load(test_path("x.prototxt"), &s));
    CHECK_STR(s->snapshot_prefix, test_path("x"));
    fire_message_free(s);

    write_tmp("y.prototxt", "snapshot_prefix: 'snaps/y' solver_type: ADAM", 44);
    CHECK_OK(fire_solver_param_load(test_path("y.prototxt"), &s));
    CHECK_STR(s->snapshot_prefix, "snaps/y");
    CHECK_STR(s->type, "Adam");
    fire_message_free(s);
}

static Caffe__SolverState *sample_state(void)
{
    static const char text[] =
        "iter: 500 learned_net: 'a_iter_500.caffemodel' "
        "current_step: 2 history { shape { dim: [1, 2] } data: [1, "
        "2] } history { shape { dim: 1 } data: 3 }";
    ProtobufCMessage *msg;

    CHECK_OK(fire_text_parse(text, strlen(text), "t", &caffe__solver_state__descriptor,
                             &msg));
    return (Caffe__SolverState *)msg;
}

TEST(a_solver_state_survives_its_file)
{
    Caffe__SolverState *state = sample_state(), *back;

    CHECK_OK(fire_solver_state_save(test_path("s.solverstate"), state));
    CHECK_OK(fire_solver_state_load(test_path("s.solverstate"), &back));
    CHECK(fire_message_equal(state, back));
    fire_message_free(state);
    fire_message_free(back);
}

TEST(a_full_disk_while_saving_leaves_the_last_good_file)
{
    Caffe__NetParameter *net   = sample_net(), *back, *big;
    struct rlimit        small = {10000, 10000};
    static float         values[100000];

    CHECK_OK(fire_net_param_save_binary(test_path("n.caffemodel"), net));
    CHECK_OK(fire_message_copy(net, (ProtobufCMessage **)&big));
    fire_message_clear_field(big->layer[1]->blobs[0], "data");
    big->layer[1]->blobs[0]->data   = values;
    big->layer[1]->blobs[0]->n_data = 100000;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_FAILS(fire_net_param_save_binary(test_path("n.caffemodel"), big), FIRE_ERR_IO,
                test_path("n.caffemodel"));
    CHECK_OK(fire_net_param_load_binary(test_path("n.caffemodel"), &back));
    CHECK(fire_message_equal(net, back));
    big->layer[1]->blobs[0]->data   = NULL;
    big->layer[1]->blobs[0]->n_data = 0;
    CHECK_FAILS(fire_net_param_save_text("/dev/full", net), FIRE_ERR_IO,
                "No space left");
    fire_message_free(net);
    fire_message_free(big);
    fire_message_free(back);
}

/* Run a shell command; its output must be of length > 0. */
static char *output_of(const char *command)
{
    FILE  *pipe = popen(command, "r");
    char  *text = calloc(1, 100000);
    size_t n    = fread(text, 1, 99999, pipe);

    if (pclose(pipe) != 0 || n == 0) test_fail(__FILE__, __LINE__, "%s", command);
    return text;
}

TEST(protoc_reads_what_is_written_and_writes_what_is_read)
{
    Caffe__NetParameter *net = sample_net(), *back;
    char                 command[4096], *text;

    if (system("command -v protoc > /dev/null") != 0) test_skip("no protoc here");
    CHECK_OK(fire_net_param_save_binary(test_path("n.caffemodel"), net));
    CHECK_OK(fire_net_param_save_text(test_path("n.prototxt"), net));
    snprintf(command, sizeof(command),
             "protoc --decode=caffe.NetParameter --proto_path=%s caffe.proto < %s",
             test_source("proto"), test_path("n.caffemodel"));
    text = output_of(command);
    CHECK_OK(fire_text_parse(text, strlen(text), "protoc",
                             &caffe__net_parameter__descriptor,
                             (ProtobufCMessage **)&back));
    CHECK(fire_message_equal(net, back));
    fire_message_free(back);
    free(text);
    snprintf(
        command, sizeof(command),
        "protoc --encode=caffe.NetParameter --proto_path=%s caffe.proto < %s > %s && "
        "cmp %s %s && echo same",
        test_source("proto"), test_path("n.prototxt"), test_path("p.caffemodel"),
        test_path("p.caffemodel"), test_path("n.caffemodel"));
    text = output_of(command);
    CHECK_STR(text, "same\n");
    free(text);
    fire_message_free(net);
}

TEST(protoc_reads_a_solver_state)
{
    Caffe__SolverState *state = sample_state();
    char                command[4096], *text;

    if (system("command -v protoc > /dev/null") != 0) test_skip("no protoc here");
    CHECK_OK(fire_solver_state_save(test_path("s.solverstate"), state));
    snprintf(command, sizeof(command),
             "protoc --decode=caffe.SolverState --proto_path=%s caffe.proto < %s",
             test_source("proto"), test_path("s.solverstate"));
    text = output_of(command);
    CHECK(strstr(text, "iter: 500\n") != NULL);
    CHECK(strstr(text, "data: 2\n") != NULL);
    free(text);
    fire_message_free(state);
}

TEST(a_state_that_is_there_as_hdf5_is_named)
{
    Caffe__SolverState *state;

    CHECK_OK(fire_file_write(test_path("s.solverstate.h5"), "x", 1));
    CHECK_FAILS(fire_solver_state_load(test_path("s.solverstate"), &state), FIRE_ERR_IO,
                "s.solverstate.h5\": resume from that");
}

TEST(further_devices_are_kept)
{
    static const char             text[] = "device_id: 2 device_id: 0 device_id: 1";
    ProtobufCMessage             *m;
    const Caffe__SolverParameter *s;

    CHECK_OK(fire_text_parse(text, strlen(text), "s",
                             &caffe__solver_parameter__descriptor, &m));
    s = (const Caffe__SolverParameter *)m;
    CHECK_EQ(s->device_id, 2);
    CHECK_EQ(s->n_device_ids, 2);
    CHECK_EQ(s->device_ids[1], 1);
    fire_message_free(m);
}
