/* Data sets to databases, and the mean of one. Tests src/data/convert/. */
#include "rig.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "data/convert/convert.h"
#include "data/datum.h"
#include "data/image/image.h"
#include "data/picture/mean.h"
#include "data/source/source.h"

static int64_t last_done, last_total;

static fire_status_t note(void *arg, int64_t done, int64_t total)
{
    (void)arg;
    last_done  = done;
    last_total = total;
    return FIRE_OK;
}

static const fire_progress_t progress = {note, NULL};

static fire_source_t *open_db(const char *path)
{
    fire_source_t *s;

    CHECK_OK(fire_source_open("LMDB", path, &s));
    return s;
}

static fire_datum_t datum_at(fire_source_t *s, int64_t i)
{
    fire_record_t r;
    fire_datum_t  d;

    CHECK_OK(fire_source_read(s, i, NULL, &r));
    CHECK_OK(fire_datum_parse(r.bytes, r.n, &d));
    return d;
}

/* ---- CIFAR-10 ---- */

static void write_batch(const char *name, int n, int first)
{
    char *bytes = malloc((size_t)n * 3073);

    for (int i = 0; i < n; i++) {
        memset(bytes + i * 3073, first + i, 3073);
        bytes[i * 3073] = (char)((first + i) % 10);
    }
    CHECK_OK(fire_file_write(tmp_path(name), bytes, (size_t)n * 3073));
    free(bytes);
}

static void write_batches(void)
{
    for (int f = 1; f <= 5; f++) {
        char name[32];

        snprintf(name, sizeof(name), "data_batch_%d.bin", f);
        write_batch(name, 3, f * 10);
    }
    write_batch("test_batch.bin", 2, 7);
}

TEST(cifar_batches_become_two_databases_with_5_digit_keys)
{
    fire_source_t *s;
    fire_datum_t   d;
    char           key[FIRE_KEY_TEXT];

    write_batches();
    CHECK_OK(fire_convert_cifar10(test_tmpdir(), test_tmpdir(), "lmdb", &progress));
    CHECK_EQ(last_done, 2);
    s = open_db(tmp_path("cifar10_train_lmdb"));
    CHECK_EQ(s->count, 15);
    s->ops->key(s, 4, key);
    CHECK_STR(key, "10001");
    d = datum_at(s, 4);
    CHECK(d.channels == 3 && d.height == 32 && d.width == 32 && d.ndata == 3072);
    CHECK(d.label == 1 && d.data[100] == 21);
    fire_source_close(s);
    s = open_db(tmp_path("cifar10_test_lmdb"));
    CHECK_EQ(s->count, 2);
    CHECK_EQ(datum_at(s, 1).label, 8);
    fire_source_close(s);
}

TEST(a_cifar_batch_of_the_wrong_length_is_named)
{
    write_batches();
    CHECK_OK(fire_file_write(tmp_path("data_batch_3.bin"), "abc", 3));
    CHECK_FAILS(fire_convert_cifar10(test_tmpdir(), test_tmpdir(), "lmdb", NULL),
                FIRE_ERR_PARSE, "data_batch_3.bin: 3 bytes");
    CHECK(access(tmp_path("cifar10_train_lmdb"), F_OK) != 0);
}

TEST(a_cifar_batch_that_is_missing_is_named_before_anything_is_written)
{
    write_batches();
    CHECK_EQ(unlink(tmp_path("test_batch.bin")), 0);
    CHECK_FAILS(fire_convert_cifar10(test_tmpdir(), tmp_path("out"), "lmdb", NULL),
                FIRE_ERR_IO, "test_batch.bin");
    CHECK(access(tmp_path("out"), F_OK) != 0);
}

/* ---- image sets ---- */

/* PPM files a.ppm, b.ppm and one that is damaged; 3 x 2 pixels, blue is 1, 2. */
static const char *write_images(void)
{
    const char *list = tmp_path("list.txt");

    CHECK_OK(fire_file_write(tmp_path("a.ppm"),
                             "P6 3 2 255\n"
                             "rg\1rg\1rg\1rg\1rg\1rg\1",
                             29));
    CHECK_OK(fire_file_write(tmp_path("b c.ppm"),
                             "P6 3 2 255\n"
                             "rg\2rg\2rg\2rg\2rg\2rg\2",
                             29));
    CHECK_OK(fire_file_write(tmp_path("bad.jpg"), "nonsense", 8));
    CHECK_OK(fire_file_write(list, "a.ppm 4\nbad.jpg 5\n\nb c.ppm 6\r\n", 30));
    return list;
}

static fire_imageset_options_t defaults(void)
{
    fire_imageset_options_t o = FIRE_IMAGESET_OPTIONS_INIT;

    o.root = format("%s/", test_tmpdir());
    return o;
}

TEST(an_image_list_becomes_a_database_without_the_unreadable_ones)
{
    fire_imageset_options_t o = defaults();
    fire_source_t          *s;
    fire_datum_t            d;
    char                    key[FIRE_KEY_TEXT];

    CHECK_OK(
        fire_convert_imageset(&o, write_images(), tmp_path("db"), "lmdb", &progress));
    CHECK(last_done == 2 && last_total == 2);
    s = open_db(tmp_path("db"));
    CHECK_EQ(s->count, 2);
    s->ops->key(s, 1, key);
    CHECK_STR(key, "00000002_b c.ppm");
    d = datum_at(s, 1);
    CHECK(d.channels == 3 && d.height == 2 && d.width == 3 && d.label == 6);
    CHECK(memcmp(d.data, "\2\2\2\2\2\2ggggggrrrrrr", 18) == 0);
    fire_source_close(s);
}

TEST(images_are_resized_and_made_grey_on_request)
{
    fire_imageset_options_t o = defaults();
    fire_source_t          *s;
    fire_datum_t            d;

    o.height = 5;
    o.width  = 4;
    o.gray   = true;
    CHECK_OK(fire_convert_imageset(&o, write_images(), tmp_path("db"), "lmdb", NULL));
    s = open_db(tmp_path("db"));
    d = datum_at(s, 0);
    CHECK(d.channels == 1 && d.height == 5 && d.width == 4 && d.ndata == 20);
    fire_source_close(s);
}

TEST(encoded_images_keep_their_file_or_get_the_wanted_type)
{
    fire_imageset_options_t o = defaults();
    fire_source_t          *s;
    fire_datum_t            d;

    o.encoded = true;
    CHECK_OK(fire_convert_imageset(&o, write_images(), tmp_path("db"), "lmdb", NULL));
    s = open_db(tmp_path("db"));
    d = datum_at(s, 0);
    CHECK(d.encoded && d.ndata == 29 && memcmp(d.data, "P6 3 2", 6) == 0);
    CHECK(d.label == 4 && d.channels == 0);
    fire_source_close(s);
#ifdef FIRE_HAVE_PNG
    o.encode_type = "png";
    CHECK_OK(fire_convert_imageset(&o, write_images(), tmp_path("db2"), "lmdb", NULL));
    s = open_db(tmp_path("db2"));
    d = datum_at(s, 0);
    CHECK(d.encoded && memcmp(d.data, "\x89PNG", 4) == 0);
    fire_source_close(s);
#endif
}

TEST(a_shuffled_image_set_has_all_images)
{
    fire_imageset_options_t o = defaults();
    char                    list[512 * 16];
    int                     n = 0, inverted = 0;
    bool                    seen[512] = {false};
    fire_source_t          *s;

    write_images();
    for (int i = 0; i < 512; i++)
        n += snprintf(list + n, sizeof(list) - (size_t)n, "a.ppm %d\n", i);
    CHECK_OK(fire_file_write(tmp_path("many.txt"), list, (size_t)n));
    o.shuffle = true;
    CHECK_OK(
        fire_convert_imageset(&o, tmp_path("many.txt"), tmp_path("db"), "lmdb", NULL));
    s = open_db(tmp_path("db"));
    CHECK_EQ(s->count, 512);
    for (int i = 0; i < 512; i++) {
        int label = datum_at(s, i).label;

        CHECK(label >= 0 && label < 512 && !seen[label]);
        seen[label] = true;
        inverted += i > 0 && label < datum_at(s, i - 1).label;
    }
    CHECK(inverted > 200 && inverted < 300);
    fire_source_close(s);
}

TEST(check_size_stops_at_an_image_of_another_size)
{
    fire_imageset_options_t o    = defaults();
    const char             *list = write_images();

    CHECK_OK(fire_file_write(tmp_path("b c.ppm"), "P6 1 1 255\nabc", 14));
    o.check_size = true;
    CHECK_FAILS(fire_convert_imageset(&o, list, tmp_path("db"), "lmdb", NULL),
                FIRE_ERR_INVALID, "b c.ppm: 3 bytes, the first image has 18");
    CHECK(access(tmp_path("db"), F_OK) != 0);
}

TEST(resizing_needs_a_height_and_a_width)
{
    fire_imageset_options_t o = defaults();

    o.height = 5;
    CHECK_FAILS(fire_convert_imageset(&o, write_images(), tmp_path("db"), "lmdb", NULL),
                FIRE_ERR_INVALID, "both a height and a width");
}

TEST(a_bad_line_of_a_list_is_named_by_its_number)
{
    fire_imageset_options_t o = defaults();

    CHECK_OK(fire_file_write(tmp_path("list"), "a.ppm 1\nb.ppm two\n", 18));
    CHECK_FAILS(
        fire_convert_imageset(&o, tmp_path("list"), tmp_path("db"), "lmdb", NULL),
        FIRE_ERR_PARSE, "list:2: \"b.ppm two\"");
    CHECK_OK(fire_file_write(tmp_path("list"), "\n", 1));
    CHECK_FAILS(
        fire_convert_imageset(&o, tmp_path("list"), tmp_path("db"), "lmdb", NULL),
        FIRE_ERR_INVALID, "lists no images");
    CHECK_OK(fire_file_write(tmp_path("list"), "a.ppm 1\0b.ppm 2\0", 16));
    CHECK_FAILS(
        fire_convert_imageset(&o, tmp_path("list"), tmp_path("db"), "lmdb", NULL),
        FIRE_ERR_PARSE, "list: is no text: byte 7");
}

/* ---- the mean ---- */

TEST(the_mean_of_a_database_is_exact_and_can_be_read_back)
{
    fire_mean_t m;

    CHECK_OK(
        fire_mean_compute(make_db("lmdb", "db", 4, 2, 1, 3), "lmdb", &progress, &m));
    CHECK(last_done == 4 && last_total == 4);
    CHECK(m.extent.channels == 2 && m.extent.height == 1 && m.extent.width == 3);
    for (int k = 0; k < 6; k++)
        CHECK_NEAR(m.image[k], (0 + 7 + 14 + 21) / 4.0 + k, 0);
    CHECK_NEAR(m.channel[1], 10.5 + 4, 0);
    CHECK_OK(fire_mean_save(&m, tmp_path("mean.binaryproto")));
    fire_mean_fini(&m);
}

TEST(a_mean_of_images_of_different_sizes_is_refused)
{
    const char    *path = tmp_path("mixed");
    fire_writer_t *w;
    fire_mean_t    m;

    CHECK_OK(fire_writer_open("lmdb", path, &w));
    put_raw(w, "a", 0, 1, 2, 2, 0);
    put_raw(w, "b", 0, 1, 2, 3, 0);
    CHECK_OK(fire_writer_commit(w));
    CHECK_FAILS(fire_mean_compute(path, "lmdb", NULL, &m), FIRE_ERR_INVALID,
                "record \"b\"");
}
