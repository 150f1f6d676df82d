/* What data check finds. Tests src/data/check/. */
#include "data/check/check.h"

#include "base/alloc.h"
#include "base/file.h"
#include "rig.h"

#ifdef FIRE_HAVE_HDF5
#    include "model/hdf5_io.h"
#endif

static fire_check_t *run(const char *path, int pictures)
{
    static fire_check_t  c;
    fire_check_options_t o = {.items = {format("%s/", test_tmpdir()), "data", "label"},
                              .pictures = pictures};

    CHECK_OK(fire_check_run(path, &o, &c));
    return &c;
}

/* A database of raw records: record i has label i % 3; number `twin` is like number 0,
 * `broken` is no Datum. */
static const char *database(const char *backend, int n, int twin, int broken)
{
    const char    *path = tmp_path(format("db_%s", backend));
    fire_writer_t *w;

    CHECK_OK(fire_writer_open(backend, path, &w));
    for (int i = 0; i < n; i++) {
        const char *key = format("%08d", i);

        if (i == broken)
            CHECK_OK(fire_writer_put(w, key, "\xff\xff", 2));
        else
            put_raw(w, key, i == twin ? 0 : i, 3, 4, 5, i % 3);
    }
    CHECK_OK(fire_writer_commit(w));
    return path;
}

static void check_database(const char *backend)
{
    fire_check_t *c = run(database(backend, 10, 7, 5), 2);

    CHECK_EQ(c->records, 10);
    CHECK_EQ(c->nclass, 3);
    CHECK_EQ(c->klass[0].count, 4);
    CHECK_EQ(c->klass[2].count, 2); /* 2, 8; 5 is broken */
    CHECK_EQ(c->broken, 1);
    CHECK_STR(c->fault[0].key, "00000005");
    CHECK(strstr(c->fault[0].message, "not a Datum") != NULL);
    CHECK_EQ(c->twins, 1);
    CHECK_EQ(c->contradictions, 1); /* labels 1 and 0 */
    CHECK_STR(c->twin[0].first, "00000000");
    CHECK_STR(c->twin[0].second, "00000007");
    fire_check_fini(c);
}

TEST(an_lmdb_is_counted_and_its_broken_and_equal_records_are_named)
{
    check_database("lmdb");
}

TEST(a_leveldb_is_too)
{
    check_database("leveldb");
}

TEST(means_and_deviations_are_those_of_the_channels)
{
    fire_check_t *c   = run(database("lmdb", 2, -1, -1), 0);
    double        sum = 0, square = 0;

    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 20; k++) { /* channel 1: pixel 20 + k is i * 7 + 20 + k */
            sum += i * 7 + 20 + k;
            square += (i * 7 + 20 + k) * (double)(i * 7 + 20 + k);
        }
    CHECK_EQ(c->channels, 3);
    CHECK_NEAR(c->mean[1], sum / 40, 1e-9);
    CHECK_NEAR(c->deviation[1] * c->deviation[1], square / 40 - sum * sum / 1600, 1e-6);
    fire_check_fini(c);
}

TEST(a_list_of_images_names_files_that_cannot_be_read)
{
    const char    list[] = "a.pgm 4\nmissing.pgm 4\nb.pgm 9\n";
    fire_check_t *c;

    CHECK_OK(fire_file_write(tmp_path("a.pgm"), "P5 2 1 255\nab", 13));
    CHECK_OK(fire_file_write(tmp_path("b.pgm"), "P5 1 2 255\nab", 13));
    CHECK_OK(fire_file_write(tmp_path("list.txt"), list, strlen(list)));
    c = run(tmp_path("list.txt"), 0);
    CHECK_EQ(c->nclass, 2);
    CHECK_EQ(c->klass[1].label, 9);
    CHECK_EQ(c->broken, 1);
    CHECK_STR(c->fault[0].key, "missing.pgm");
    CHECK(c->least.height == 1 && c->most.height == 2);
    CHECK_EQ(c->twins, 0); /* the same bytes in another shape */
    fire_check_fini(c);
}

TEST(the_text_and_the_page_tell_all_of_it_with_pictures)
{
    fire_check_t *c    = run(database("lmdb", 10, 7, 5), 2);
    fire_str_t    text = {0}, page = {0};
    int           pictures = 0;

    CHECK_OK(fire_check_print(c, &text));
    CHECK(strstr(text.text, "LMDB, 10 records\nimages: 3 x 4 x 5\n") != NULL);
    CHECK(strstr(text.text, "classes: 3\n  0        4\n  1        3\n") != NULL);
    CHECK(strstr(text.text, "broken records: 1\n  00000005: ") != NULL);
    CHECK(strstr(text.text, "  00000007 (1) is 00000000 (0)\n") != NULL);
    CHECK_OK(fire_check_page(c, "<db>", &page));
    CHECK(strstr(page.text, "<h1>&lt;db&gt;</h1>") != NULL);
    for (const char *at = page.text; (at = strstr(at, "<img ")) != NULL; at++)
        pictures++;
    CHECK_EQ(pictures, 6);
    CHECK(strstr(page.text, "title='00000001'") != NULL);
    fire_str_fini(&text);
    fire_str_fini(&page);
    fire_check_fini(c);
}

TEST(only_as_many_records_as_asked_for_are_read)
{
    fire_check_options_t o = {.items = {"", "data", "label"}, .limit = 4};
    fire_check_t        *c;

    CHECK_OK(FIRE_NEW(&c, 1));
    CHECK_OK(fire_check_run(database("lmdb", 10, -1, -1), &o, c));
    CHECK_EQ(c->records, 4);
    fire_check_fini(c);
    fire_free(c);
}

#ifdef FIRE_HAVE_HDF5
TEST(rows_of_hdf5_files_that_are_not_finite_are_broken)
{
    float         data[6 * 4] = {0}, label[6] = {0, 1, 1, 0, 1, 1};
    const int64_t ddim[] = {6, 1, 2, 2}, ldim[] = {6};
    fire_check_t *c;
    hid_t         file;

    for (int i = 0; i < 24; i++)
        data[i] = (float)i;
    data[9] = NAN;
    fire_hdf5_lock();
    CHECK_OK(fire_hdf5_create(&file));
    CHECK_OK(fire_hdf5_write_floats(file, "data", "x.h5", 4, ddim, data));
    CHECK_OK(fire_hdf5_write_floats(file, "label", "x.h5", 1, ldim, label));
    CHECK_OK(fire_hdf5_commit(file, tmp_path("x.h5"), false));
    fire_hdf5_unlock();
    CHECK_OK(fire_file_write(tmp_path("h5.txt"), tmp_path("x.h5"),
                             strlen(tmp_path("x.h5"))));
    c = run(tmp_path("h5.txt"), 1);
    CHECK_EQ(c->records, 6);
    CHECK_EQ(c->klass[1].count, 3);
    CHECK_EQ(c->broken, 1);
    CHECK_STR(c->fault[0].key, "row 2");
    CHECK_STR(c->fault[0].message, "value 1 is not finite");
    CHECK_EQ(c->most.height, 2);
    fire_check_fini(c);
}
#endif
