/* Trained weights, data and places to write that cannot be used. Each ends with one
 * message that names the file, line or layer and says what to do, exit status 1, no crash
 * and no half-written file. Tests tools/flags/. */
#include <unistd.h>
#include "data/source/writer.h"
#include "fixture.h"

#define TRAIN "firecaffe train --solver solver.prototxt --quiet"

static void no_leftovers(void)
{
    CHECK_EQ(count_files("*.tmp*"), 0);
    CHECK_EQ(count_files("snap_iter_*"), 0);
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
    SH_FAILS("snap_iter_20", "trap '' XFSZ; ulimit -f 1; GLOG_minloglevel=2 " TRAIN);
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
    check_one_error(__FILE__, __LINE__, "disk/snap_iter_20");
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
