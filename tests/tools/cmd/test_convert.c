/* convert, mean, features and classify, by Caffe's names and by ours. Tests
 * tools/cmd/mean.c too. */
#include <stdlib.h>
#include "data/datum.h"
#include "data/source/source.h"
#include "fixture.h"

/* Look at record i of a database in test_tmpdir(); returns how many there are. */
static int64_t look(const char *db, const char *backend, int64_t i,
                    char key[FIRE_KEY_TEXT], fire_datum_t *d)
{
    static uint8_t *copy;
    fire_buffer_t   buffer = {0};
    char            path[1024];
    fire_source_t  *s;
    fire_record_t   r;
    int64_t         n;

    snprintf(path, sizeof(path), "%s/%s", test_tmpdir(), db);
    CHECK_OK(fire_source_open(backend, path, &s));
    s->ops->key(s, i, key);
    CHECK_OK(fire_source_read(s, i, &buffer, &r));
    /* A copy, which outlives the source. */
    copy = realloc(copy, r.n);
    memcpy(copy, r.bytes, r.n);
    CHECK_OK(fire_datum_parse(copy, r.n, d));
    n = s->count;
    fire_source_close(s);
    fire_buffer_fini(&buffer);
    return n;
}

TEST(mnist_becomes_what_caffes_converter_makes)
{
    char         key[FIRE_KEY_TEXT];
    fire_datum_t d;

    make_idx(10);
    SH_OK("convert_mnist_data --backend=lmdb images.idx labels.idx db");
    CHECK_EQ(look("db", "LMDB", 7, key, &d), 10);
    CHECK_STR(key, "00000007");
    CHECK_EQ(d.channels, 1);
    CHECK_EQ(d.height, 8);
    CHECK_EQ(d.width, 8);
    CHECK_EQ(d.label, 3);
    SH_OK("gzip images.idx labels.idx && firecaffe convert mnist images.idx.gz "
          "labels.idx.gz db2 && cmp db/data.mdb db2/data.mdb");
}

/* Its tutorial's net names no backend, and Caffe's default is LevelDB. */
TEST(pairs_for_the_siamese_tutorial_become_a_leveldb)
{
    char         key[FIRE_KEY_TEXT];
    fire_datum_t d;

    if (sh("firecaffe version | grep -q LevelDB") != 0) test_skip("no LevelDB");
    make_idx(10);
    SH_OK("convert_mnist_siamese_data images.idx labels.idx pairs");
    CHECK_EQ(look("pairs", "LEVELDB", 9, key, &d), 10);
    CHECK_EQ(d.channels, 2);
    SH_OK("convert_mnist_siamese_data images.idx labels.idx lmdb --backend=lmdb");
    CHECK_EQ(look("lmdb", "LMDB", 9, key, &d), 10);
}

TEST(leveldb_is_written_when_asked_for)
{
    char         key[FIRE_KEY_TEXT];
    fire_datum_t d;

    if (sh("firecaffe version | grep -q LevelDB") != 0) test_skip("no LevelDB");
    make_idx(10);
    SH_OK("convert_mnist_data --backend=leveldb images.idx labels.idx db");
    CHECK_EQ(look("db", "LEVELDB", 9, key, &d), 10);
    CHECK_EQ(d.label, 1);
}

/* Six batches of three pictures each: label, then 32 x 32 of red, green, blue. */
static void make_cifar(void)
{
    SH_OK("mkdir cifar out && for b in data_batch_1 data_batch_2 data_batch_3 "
          "data_batch_4 data_batch_5 test_batch; do for i in 1 2 3; do "
          "printf \"\\\\00$i\"; head -c 3072 /dev/zero | tr '\\0' \"\\\\00$i\"; done "
          ">cifar/$b.bin; done");
}

TEST(cifar_becomes_two_databases)
{
    char         key[FIRE_KEY_TEXT];
    fire_datum_t d;

    make_cifar();
    SH_OK("convert_cifar_data cifar out lmdb");
    CHECK_EQ(look("out/cifar10_train_lmdb", "LMDB", 4, key, &d), 15);
    CHECK_STR(key, "10001"); /* file * 10000 + picture */
    CHECK_EQ(d.label, 2);
    CHECK_EQ(d.channels, 3);
    CHECK_EQ(look("out/cifar10_test_lmdb", "LMDB", 0, key, &d), 3);
}

TEST(folders_above_what_is_converted_are_made)
{
    char         key[FIRE_KEY_TEXT];
    fire_datum_t d;

    make_cifar();
    SH_OK("firecaffe convert cifar10 cifar examples/cifar10");
    CHECK_EQ(look("examples/cifar10/cifar10_test_lmdb", "LMDB", 0, key, &d), 3);
    SH_OK("firecaffe mean examples/cifar10/cifar10_test_lmdb means/cifar/mean.bin");
    CHECK(file_exists("means/cifar/mean.bin"));
    make_idx(10);
    SH_OK("firecaffe convert mnist images.idx labels.idx sets/mnist/db/");
    CHECK_EQ(look("sets/mnist/db", "LMDB", 0, key, &d), 10);
    SH_FAILS("means/cifar/mean.bin\": File exists",
             "firecaffe convert mnist images.idx labels.idx means/cifar/mean.bin/db");
}

/* A grey picture of 2 x 2 in the simplest of formats. */
static void make_pictures(void)
{
    SH_OK("mkdir img && printf 'P5 2 2 255\\n\\001\\002\\003\\004' >img/a.pgm && "
          "printf 'P6 2 2 "
          "255\\n\\001\\002\\003\\001\\002\\003\\001\\002\\003\\001\\002\\003' "
          ">img/b.ppm && printf 'a.pgm 5\\nb.ppm 6\\n' >list");
}

TEST(image_files_become_records_with_the_path_in_the_key)
{
    char         key[FIRE_KEY_TEXT];
    fire_datum_t d;

    make_pictures();
    SH_OK("convert_imageset img/ list db");
    CHECK_EQ(look("db", "LMDB", 1, key, &d), 2);
    CHECK_STR(key, "00000001_b.ppm");
    CHECK_EQ(d.label, 6);
    CHECK_EQ(d.channels, 3);
    CHECK_EQ(d.data[0], 3); /* blue first */
    SH_OK("convert_imageset --gray --resize_width=4 --resize_height=3 img/ list db2");
    look("db2", "LMDB", 1, key, &d);
    CHECK_EQ(d.channels, 1);
    CHECK_EQ(d.height, 3);
    CHECK_EQ(d.width, 4);
}

TEST(ctrl_c_leaves_nothing_of_a_database)
{
    make_pictures();
    SH_OK("seq 500000 | sed 's/.*/a.pgm 5/' >long");
    SH_OK("convert_imageset img/ long db 2>log & pid=$!; for i in $(seq 500); do "
          "ls -d db.tmp.* && break; sleep 0.02; done; kill -INT $pid; wait $pid; "
          "echo $? >code");
    CHECK_STR(read_file("code"), "1\n");
    CHECK_HAS(read_file("log"), "stopped on request after");
    CHECK_EQ(count_files("db*"), 0);
}

TEST(an_image_list_that_is_missing_is_named)
{
    SH_FAILS("nolist", "convert_imageset img/ nolist db");
    CHECK(!file_exists("db"));
}

TEST(the_mean_of_a_database_is_logged_and_written)
{
    make_pictures();
    SH_OK(
        "convert_imageset --gray img/ list db && compute_image_mean db m.binaryproto");
    CHECK_HAS(ran.err, "] Number of channels: 1\n");
    CHECK_HAS(ran.err, "] mean_value channel [0]: ");
    if (sh("command -v protoc") != 0) return;
    SH_OK("protoc -I$SRC/proto --decode=caffe.BlobProto $SRC/proto/caffe.proto "
          "<m.binaryproto");
    CHECK_HAS(ran.out, "num: 1\nchannels: 1\nheight: 2\nwidth: 2\n");
}

TEST(a_mean_of_images_of_several_sizes_is_refused)
{
    make_pictures();
    SH_OK("printf 'P5 2 1 255\\n\\001\\002' >img/b.ppm; convert_imageset img/ list db");
    SH_FAILS("00000001_b.ppm", "compute_image_mean db m.binaryproto");
    CHECK(!file_exists("m.binaryproto"));
}

TEST(features_are_stored_as_floats_for_every_image)
{
    char         key[FIRE_KEY_TEXT];
    fire_datum_t d;

    make_training();
    SH_OK("caffe train -solver solver.prototxt");
    SH_OK("extract_features snap_iter_20.caffemodel net.prototxt ip,data f1,f2 3 lmdb");
    CHECK_HAS(ran.err, "Successfully extracted the features!");
    CHECK_EQ(look("f1", "LMDB", 23, key, &d), 24);
    CHECK_STR(key, "0000000023");
    CHECK_EQ(d.nfloat, 4);
    CHECK_EQ(d.channels, 4);
    CHECK_EQ(look("f2", "LMDB", 0, key, &d), 24);
    CHECK_EQ(d.nfloat, 64);
    CHECK_EQ(d.height, 8);
    SH_FAILS("no blob \"fc9\"",
             "extract_features snap_iter_20.caffemodel net.prototxt fc9 f3 1 lmdb");
    SH_FAILS("as many databases as blobs",
             "extract_features snap_iter_20.caffemodel net.prototxt ip,data f3 1 lmdb");
    SH_FAILS("\"gpu\": write CPU or GPU",
             "extract_features snap_iter_20.caffemodel net.prototxt ip f3 1 lmdb gpu");
    SH_FAILS("as many databases as blobs are needed, 64 at most",
             "L=$(yes ip | head -65 | paste -sd,); extract_features "
             "snap_iter_20.caffemodel net.prototxt $L $L 1 lmdb");
    CHECK_EQ(count_files("f3*"), 0);
}

TEST(an_image_gets_its_most_probable_labels)
{
    make_pictures();
    SH_OK(
        "convert_imageset --gray img/ list db && compute_image_mean db m.binaryproto");
    /* The output is the input's four pixels less the mean: the last is the largest. */
    write_file(
        "deploy.prototxt",
        "layer { name: \"in\" type: \"Input\" top: \"data\" input_param { shape { "
        "dim: 1 dim: 1 dim: 2 dim: 2 } } }\n"
        "layer { name: \"flat\" type: \"Flatten\" bottom: \"data\" top: \"prob\" }\n");
    write_file("labels", "one\ntwo\nthree\nfour\n");
    SH_OK("firecaffe upgrade net_proto_text deploy.prototxt again.prototxt");
    write_file("solver.prototxt", "net: \"deploy.prototxt\"\nmax_iter: 0\nbase_lr: 1\n"
                                  "lr_policy: \"fixed\"\nsnapshot_prefix: \"w\"\n");
    SH_OK("caffe train -solver solver.prototxt");
    SH_OK("classification deploy.prototxt w_iter_0.caffemodel m.binaryproto labels "
          "img/a.pgm");
    CHECK_HAS(ran.out, "---------- Prediction for img/a.pgm ----------\n");
    CHECK_HAS(ran.out, "----------\n1.7500 - \"four\"\n0.7500 - \"three\"\n");
    SH_FAILS("few: 1 labels for 4 outputs",
             "echo one >few; classification deploy.prototxt w_iter_0.caffemodel "
             "m.binaryproto few img/a.pgm");
    SH_FAILS("nopicture",
             "classification deploy.prototxt w_iter_0.caffemodel m.binaryproto labels "
             "nopicture");
}
