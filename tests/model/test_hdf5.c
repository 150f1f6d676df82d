/* Models and solver states as HDF5. Tests src/model/files_hdf5.c too. */
#include "model/hdf5.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "base/alloc.h"
#include "base/file.h"
#include "model/blob_proto.h"
#include "model/load.h"
#ifdef FIRE_HAVE_HDF5
#    include "model/hdf5_io.h"
#endif
#include "model/text.h"
#include "test.h"

static void *parse(const ProtobufCMessageDescriptor *desc, const char *text)
{
    ProtobufCMessage *msg;

    CHECK_OK(fire_text_parse(text, strlen(text), "t", desc, &msg));
    return msg;
}

#ifndef FIRE_HAVE_HDF5
TEST(without_hdf5_the_message_says_so)
{
    Caffe__NetParameter *net;

    CHECK_FAILS(fire_net_param_load_weights("x.caffemodel.h5", &net),
                FIRE_ERR_UNSUPPORTED, "has no HDF5");
    (void)parse, (void)in_tmp;
}
#else

/* In the order of names, as HDF5 keeps them. */
static const char net_text[] =
    "layer { name: 'conv' blobs { shape { dim: [1, 2, 1] } data: [1, 2] } "
    "  blobs { shape { dim: 1 } data: 3 } }\n"
    "layer { name: 'inception/1x1' blobs { shape { dim: 1 } data: 4 } }\n"
    "layer { name: 'inception/3x3' blobs { shape { dim: 1 } data: 5 } }\n"
    "layer { name: 'relu' }\n"
    "layer { name: 'shared' blobs { } blobs { shape { } data: 6 } }\n";

TEST(a_model_survives_its_file)
{
    Caffe__NetParameter *net = parse(&caffe__net_parameter__descriptor, net_text),
                        *back;
    fire_str_t a = {0}, b = {0};

    CHECK_OK(fire_net_param_save_weights(test_path("n.caffemodel.h5"), net));
    CHECK_OK(fire_net_param_load_weights(test_path("n.caffemodel.h5"), &back));
    CHECK_OK(fire_text_print(net, &a));
    CHECK_OK(fire_text_print(back, &b));
    CHECK_STR(b.text, a.text);
    CHECK(fire_message_equal(net, back));
    fire_message_free(net);
    fire_message_free(back);
    fire_str_fini(&a);
    fire_str_fini(&b);
}

TEST(doubles_and_old_shapes_are_written_as_floats_of_four_axes)
{
    Caffe__NetParameter *net = parse(
                            &caffe__net_parameter__descriptor,
                            "layer { name: 'a' blobs { num: 1 channels: 1 height: "
                            "1 width: 2 double_data: [1, 2] } }"),
                        *want =
                            parse(&caffe__net_parameter__descriptor,
                                  "layer { name: 'a' blobs { shape { dim: [1, 1, 1, 2] "
                                  "} data: [1, 2] } }"),
                        *back;

    CHECK_OK(fire_net_param_save_hdf5(test_path("n.h5"), net));
    CHECK_OK(fire_net_param_load_hdf5(test_path("n.h5"), &back));
    CHECK(fire_message_equal(want, back));
    fire_message_free(net);
    fire_message_free(want);
    fire_message_free(back);
}

TEST(a_solver_state_survives_its_file)
{
    Caffe__SolverState *state =
                           parse(&caffe__solver_state__descriptor,
                                 "iter: 7 learned_net: 'x.caffemodel.h5' "
                                 "current_step: 1 history { shape { dim: 2 } data: [1, "
                                 "2] } history { shape { dim: [1, 1] } data: 3 } "
                                 "fire { origin: 5 lanes: 8 crc32c: 77 }"),
                       *back;

    CHECK_OK(fire_solver_state_save(test_path("s.solverstate.h5"), state));
    CHECK_OK(fire_solver_state_load(test_path("s.solverstate.h5"), &back));
    CHECK(fire_message_equal(state, back));
    fire_message_free(state);
    fire_message_free(back);
}

TEST(more_than_ten_history_blobs_keep_their_order)
{
    Caffe__SolverState *state = parse(&caffe__solver_state__descriptor,
                                      "iter: 7 current_step: 0"),
                       *back;
    Caffe__BlobProto *blob;
    const int64_t     one = 1;

    for (int i = 0; i < 25; i++) {
        float value = (float)i;

        CHECK_OK(fire_message_add_message(state, "history", &blob));
        CHECK_OK(fire_blob_proto_set_shape(blob, 1, &one));
        CHECK_OK(fire_blob_proto_write(blob, FIRE_DATA, 1, &value));
    }
    CHECK_OK(fire_solver_state_save_hdf5(test_path("s.h5"), state));
    CHECK_OK(fire_solver_state_load_hdf5(test_path("s.h5"), &back));
    CHECK(fire_message_equal(state, back));
    fire_message_free(state);
    fire_message_free(back);
}

static const char *h5dump(const char *path)
{
    static char text[100000];
    char        command[2048];
    FILE       *pipe;
    size_t      n;

    snprintf(command, sizeof(command), "h5dump %s", path);
    pipe    = popen(command, "r");
    n       = fread(text, 1, sizeof(text) - 1, pipe);
    text[n] = '\0';
    CHECK(pclose(pipe) == 0);
    return text;
}

TEST(h5dump_reads_what_is_written)
{
    Caffe__NetParameter *net =
        parse(&caffe__net_parameter__descriptor,
              "layer { name: 'c' blobs { shape { dim: [1, 2] } data: "
              "[1, 2.5] diff: [8, 9] } }");
    Caffe__SolverState *state = parse(&caffe__solver_state__descriptor,
                                      "iter: 42 learned_net: 'abc' current_step: 0");
    const char         *text;

    if (system("command -v h5dump > /dev/null") != 0) test_skip("no h5dump here");
    CHECK_OK(fire_net_param_save_hdf5(test_path("n.h5"), net));
    text = h5dump(test_path("n.h5"));
    CHECK(strstr(text,
                 "GROUP \"data\" {\n      GROUP \"c\" {\n         DATASET \"0\" {\n"
                 "            DATATYPE  H5T_IEEE_F32LE\n"
                 "            DATASPACE  SIMPLE { ( 1, 2 ) / ( 1, 2 ) }") != NULL);
    CHECK(strstr(text, "(0,0): 1, 2.5") != NULL);
    CHECK(strstr(strstr(text, "GROUP \"diff\""), "(0,0): 8, 9") != NULL);
    CHECK_OK(fire_solver_state_save_hdf5(test_path("s.h5"), state));
    text = h5dump(test_path("s.h5"));
    CHECK(strstr(text, "(0): 42") != NULL);
    CHECK(strstr(text, "STRSIZE 4;") != NULL);
    CHECK(strstr(text, "GROUP \"history\"") != NULL);
    fire_message_free(net);
    fire_message_free(state);
}

static const char *write_tmp(const char *name, const char *data, size_t n)
{
    const char *path = test_path(name);

    CHECK_OK(fire_file_write(path, data, n));
    return path;
}

TEST(bad_files_are_named_with_what_is_wrong)
{
    Caffe__NetParameter *net;
    Caffe__SolverState  *state;

    CHECK_FAILS(fire_net_param_load_hdf5("/no/n.h5", &net), FIRE_ERR_IO,
                "cannot open \"/no/n.h5\": No such file");
    CHECK_FAILS(fire_net_param_load_hdf5(write_tmp("t.h5", "text", 4), &net),
                FIRE_ERR_PARSE, "t.h5: not an HDF5 file, or damaged");
    CHECK_FAILS(fire_net_param_load_hdf5(write_tmp("e.h5", "", 0), &net),
                FIRE_ERR_PARSE, "e.h5: not an HDF5 file");
    net = parse(&caffe__net_parameter__descriptor, net_text);
    CHECK_OK(fire_net_param_save_hdf5(test_path("n.h5"), net));
    fire_message_free(net);
    CHECK_FAILS(fire_solver_state_load_hdf5(test_path("n.h5"), &state), FIRE_ERR_IO,
                "n.h5\" iter: HDF5: ");
    state = parse(&caffe__solver_state__descriptor, "iter: 1");
    CHECK_OK(fire_solver_state_save_hdf5(test_path("s.h5"), state));
    fire_message_free(state);
    CHECK_FAILS(fire_net_param_load_hdf5(test_path("s.h5"), &net), FIRE_ERR_PARSE,
                "s.h5: no group /data; is this a .caffemodel.h5?");
}

/* It would take the place of the first, which nobody would free. */
TEST(a_second_name_for_a_blob_is_refused)
{
    const int64_t        dim[] = {2};
    const float          x[]   = {1, 2};
    Caffe__NetParameter *net;
    hid_t                file;

    fire_hdf5_lock();
    CHECK_OK(fire_hdf5_create(&file));
    CHECK_OK(fire_hdf5_write_floats(file, "data/ip/0", "t", 1, dim, x));
    CHECK_OK(fire_hdf5_write_floats(file, "data/ip/00", "t", 1, dim, x));
    CHECK_OK(fire_hdf5_commit(file, test_path("twice.h5"), false));
    fire_hdf5_unlock();
    CHECK_FAILS(fire_net_param_load_hdf5(test_path("twice.h5"), &net), FIRE_ERR_PARSE,
                "twice.h5: dataset \"00\" is no number of a blob");
}

/* A dataset data/ip/0 of `n` floats made with these properties, in an otherwise good
 * file. */
static const char *write_strange(const char *name, hsize_t n, hid_t made)
{
    hid_t file  = H5Fcreate(test_path(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t data  = H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t ip    = H5Gcreate2(data, "ip", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t set =
        H5Dcreate2(ip, "0", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, made, H5P_DEFAULT);

    CHECK(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(made);
    H5Gclose(ip);
    H5Gclose(data);
    H5Fclose(file);
    return test_path(name);
}

TEST(a_file_that_claims_a_terabyte_is_refused_before_memory_is_taken)
{
    hsize_t              chunk = 1024;
    hid_t                made  = H5Pcreate(H5P_DATASET_CREATE);
    Caffe__NetParameter *net;
    struct rusage        before, after;

    getrusage(RUSAGE_SELF, &before);
    CHECK_FAILS(
        fire_net_param_load_hdf5(write_strange("c.h5", 250000000000, made), &net),
        FIRE_ERR_PARSE, "dataset 0 claims 1000000 MB, of which the file holds");
    made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(made, 1, &chunk);
    H5Pset_deflate(made, 9);
    CHECK_FAILS(
        fire_net_param_load_hdf5(write_strange("z.h5", 250000000000, made), &net),
        FIRE_ERR_PARSE, "dataset 0 claims 1000000 MB, of which the file holds");
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss < before.ru_maxrss + 100000);
}

TEST(values_in_other_files_are_not_read)
{
    hid_t                made = H5Pcreate(H5P_DATASET_CREATE), file, data;
    Caffe__NetParameter *net  = parse(&caffe__net_parameter__descriptor, net_text);

    H5Pset_external(made, "/etc/passwd", 0, 16);
    write_strange("e.h5", 4, made);
    CHECK_OK(fire_net_param_save_hdf5(test_path("other.h5"), net));
    fire_message_free(net);
    CHECK_FAILS(fire_net_param_load_hdf5(test_path("e.h5"), &net), FIRE_ERR_PARSE,
                "e.h5: dataset 0 is kept in other files, which are not read");
    file = H5Fcreate(test_path("l.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    data = H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external(test_path("other.h5"), "/data/conv", data, "conv", H5P_DEFAULT,
                       H5P_DEFAULT);
    H5Gclose(data);
    H5Fclose(file);
    CHECK_FAILS(fire_net_param_load_hdf5(test_path("l.h5"), &net), FIRE_ERR_PARSE,
                "l.h5: conv is a link to another file, which is not read");
    file = H5Fcreate(test_path("m.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external(test_path("other.h5"), "/data", file, "data", H5P_DEFAULT,
                       H5P_DEFAULT);
    H5Fclose(file);
    CHECK_FAILS(fire_net_param_load_hdf5(test_path("m.h5"), &net), FIRE_ERR_PARSE,
                "m.h5: no group /data");
}

TEST(a_file_cut_off_is_an_error)
{
    Caffe__NetParameter *net = parse(&caffe__net_parameter__descriptor, net_text),
                        *back;
    char  *bytes;
    size_t n;

    CHECK_OK(fire_net_param_save_hdf5(test_path("n.h5"), net));
    CHECK_OK(fire_file_read(test_path("n.h5"), &bytes, &n));
    for (size_t k = 0; k < n; k += 97) {
        write_tmp("cut.h5", bytes, k);
        CHECK_FAILS(fire_net_param_load_hdf5(test_path("cut.h5"), &back),
                    FIRE_ERR_PARSE, "cut.h5: not an HDF5 file, or damaged");
    }
    fire_free(bytes);
    fire_message_free(net);
}

TEST(values_that_do_not_fit_their_shape_are_not_written)
{
    Caffe__NetParameter *net =
        parse(&caffe__net_parameter__descriptor,
              "layer { name: 'c' blobs { shape { dim: 3 } data: 1 } }");

    CHECK_FAILS(fire_net_param_save_hdf5(test_path("n.h5"), net), FIRE_ERR_PARSE,
                "n.h5\": data/c/0: 1 values, but its shape has 3");
    CHECK_FAILS(fire_file_check(test_path("n.h5")), FIRE_ERR_IO, "No such file");
    fire_message_free(net);
}

TEST(a_full_disk_leaves_the_last_good_file)
{
    Caffe__SolverState *state = parse(&caffe__solver_state__descriptor, "iter: 1"),
                       *back;
    struct rlimit small = {1000, 1000};

    CHECK_OK(fire_solver_state_save_hdf5(test_path("s.h5"), state));
    state->iter = 2;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_FAILS(fire_solver_state_save_hdf5(test_path("s.h5"), state), FIRE_ERR_IO,
                "s.h5\": File too large");
    CHECK_OK(fire_solver_state_load_hdf5(test_path("s.h5"), &back));
    CHECK_EQ(back->iter, 1);
    fire_message_free(state);
    fire_message_free(back);
}

static void *save_and_load(void *name)
{
    Caffe__NetParameter *net = parse(&caffe__net_parameter__descriptor, net_text),
                        *back;
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s", test_tmpdir(), (const char *)name);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(fire_net_param_save_hdf5(path, net));
        CHECK_OK(fire_net_param_load_hdf5(path, &back));
        CHECK(fire_message_equal(net, back));
        fire_message_free(back);
    }
    fire_message_free(net);
    return NULL;
}

TEST(threads_take_turns)
{
    pthread_t thread[2];

    test_tmpdir();
    pthread_create(&thread[0], NULL, save_and_load, "a.h5");
    pthread_create(&thread[1], NULL, save_and_load, "b.h5");
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}
#endif
