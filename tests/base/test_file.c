/* Whole files: read, replaced in one instant, or left alone. */
#include "base/file.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "test.h"

static int files_in(const char *dir)
{
    DIR *d = opendir(dir);
    int  n = 0;

    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2;
}

static void check_contents(const char *path, const char *want)
{
    char  *bytes;
    size_t n;

    CHECK_OK(fire_file_read(path, &bytes, &n));
    CHECK_EQ(n, strlen(want));
    CHECK_STR(bytes, want);
    fire_free(bytes);
}

TEST(what_is_written_is_read_back)
{
    CHECK_OK(fire_file_write(test_path("f"), "hello", 5));
    check_contents(test_path("f"), "hello");
}

TEST(folders_above_a_file_are_made_and_the_file_is_not)
{
    struct stat info;

    CHECK_OK(fire_dir_make_for(test_path("a/b/f")));
    CHECK(stat(test_path("a/b"), &info) == 0 && S_ISDIR(info.st_mode));
    CHECK(stat(test_path("a/b/f"), &info) != 0);
    CHECK_OK(fire_dir_make_for(test_path("a/b/f"))); /* they may be there already */
    CHECK_OK(fire_dir_make_for("f"));
    CHECK_OK(fire_dir_make_for(""));
}

TEST(a_file_where_a_folder_should_be_is_named)
{
    CHECK_OK(fire_file_write(test_path("f"), "", 0));
    CHECK_FAILS(fire_dir_make(test_path("f/x/y")), FIRE_ERR_IO, test_path("f\""));
    CHECK_FAILS(fire_dir_make(test_path("f")), FIRE_ERR_IO, "File exists");
}

TEST(text_must_not_end_before_its_file_does)
{
    char *text;

    CHECK_OK(fire_file_write(test_path("f"), "two\nlines", 9));
    CHECK_OK(fire_file_read_text(test_path("f"), &text));
    CHECK_STR(text, "two\nlines");
    fire_free(text);
    CHECK_OK(fire_file_write(test_path("f"), "two\0lines", 9));
    CHECK_FAILS(fire_file_read_text(test_path("f"), &text), FIRE_ERR_PARSE,
                "f: is no text: byte 3 is zero");
}

TEST(an_empty_file_has_no_bytes_and_is_no_error)
{
    CHECK_OK(fire_file_write(test_path("f"), "", 0));
    check_contents(test_path("f"), "");
}

TEST(a_large_file_passes_the_buffer_in_one_piece)
{
    size_t              n    = 300000, got;
    char               *data = malloc(n), *back;
    fire_file_writer_t *w;

    for (size_t i = 0; i < n; i++)
        data[i] = (char)(i * 7);
    CHECK_OK(fire_file_writer_open(test_path("f"), &w));
    for (size_t at = 0, step = 1; at < n; at += step, step = step * 3 + 1) {
        if (step > n - at) step = n - at;
        CHECK_OK(fire_file_writer_write(w, data + at, step));
    }
    CHECK_OK(fire_file_writer_commit(w));
    CHECK_OK(fire_file_read(test_path("f"), &back, &got));
    CHECK_EQ(got, n);
    CHECK(memcmp(back, data, n) == 0);
    free(data);
    fire_free(back);
}

TEST(a_missing_file_is_named_with_the_directory_searched)
{
    char  *bytes;
    size_t n;

    CHECK_FAILS(fire_file_read("no/such/file", &bytes, &n), FIRE_ERR_IO,
                "cannot open \"no/such/file\": No such file or directory (relative to");
    CHECK_FAILS(fire_file_check("/no/such/file"), FIRE_ERR_IO, "\"/no/such/file\"");
}

TEST(a_device_without_end_is_given_up)
{
    char  *bytes;
    size_t n;

    CHECK_FAILS(fire_file_read("/dev/zero", &bytes, &n), FIRE_ERR_IO, "does not end");
}

TEST(a_directory_is_no_file)
{
    char  *bytes;
    size_t n;

    CHECK_FAILS(fire_file_read(test_tmpdir(), &bytes, &n), FIRE_ERR_IO,
                "is a directory");
    CHECK_FAILS(fire_file_write(test_tmpdir(), "x", 1), FIRE_ERR_IO, "is a directory");
}

TEST(the_old_contents_stay_until_commit_and_after_abort)
{
    fire_file_writer_t *w;

    CHECK_OK(fire_file_write(test_path("f"), "old", 3));
    CHECK_OK(fire_file_writer_open(test_path("f"), &w));
    CHECK_OK(fire_file_writer_write(w, "new", 3));
    check_contents(test_path("f"), "old");
    fire_file_writer_abort(w);
    check_contents(test_path("f"), "old");
    CHECK_EQ(files_in(test_tmpdir()), 1);
}

TEST(a_disk_that_fills_up_leaves_the_old_file_and_nothing_else)
{
    static char   big[1 << 20];
    struct rlimit small = {100000, 100000};

    CHECK_OK(fire_file_write(test_path("f"), "old", 3));
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_FAILS(fire_file_write(test_path("f"), big, sizeof(big)), FIRE_ERR_IO,
                test_path("f"));
    check_contents(test_path("f"), "old");
    CHECK_EQ(files_in(test_tmpdir()), 1);
}

TEST(a_full_device_is_reported_with_its_name)
{
    CHECK_FAILS(fire_file_write("/dev/full", "x", 1), FIRE_ERR_IO,
                "cannot write \"/dev/full\": No space left on device");
}

TEST(a_folder_that_does_not_exist_cannot_be_written_to)
{
    CHECK_FAILS(fire_file_write(test_path("no/f"), "x", 1), FIRE_ERR_IO,
                "no/f\": No such");
}

TEST(a_link_stays_a_link_and_its_target_gets_the_contents)
{
    char        link_path[1024];
    struct stat info;

    CHECK_OK(fire_file_write(test_path("target"), "old", 3));
    snprintf(link_path, sizeof(link_path), "%s", test_path("link"));
    CHECK(symlink(test_path("target"), link_path) == 0);
    CHECK_OK(fire_file_write(link_path, "new", 3));
    CHECK(lstat(link_path, &info) == 0 && S_ISLNK(info.st_mode));
    check_contents(test_path("target"), "new");
}

TEST(a_pipe_is_written_and_read_without_being_replaced)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s", test_path("pipe"));
    CHECK(mkfifo(path, 0600) == 0);
    if (fork() == 0) _exit(fire_file_write(path, "through", 7) != FIRE_OK);
    check_contents(path, "through");
}

TEST(a_file_made_by_another_library_is_put_in_place)
{
    char *temp;
    FILE *f;

    CHECK_OK(fire_file_temp_name(test_path("f"), &temp));
    f = fopen(temp, "w");
    fputs("theirs", f);
    fclose(f);
    CHECK_OK(fire_file_replace(temp, test_path("f")));
    check_contents(test_path("f"), "theirs");
    CHECK_EQ(files_in(test_tmpdir()), 1);
    CHECK_FAILS(fire_file_replace(temp, test_path("f")), FIRE_ERR_IO, test_path("f"));
    fire_free(temp);
}

TEST(only_the_pattern_is_a_pattern_not_the_name_before_it)
{
    char   name[1024];
    glob_t found;

    snprintf(name, sizeof(name), "%s/a[1]*", test_tmpdir());
    CHECK_OK(fire_dir_make(name));
    CHECK_OK(fire_path_glob(name, "/*.txt", &found));
    CHECK_EQ(found.gl_pathc, 0);
    globfree(&found);
    snprintf(name, sizeof(name), "%s/a[1]*/b.txt", test_tmpdir());
    CHECK_OK(fire_file_write(name, "", 0));
    name[strlen(name) - 6] = '\0';
    CHECK_OK(fire_path_glob(name, "/*.txt", &found));
    CHECK_EQ(found.gl_pathc, 1);
    globfree(&found);
}

TEST(suffixes_are_compared_at_the_end)
{
    CHECK(fire_path_has_suffix("a.caffemodel.h5", ".h5"));
    CHECK(!fire_path_has_suffix("a.h5.caffemodel", ".h5"));
    CHECK(!fire_path_has_suffix("5", ".h5"));
}

TEST(a_probe_tells_the_time_and_leaves_nothing)
{
    double now = 0;

    CHECK(symlink(test_path("victim"), test_path("probe")) == 0);
    CHECK_OK(fire_file_write(test_path("victim"), "mine", 4));
    CHECK_OK(fire_file_probe(test_path("probe"), &now));
    CHECK(now > 1e9);
    CHECK(access(test_path("probe"), F_OK) != 0);
    CHECK_FAILS(fire_file_probe(test_path("no/probe"), &now), FIRE_ERR_IO, "no/probe");
}

TEST(a_link_in_the_place_of_the_temporary_file_is_not_followed)
{
    char *temp;

    CHECK_OK(fire_file_temp_name(test_path("x"), &temp));
    CHECK(symlink(test_path("victim"), temp) == 0);
    CHECK_OK(fire_file_write(test_path("x"), "1234", 4));
    CHECK(access(test_path("victim"), F_OK) != 0);
    fire_free(temp);
}
