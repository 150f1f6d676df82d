/* MNIST's files become a database. */
#include "rig.h"

#include "base/file.h"
#include "data/convert/convert.h"
#include "data/datum.h"
#include "data/source/source.h"

static const char images[] = "\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\3"
                             "\1\2\3\4\5\6\x11\x12\x13\x14\x15\x16";
static const char labels[] = "\0\0\x08\x01\0\0\0\2\7\4";

static const char *write_file(const char *name, const char *bytes, size_t n)
{
    const char *path = tmp_path(name);

    CHECK_OK(fire_file_write(path, bytes, n));
    return path;
}

static fire_status_t convert(size_t nimages, size_t nlabels)
{
    return fire_convert_mnist(write_file("images", images, nimages),
                              write_file("labels", labels, nlabels), tmp_path("db"),
                              "lmdb", NULL);
}

TEST(mnist_files_become_datums_with_8_digit_keys)
{
    fire_source_t *s;
    fire_record_t  record;
    fire_datum_t   d;
    char           key[FIRE_KEY_TEXT];

    CHECK_OK(convert(sizeof(images) - 1, sizeof(labels) - 1));
    CHECK_OK(fire_source_open("LMDB", tmp_path("db"), &s));
    CHECK_EQ(s->count, 2);
    s->ops->key(s, 1, key);
    CHECK_STR(key, "00000001");
    CHECK_OK(fire_source_read(s, 1, NULL, &record));
    CHECK_OK(fire_datum_parse(record.bytes, record.n, &d));
    CHECK(d.channels == 1 && d.height == 2 && d.width == 3 && d.label == 4);
    CHECK(d.ndata == 6 && d.data[5] == 0x16 && !d.encoded);
    fire_source_close(s);
}

TEST(mnist_files_that_are_cut_short_or_mixed_up_leave_no_database)
{
    static const char none[] = "\0\0\x08\x03\0\0\0\0\0\0\0\x02\0\0\0\x03";
    fire_source_t    *s;

    CHECK_FAILS(convert(sizeof(images) - 2, sizeof(labels) - 1), FIRE_ERR_PARSE,
                "ends early");
    CHECK_FAILS(convert(3, sizeof(labels) - 1), FIRE_ERR_PARSE, "not a file of MNIST");
    CHECK_FAILS(convert(sizeof(images) - 1, sizeof(labels) - 2), FIRE_ERR_INVALID,
                "labels for 2 images");
    CHECK_FAILS(fire_convert_mnist(write_file("images", none, sizeof(none) - 1),
                                   tmp_path("labels"), tmp_path("db"), "lmdb", NULL),
                FIRE_ERR_PARSE, "images: holds no images");
    CHECK_FAILS(fire_source_open("LMDB", tmp_path("db"), &s), FIRE_ERR_IO, "db");
}

TEST(a_database_that_exists_is_not_overwritten)
{
    CHECK_OK(convert(sizeof(images) - 1, sizeof(labels) - 1));
    CHECK_FAILS(convert(sizeof(images) - 1, sizeof(labels) - 1), FIRE_ERR_INVALID,
                "exists already");
}

TEST(pairs_of_mnist_images_tell_whether_they_show_the_same_digit)
{
    fire_source_t *s;
    fire_record_t  record;
    fire_datum_t   d;

    CHECK_OK(
        fire_convert_mnist_siamese(write_file("images", images, sizeof(images) - 1),
                                   write_file("labels", labels, sizeof(labels) - 1), 5,
                                   tmp_path("db"), "lmdb", NULL));
    CHECK_OK(fire_source_open("LMDB", tmp_path("db"), &s));
    CHECK_EQ(s->count, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(fire_source_read(s, i, NULL, &record));
        CHECK_OK(fire_datum_parse(record.bytes, record.n, &d));
        CHECK(d.channels == 2 && d.ndata == 12);
        CHECK_EQ(d.label, d.data[0] == d.data[6]); /* the two digits differ */
    }
    fire_source_close(s);
}

#ifdef FIRE_HAVE_ZLIB
#    include <zlib.h>

TEST(gzipped_files_are_unpacked_on_the_way)
{
    const char    *path = tmp_path("images.gz");
    gzFile         file = gzopen(path, "wb");
    fire_source_t *s;

    CHECK_EQ(gzwrite(file, images, sizeof(images) - 1), sizeof(images) - 1);
    CHECK_EQ(gzclose(file), Z_OK);
    CHECK_OK(fire_convert_mnist(path, write_file("labels", labels, sizeof(labels) - 1),
                                tmp_path("db"), "lmdb", NULL));
    CHECK_OK(fire_source_open("LMDB", tmp_path("db"), &s));
    CHECK_EQ(s->count, 2);
    fire_source_close(s);
}

TEST(a_damaged_gzip_file_is_named)
{
    CHECK_FAILS(fire_convert_mnist(write_file("x.gz", "\x1f\x8b nonsense", 11), "y",
                                   tmp_path("db"), "lmdb", NULL),
                FIRE_ERR_PARSE, "x.gz: damaged");
}
#endif
