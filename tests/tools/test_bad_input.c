/* Kinds of bad input. Each must end with one message that names the file, line or
 * layer and tells what to do, status 1, no crash and no half-written file. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "data/source/writer.h"
#include "device/gpu.h"
#include "fixture.h"

#define TRAIN "firecaffe train --solver solver.prototxt --quiet"

static void no_leftovers(void)
{
    CHECK_EQ(count_files("*.tmp*"), 0);
    CHECK_EQ(count_files("snap_iter_*"), 0);
}

/* ---- files that are not there, or not what they should be ---- */

TEST(a_solver_file_that_is_missing)
{
    SH_FAILS("nowhere.prototxt", "firecaffe train --solver nowhere.prototxt");
    SH_FAILS("Need a solver definition", "firecaffe train");
}

TEST(a_net_file_that_is_missing)
{
    make_solver("");
    SH_FAILS("net.prototxt", TRAIN);
    no_leftovers();
}

TEST(a_directory_in_the_place_of_a_file)
{
    SH_FAILS("it is a directory", "firecaffe train --solver /");
}

TEST(a_misspelt_field)
{
    make_training();
    edit_file("solver.prototxt", "momentum", "momentun");
    SH_FAILS("solver.prototxt:6:1: ", TRAIN);
    CHECK_HAS(ran.err, "momentum");
    no_leftovers();
}

TEST(a_value_of_the_wrong_type)
{
    make_training();
    edit_file("net.prototxt", "num_output: 4", "num_output: \"four\"");
    SH_FAILS("net.prototxt:6:", TRAIN);
    no_leftovers();
}

/* As a damaged .caffemodel has them. */
TEST(weights_that_contradict_their_own_shape)
{
    static const char net[] =
        "layer { name: \"d\" type: \"Input\" top: \"d\"\n"
        "  input_param { shape { dim: 1 dim: 3 } } }\n"
        "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"d\" top: \"ip\"\n"
        "  inner_product_param { num_output: 2 bias_term: false }\n"
        "  blobs { shape { dim: 2 dim: 3 } data: 1 } }\n";

    write_file("net.prototxt", net);
    SH_FAILS("parameter 0 of layer \"ip\": 1 values, but its shape has 6",
             "firecaffe net net.prototxt");
    edit_file("net.prototxt", "dim: 2 dim: 3", "dim: -2 dim: 3");
    SH_FAILS("parameter 0 of layer \"ip\": dimension 0 is -2",
             "firecaffe net net.prototxt");
    edit_file("net.prototxt", "dim: -2 dim: 3",
              "dim: 4611686018427387904 dim: 4611686018427387904");
    SH_FAILS("parameter 0 of layer \"ip\": dimension 1 is 4611686018427387904",
             "firecaffe net net.prototxt");
}

TEST(a_bracket_that_is_never_closed)
{
    make_training();
    edit_file("net.prototxt", "top: \"loss\" }", "top: \"loss\"");
    SH_FAILS("net.prototxt:", TRAIN);
}

TEST(a_file_that_is_no_text)
{
    SH_FAILS("solver.prototxt:1:",
             "head -c 300 /bin/sh >solver.prototxt; firecaffe train --solver "
             "solver.prototxt");
}

TEST(an_enum_value_that_does_not_exist)
{
    make_training();
    edit_file("net.prototxt", "backend: LMDB", "backend: SQLITE");
    SH_FAILS("net.prototxt:4:", TRAIN);
    CHECK_HAS(ran.err, "SQLITE");
}

/* ---- nets that cannot be ---- */

TEST(an_unknown_layer_type)
{
    make_training();
    edit_file("net.prototxt", "InnerProduct", "InerProduct");
    SH_FAILS("layer \"ip\"", TRAIN);
    CHECK_HAS(ran.err, "InerProduct");
    CHECK_HAS(ran.err, "InnerProduct");
}

TEST(a_bottom_that_nobody_makes)
{
    make_training();
    edit_file("net.prototxt", "bottom: \"data\"", "bottom: \"dato\"");
    SH_FAILS("dato", TRAIN);
    CHECK_HAS(ran.err, "\"ip\"");
}

TEST(shapes_that_do_not_fit_together)
{
    make_training();
    edit_file(
        "net.prototxt", "layer { name: \"accuracy\"",
        "layer { name: \"sum\" type: \"Eltwise\" bottom: \"ip\" bottom: \"data\" top: "
        "\"sum\" }\nlayer { name: \"accuracy\"");
    SH_FAILS("layer \"sum\" (Eltwise)", TRAIN);
}

TEST(a_kernel_larger_than_its_image)
{
    make_training();
    edit_file(
        "net.prototxt", "layer { name: \"ip\"",
        "layer { name: \"conv\" type: \"Convolution\" bottom: \"data\" top: \"conv\"\n"
        "convolution_param { num_output: 2 kernel_size: 11 } }\nlayer { name: "
        "\"ip\"");
    SH_FAILS("layer \"conv\" (Convolution)", TRAIN);
}

TEST(a_label_that_is_no_class)
{
    make_training();
    edit_file("net.prototxt", "num_output: 4", "num_output: 3");
    SH_FAILS("layer \"accuracy\" (Accuracy): label 3", TRAIN);
    make_solver("test_initialization: false\n");
    SH_FAILS("layer \"loss\" (SoftmaxWithLoss): label 3", TRAIN);
    no_leftovers();
}

TEST(a_batch_size_of_zero)
{
    make_training();
    edit_file("net.prototxt", "batch_size: 8", "batch_size: 0");
    SH_FAILS("batch_size", TRAIN);
}

/* ---- solvers that cannot be ---- */

TEST(an_unknown_learning_rate_policy)
{
    make_training();
    edit_file("solver.prototxt", "fixed", "fixt");
    SH_FAILS("fixt", TRAIN);
    no_leftovers();
}

TEST(an_unknown_solver_type)
{
    make_training();
    make_solver("type: \"Adan\"\n");
    SH_FAILS("Adan", TRAIN);
    CHECK_HAS(ran.err, "Adam");
}

TEST(a_momentum_for_a_solver_that_takes_none)
{
    make_training();
    make_solver("type: \"AdaGrad\"\n");
    SH_FAILS("momentum", TRAIN);
}

TEST(a_test_of_less_than_no_batches)
{
    make_training();
    edit_file("solver.prototxt", "test_iter: ", "test_iter: -1 #");
    SH_FAILS("test_iter is -1; it must be 0", TRAIN);
}

TEST(a_wrong_policy_names_the_solver_file_before_data_are_opened)
{
    make_training();
    edit_file("solver.prototxt", "fixed", "fixt");
    SH_FAILS("solver.prototxt: unknown lr_policy", "rm -r db; " TRAIN);
    edit_file("solver.prototxt", "fixt", "fixed");
    edit_file("solver.prototxt", "base_lr: ", "base_lr: nan #");
    SH_FAILS("solver.prototxt: base_lr must be a number", TRAIN);
}

TEST(a_solver_file_is_named_for_every_mistake_in_it)
{
    static const char *const mistakes[][3] = {
        {"net: \"net.prototxt\"", "", "name its training net once"},
        {"net: ", "train_net: \"net.prototxt\"\nnet: ", "it does so 2 times"},
        {"net: \"net", "net: \"nowhere", "cannot open \"nowhere.prototxt\""},
        {"test_iter: ", "test_net: \"none\"\ntest_iter: ", "cannot open \"none\""},
        {"test_iter: ", "test_iter: -1 #", "test_iter is -1"},
        {"test_interval: ", "#", "no test_interval"},
        {"lr_policy", "#", "has no lr_policy"},
        {"max_iter", "iter_size: 0\nmax_iter", "iter_size must be at least 1"},
        {"max_iter", "fire { bucket_mb: -1 }\nmax_iter", "bucket_mb must be 0"},
        {"max_iter", "fire { precision: \"fp8\" }\nmax_iter", "unknown precision"},
    };

    make_training();
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        make_solver("");
        edit_file("solver.prototxt", mistakes[i][0], mistakes[i][1]);
        SH_FAILS("error: solver.prototxt: ", TRAIN);
        CHECK_HAS(ran.err, mistakes[i][2]);
        SH_FAILS("error: solver.prototxt: ",
                 "firecaffe sweep --solver solver.prototxt --run_dir grid");
    }
}

/* One worker does not use them all, and tells of a mistake nevertheless. */
TEST(settings_that_cannot_be_whatever_the_number_of_workers)
{
    make_training();
    SH_FAILS("unknown collective algorithm \"rnig\"; known are", TRAIN " --comm rnig");
    SH_FAILS("unknown compression \"zip\"; known are", TRAIN " --compress zip");
    SH_FAILS("unknown update \"split\"; known are replicated, sharded",
             TRAIN " --update split");
    SH_FAILS("bucket_mb must be 0 to", TRAIN " --bucket_mb -1");
    SH_FAILS("scale_lr must be 0 to", TRAIN " --scale_lr nan");
    SH_FAILS("lanes must be 0 to", TRAIN " --lanes 4294967295");
    SH_FAILS("warmup_iter must be 0 to", TRAIN " --warmup_iter -4");
    SH_FAILS("--shuffle:1:10: field \"shuffle\" needs true or false",
             TRAIN " --shuffle maybe");
    no_leftovers();
}

TEST(a_training_that_has_nothing_to_do)
{
    make_training();
    edit_file("solver.prototxt", "max_iter: 20", "max_iter: 0");
    edit_file("solver.prototxt", "base_lr: ", "weight_decay: ");
    SH_OK(TRAIN);
    CHECK_HAS(ran.err, "max_iter is 0, and iteration 0 is reached");
    CHECK_HAS(ran.err, "base_lr is 0 or not set");
}

TEST(flags_that_exclude_each_other_or_make_no_sense)
{
    make_training();
    SH_FAILS("give one of them", TRAIN " --snapshot a --weights b");
    SH_FAILS("--sigint_effect is snapshot, stop or none",
             TRAIN " --sigint_effect=jump");
    SH_FAILS("--phase is TRAIN or TEST",
             "firecaffe time --model net.prototxt --phase=X");
    SH_FAILS("Need model weights", "firecaffe test --model net.prototxt");
    SH_FAILS("--iterations", "firecaffe time --model net.prototxt --iterations=0");
    SH_FAILS("--threads must be 0 to", TRAIN " --threads 100000");
    SH_FAILS("--batch must be positive", "firecaffe net net.prototxt --batch -5");
    SH_FAILS("unknown command 'trian'; did you mean 'train'", "firecaffe help trian");
}

TEST(kernels_that_do_not_exist)
{
    make_training();
    SH_FAILS("--kernel \"ref\": write TYPE=KERNEL", TRAIN " --kernel ref");
    SH_FAILS("unknown layer type \"Convolutoin\"; did you mean \"Convolution\"",
             TRAIN " --kernel Convolutoin=ref");
    SH_FAILS("--kernel Convolution=fastest: there is no such kernel",
             TRAIN " --kernel Convolution=fastest");
    SH_FAILS("--kernel all=fastest: there is no such kernel",
             "FIRE_KERNEL=all=fastest " TRAIN);
    SH_OK(TRAIN " --kernel all=ref,SGD=fast");
}

TEST(gpus_that_are_not_there)
{
    const char *why;

    make_training();
    SH_FAILS("write 0, or 0,1, or all", TRAIN " --gpu x");
    if (fire_gpu_count(&why) > 0) test_skip("here is a GPU");
    SH_FAILS("leave --gpu out", TRAIN " --gpu 0");
    SH_FAILS("leave --gpu out", TRAIN " --gpu all");
}

TEST(file_names_that_are_empty)
{
    make_training();
    SH_FAILS("--weights takes", TRAIN " --weights ''");
    SH_FAILS("--snapshot takes", TRAIN " --snapshot=");
    SH_FAILS("--run_dir takes", TRAIN " --run_dir \"$NOT_SET\"");
    SH_FAILS("cannot open \"\"", TRAIN " --weights ,");
    SH_FAILS("--model takes", "firecaffe test --model '' --weights a");
    CHECK_EQ(count_files("snap_*"), 0);
}

/* ---- trained weights and states ---- */

TEST(weights_that_are_missing)
{
    make_training();
    SH_FAILS("nowhere.caffemodel", TRAIN " --weights nowhere.caffemodel");
    no_leftovers();
}

TEST(a_truncated_caffemodel)
{
    make_training();
    SH_OK(TRAIN);
    SH_FAILS("cut.caffemodel",
             "head -c 700 snap_iter_20.caffemodel >cut.caffemodel && " TRAIN
             " --weights cut.caffemodel");
    SH_FAILS("empty.caffemodel",
             ": >empty.caffemodel; " TRAIN " --weights empty.caffemodel");
}

TEST(a_caffemodel_that_is_none)
{
    make_training();
    SH_FAILS("db/data.mdb", TRAIN " --weights db/data.mdb");
    SH_FAILS("noise.caffemodel.h5", "cp images.idx noise.caffemodel.h5; " TRAIN
                                    " --weights noise.caffemodel.h5");
}

TEST(fine_tuning_with_another_shape)
{
    make_training();
    SH_OK(TRAIN);
    edit_file("net.prototxt", "num_output: 4", "num_output: 5");
    SH_FAILS("\"ip\"", TRAIN " --weights snap_iter_20.caffemodel");
    CHECK_HAS(ran.err, "rename it");
}

TEST(a_truncated_solverstate)
{
    make_training();
    SH_OK(TRAIN);
    SH_FAILS("cut.solverstate",
             "head -c 300 snap_iter_20.solverstate >cut.solverstate && " TRAIN
             " --snapshot cut.solverstate");
}

TEST(a_solverstate_of_another_solver)
{
    make_training();
    SH_OK(TRAIN);
    make_solver("type: \"Adam\"\n");
    SH_FAILS("snap_iter_20.solverstate", TRAIN " --snapshot snap_iter_20.solverstate");
}

/* ---- data ---- */

TEST(a_database_that_is_missing)
{
    make_training();
    SH_FAILS("layer \"data\" (Data)", "rm -r db; " TRAIN);
    CHECK_HAS(ran.err, "db");
}

TEST(a_database_that_is_none)
{
    make_training();
    SH_FAILS("db", "head -c 20000 /bin/sh >db/data.mdb; " TRAIN);
    SH_FAILS("db", "head -c 100 /bin/sh >db/data.mdb; " TRAIN);
    SH_FAILS("db", ": >db/data.mdb; " TRAIN);
}

/* A database with one record of these bytes; NULL: with none. */
static void make_database(const char *name, const char *record)
{
    fire_writer_t *w;

    CHECK_OK(fire_writer_open("lmdb", test_path(name), &w));
    if (record != NULL)
        CHECK_OK(fire_writer_put(w, "00000000", record, strlen(record)));
    CHECK_OK(fire_writer_commit(w));
}

TEST(a_database_without_records)
{
    make_training();
    make_database("none", NULL);
    edit_file("net.prototxt", "\"db\"", "\"none\"");
    SH_FAILS("none", TRAIN);
}

TEST(a_record_that_is_no_datum)
{
    make_training();
    make_database("bad", "\x0a\xffgarbage");
    edit_file("net.prototxt", "\"db\"", "\"bad\"");
    SH_FAILS("bad", TRAIN);
    CHECK_HAS(ran.err, "00000000");
}

TEST(a_datum_with_too_few_pixels)
{
    make_training();
    /* channels 1, height 9, width 9, three bytes of data */
    make_database("short", "\x08\x01\x10\x09\x18\x09\x22\x03"
                           "abc");
    edit_file("net.prototxt", "\"db\"", "\"short\"");
    SH_FAILS("short", TRAIN);
}

TEST(a_mean_file_that_is_missing)
{
    make_training();
    edit_file("net.prototxt", "scale: 0.005", "scale: 0.005 mean_file: \"nomean\"");
    SH_FAILS("nomean", TRAIN);
}

TEST(idx_files_that_do_not_belong_together)
{
    make_idx(8);
    SH_OK("mv labels.idx l8");
    make_idx(9);
    SH_FAILS("l8", "firecaffe convert mnist images.idx l8 db");
    SH_FAILS("images.idx",
             "head -c 100 images.idx >x; mv x images.idx; firecaffe convert mnist "
             "images.idx labels.idx db");
    SH_FAILS("labels.idx", "firecaffe convert mnist labels.idx labels.idx db");
    CHECK(!file_exists("db"));
    CHECK_EQ(count_files("db*"), 0);
}

TEST(a_database_that_is_there_already)
{
    make_training();
    SH_FAILS("db", "firecaffe convert mnist images.idx labels.idx db");
    SH_OK(TRAIN); /* and it is unharmed */
}

TEST(arrays_that_do_not_fit_the_net)
{
    write_file(
        "net.prototxt",
        "layer { name: \"data\" type: \"Input\" top: \"data\" input_param { shape { "
        "dim: 2 dim: 3 } } }\nlayer { name: \"ip\" type: \"InnerProduct\" bottom: "
        "\"data\" top: \"ip\" inner_product_param { num_output: 2 } }\n");
    write_file("x.npy", "this is no array");
    SH_FAILS("x.npy", "firecaffe run --model net.prototxt --in data=x.npy --out o");
    SH_FAILS("no blob \"dota\"",
             "firecaffe run --model net.prototxt --in dota=x.npy --out o");
    SH_FAILS("BLOB=FILE", "firecaffe run --model net.prototxt --in data --out o");
    SH_FAILS("force_backward", "firecaffe run --model net.prototxt --backward --out o");
    CHECK(!file_exists("o"));
}

/* ---- places that cannot be written ---- */

TEST(a_snapshot_prefix_that_cannot_be_written)
{
    make_training();
    make_solver("snapshot: 5\n");
    edit_file("solver.prototxt", "\"snap\"", "\"no/such/dir/snap\"");
    SH_FAILS("no/such/dir/snap", TRAIN);
    CHECK(strstr(ran.err, "Iteration") == NULL); /* before any work is done */
}

TEST(a_file_that_may_not_grow_while_snapshotting)
{
    make_training();
    make_solver("snapshot: 10\n");
    /* A limit on the size of files stands for a full disk; no privilege needed. */
    SH_FAILS("snap_iter_10", "trap '' XFSZ; ulimit -f 1; " TRAIN);
    no_leftovers();
}

TEST(a_disk_that_is_full_while_snapshotting)
{
    make_training();
    make_solver("snapshot: 10\n");
    edit_file("solver.prototxt", "\"snap\"", "\"disk/snap\"");
    sh("mkdir disk && unshare -m sh -c 'mount -t tmpfs -o size=4k none disk && "
       "head -c 3000 /dev/zero >disk/ballast; " TRAIN
       "; code=$?; ls disk; exit $code'");
    if (strstr(ran.err, "unshare") != NULL || strstr(ran.err, "mount") != NULL)
        test_skip("mounting is not permitted");
    check_one_error(__FILE__, __LINE__, "disk/snap_iter_10");
    CHECK_STR(ran.out, "ballast\n");
}

TEST(a_disk_that_is_full_while_converting)
{
    make_idx(64);
    sh("mkdir disk && unshare -m sh -c 'mount -t tmpfs -o size=8k none disk && "
       "firecaffe convert mnist images.idx labels.idx disk/db; "
       "code=$?; ls disk; exit $code'");
    if (strstr(ran.err, "unshare") != NULL || strstr(ran.err, "mount") != NULL)
        test_skip("mounting is not permitted");
    check_one_error(__FILE__, __LINE__, "disk/db: cannot write LMDB");
    CHECK_STR(ran.out, "");
}

TEST(results_that_cannot_be_written)
{
    make_training();
    SH_FAILS("/dev/null/x",
             "firecaffe upgrade net_proto_text net.prototxt /dev/null/x");
    SH_FAILS("/dev/full", "firecaffe upgrade net_proto_text net.prototxt /dev/full");
    SH_FAILS("db/data.mdb\": File exists",
             "firecaffe convert mnist images.idx labels.idx db/data.mdb/db");
    SH_FAILS("no/log", TRAIN " --log_dir no/log");
}
