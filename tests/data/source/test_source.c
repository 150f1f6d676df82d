/* Databases, written and read. Tests src/data/source/. */
#include "rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "data/datum.h"
#include "data/source/source.h"

static const char *const backends[] = {"LMDB", "LEVELDB"};

#ifdef FIRE_HAVE_LEVELDB
enum { NBACKENDS = 2 };
#else
enum { NBACKENDS = 1 };
#endif

static void check_record(fire_source_t *s, int64_t i, fire_buffer_t *b)
{
    fire_record_t r;
    fire_datum_t  d;

    CHECK_OK(fire_source_read(s, i, b, &r));
    CHECK_OK(fire_datum_parse(r.bytes, r.n, &d));
    CHECK_EQ(d.label, i);
    CHECK_EQ(d.data[3], (i * 7 + 3) % 256);
}

TEST(records_are_read_back_in_any_order)
{
    for (int k = 0; k < NBACKENDS; k++) {
        fire_source_t *s;
        fire_buffer_t  b = {0};

        CHECK_OK(fire_source_open(
            backends[k], make_db(backends[k], backends[k], 2500, 1, 2, 3), &s));
        CHECK_EQ(s->count, 2500);
        for (int64_t i = 0; i < 2500; i++)
            check_record(s, i * 1237 % 2500, &b);
        fire_buffer_fini(&b);
        fire_source_close(s);
    }
}

static void *read_many(void *source)
{
    fire_buffer_t b = {0};

    for (int64_t i = 0; i < 2000; i++)
        check_record(source, i * 31 % 100, &b);
    fire_buffer_fini(&b);
    return NULL;
}

TEST(several_threads_read_one_source_at_once)
{
    for (int k = 0; k < NBACKENDS; k++) {
        fire_source_t *s;
        pthread_t      thread[4];

        CHECK_OK(fire_source_open(backends[k],
                                  make_db(backends[k], backends[k], 100, 1, 2, 3), &s));
        for (int i = 0; i < 4; i++)
            CHECK_EQ(pthread_create(&thread[i], NULL, read_many, s), 0);
        for (int i = 0; i < 4; i++)
            pthread_join(thread[i], NULL);
        fire_source_close(s);
    }
}

TEST(one_process_can_open_a_source_more_than_once)
{
    for (int k = 0; k < NBACKENDS; k++) {
        const char    *path = make_db(backends[k], backends[k], 3, 1, 2, 3);
        fire_source_t *a, *b, *c;
        fire_buffer_t  buffer = {0};

        CHECK_OK(fire_source_open(backends[k], path, &a));
        CHECK_OK(fire_source_open(backends[k], path, &b));
        fire_source_close(a);
        check_record(b, 2, &buffer);
        fire_source_close(b);
        CHECK_OK(fire_source_open(backends[k], path, &c));
        check_record(c, 1, &buffer);
        fire_source_close(c);
        fire_buffer_fini(&buffer);
    }
}

TEST(a_source_that_is_missing_or_empty_is_named)
{
    for (int k = 0; k < NBACKENDS; k++) {
        const char    *path = tmp_path(format("empty%d", k));
        fire_writer_t *w;
        fire_source_t *s;

        CHECK_FAILS(fire_source_open(backends[k], "/no/such/place", &s), FIRE_ERR_IO,
                    "/no/such/place");
        CHECK_OK(fire_writer_open(backends[k], path, &w));
        CHECK_OK(fire_writer_commit(w));
        CHECK_FAILS(fire_source_open(backends[k], path, &s), FIRE_ERR_INVALID,
                    "holds no records");
    }
}

TEST(the_wrong_backend_is_found_out_by_looking)
{
    fire_source_t *s;

    CHECK_FAILS(fire_source_open("nosql", "x", &s), FIRE_ERR_UNSUPPORTED, "nosql");
    if (NBACKENDS < 2) test_skip("built without LevelDB");
    CHECK_FAILS(fire_source_open("LEVELDB", make_db("lmdb", "a", 1, 1, 1, 1), &s),
                FIRE_ERR_INVALID, "set `backend: LMDB`");
    CHECK_FAILS(fire_source_open("LMDB", make_db("leveldb", "b", 1, 1, 1, 1), &s),
                FIRE_ERR_INVALID, "set `backend: LEVELDB`");
}

TEST(a_file_that_is_no_lmdb_is_refused)
{
    const char    *path = tmp_path("text");
    char           page[8192];
    fire_source_t *s;

    memset(page, 'x', sizeof(page));
    CHECK_EQ(mkdir(path, 0777), 0);
    CHECK_OK(fire_file_write(format("%s/data.mdb", path), page, sizeof(page)));
    CHECK_FAILS(fire_source_open("LMDB", path, &s), FIRE_ERR_PARSE, "not an LMDB");
}

TEST(an_lmdb_that_was_cut_short_is_refused)
{
    const char    *path = make_db("lmdb", "db", 300, 3, 20, 20);
    const char    *file = format("%s/data.mdb", path);
    struct stat    info;
    fire_source_t *s;

    CHECK_EQ(stat(file, &info), 0);
    CHECK_EQ(truncate(file, info.st_size / 2), 0);
    CHECK_FAILS(fire_source_open("LMDB", path, &s), FIRE_ERR_PARSE, "cut short");
}

/* Replace bytes of a file by others. */
static void overwrite(const char *file, long at, const void *bytes, size_t n)
{
    FILE *f = fopen(file, "r+b");

    CHECK(f != NULL);
    CHECK_EQ(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    CHECK_EQ(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* Before a key lie its value's length, 4 bytes (x86 and ARM: the lower ones first), and
 * two numbers of 2 bytes; behind it the number of the page where the value begins, 16
 * bytes after the page's own beginning. */
TEST(an_lmdb_record_that_leads_beyond_the_file_is_refused)
{
    const char    *path = make_db("lmdb", "db", 5, 3, 40, 40);
    const char    *file = format("%s/data.mdb", path), *key;
    fire_source_t *s;
    char          *bytes;
    size_t         n, page;
    uint32_t       rest;

    CHECK_OK(fire_file_read(file, &bytes, &n));
    key = memmem(bytes, n, "00000003", 8);
    CHECK(key != NULL);
    memcpy(&page, key + 8, sizeof(page));
    rest = (uint32_t)(n - page * (size_t)sysconf(_SC_PAGESIZE) - 16);
    overwrite(file, key - bytes - 8, &rest, sizeof(rest));
    CHECK_OK(fire_source_open("LMDB", path, &s));
    fire_source_close(s);
    rest++;
    overwrite(file, key - bytes - 8, &rest, sizeof(rest));
    CHECK_FAILS(
        fire_source_open("LMDB", path, &s), FIRE_ERR_PARSE,
        "record 3, after key \"00000002\", cannot be read: page 2 has a value that "
        "is not in the file");
    fire_free(bytes);
}

/* A header with its size of pages wrong, a branch that leads in a circle: whatever is
 * changed, the data set is refused or all of its records can be read. */
TEST(no_changed_byte_of_an_lmdb_ends_the_program)
{
    const char    *path = make_db("lmdb", "db", 400, 1, 8, 8);
    const char    *file = format("%s/data.mdb", path);
    fire_source_t *s;
    fire_buffer_t  b = {0};
    fire_record_t  r;
    char          *bytes;
    size_t         n, refused = 0, sum = 0;
    const size_t   step = TEST_SANITIZED ? 37 : 7;

    CHECK_OK(fire_file_read(file, &bytes, &n));
    for (size_t at = 0; at < n; at += step) {
        char wrong = (char)(bytes[at] ^ (at % 3 == 0 ? 0xff : 1 << at % 8));

        overwrite(file, (long)at, &wrong, 1);
        if (fire_source_open("LMDB", path, &s) >= 0) {
            for (int64_t i = 0; i < s->count; i++) {
                CHECK_OK(fire_source_read(s, i, &b, &r));
                for (size_t k = 0; k < r.n; k++)
                    sum += r.bytes[k];
            }
            fire_source_close(s);
        } else {
            refused++;
        }
        overwrite(file, (long)at, bytes + at, 1);
    }
    CHECK(sum > 0 && refused > 700 / step);
    fire_free(bytes);
}

#ifdef FIRE_HAVE_LEVELDB
/* The first file of a directory whose name ends so. */
static const char *find_file(const char *dir, const char *suffix)
{
    DIR           *d    = opendir(dir);
    const char    *path = NULL;
    struct dirent *e;

    while (path == NULL && (e = readdir(d)) != NULL)
        if (fire_path_has_suffix(e->d_name, suffix))
            path = format("%s/%s", dir, e->d_name);
    closedir(d);
    CHECK(path != NULL);
    return path;
}

/* Fresh records lie in a log, which becomes a table when the data set is opened. */
TEST(a_leveldb_with_damaged_records_is_refused)
{
    const char    *log = make_db("leveldb", "log", 20, 3, 20, 20);
    const char    *ldb = make_db("leveldb", "ldb", 20, 3, 20, 20);
    fire_source_t *s;

    overwrite(find_file(log, ".log"), 12000, "damage", 6);
    CHECK_FAILS(fire_source_open("LEVELDB", log, &s), FIRE_ERR_IO, "checksum");
    CHECK_OK(fire_source_open("LEVELDB", ldb, &s));
    fire_source_close(s);
    overwrite(find_file(ldb, ".ldb"), 100, "damage", 6);
    CHECK_FAILS(fire_source_open("LEVELDB", ldb, &s), FIRE_ERR_IO, "checksum");
    CHECK(strstr(fire_last_error(), ldb) != NULL);
}

TEST(a_leveldb_in_a_folder_of_blocks_is_not_said_to_be_locked)
{
    fire_source_t *s;

    CHECK_EQ(mkdir(tmp_path("blocks"), 0777), 0);
    CHECK_FAILS(fire_source_open("LEVELDB", tmp_path("blocks"), &s), FIRE_ERR_IO,
                "blocks");
    CHECK(strstr(fire_last_error(), "another process") == NULL);
}

/* 70 records of 1 MB: they do not wait for the thousandth in memory. */
TEST(large_records_of_a_leveldb_are_written_early)
{
    const char    *path = tmp_path("large");
    fire_writer_t *w;
    struct stat    info;
    char          *value, key[8];

    CHECK_OK(fire_alloc(1 << 20, 1, "value", (void **)&value));
    CHECK_OK(fire_writer_open("leveldb", path, &w));
    for (int i = 0; i < 70; i++) {
        snprintf(key, sizeof(key), "%03d", i);
        CHECK_OK(fire_writer_put(w, key, value, 1 << 20));
    }
    CHECK_EQ(stat(find_file(format("%s.tmp.%d", path, (int)getpid()), ".log"), &info),
             0);
    CHECK(info.st_size >= 60 << 20);
    fire_writer_abort(w);
    fire_free(value);
}
#endif

TEST(a_key_that_is_too_long_for_lmdb_is_named)
{
    char           key[600];
    fire_writer_t *w;

    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    CHECK_OK(fire_writer_open("lmdb", tmp_path("db"), &w));
    CHECK_FAILS(fire_writer_put(w, key, "", 0), FIRE_ERR_INVALID,
                "db: the key \"kkkkkkkkkk");
    fire_writer_abort(w);
}

TEST(an_aborted_writer_leaves_nothing)
{
    for (int k = 0; k < NBACKENDS; k++) {
        const char    *path = tmp_path(format("gone%d", k));
        fire_writer_t *w;

        CHECK_OK(fire_writer_open(backends[k], path, &w));
        put_raw(w, "a", 0, 1, 2, 2, 0);
        fire_writer_abort(w);
        CHECK(access(path, F_OK) != 0);
    }
    CHECK_EQ(rmdir(test_tmpdir()), 0); /* nothing beside it either */
    CHECK_EQ(mkdir(test_tmpdir(), 0777), 0);
}

TEST(a_writer_refuses_places_it_cannot_or_must_not_use)
{
    fire_writer_t *w;

    CHECK_FAILS(fire_writer_open("lmdb", "/dev/null/place", &w), FIRE_ERR_IO,
                "/dev/null");
    CHECK_FAILS(fire_writer_open("lmdb", test_tmpdir(), &w), FIRE_ERR_INVALID,
                "exists already");
    CHECK_FAILS(fire_writer_open("csv", tmp_path("x"), &w), FIRE_ERR_UNSUPPORTED,
                "\"csv\"");
}

/* The map of an LMDB begins with 64 MB; this needs more. */
TEST(an_lmdb_grows_beyond_its_first_map)
{
    char           path[600], key[8];
    fire_writer_t *w;
    fire_source_t *s;
    fire_record_t  r;
    char          *value = NULL;
    const size_t   n     = 1 << 20;

    snprintf(path, sizeof(path), "%s/large", test_tmpdir());
    CHECK_OK(fire_alloc(n, 1, "value", (void **)&value));
    CHECK_OK(fire_writer_open("lmdb", path, &w));
    for (int i = 0; i < 80; i++) {
        value[0] = (char)i;
        snprintf(key, sizeof(key), "%03d", i);
        CHECK_OK(fire_writer_put(w, key, value, n));
    }
    CHECK_OK(fire_writer_commit(w));
    CHECK_OK(fire_source_open("LMDB", path, &s));
    CHECK_EQ(s->count, 80);
    for (int i = 0; i < 80; i++) {
        CHECK_OK(fire_source_read(s, i, NULL, &r));
        CHECK(r.n == n && r.bytes[0] == i);
    }
    fire_source_close(s);
    fire_free(value);
}
