/* Installed files: found next to the program, never outside of share/firecaffe. */
#include "base/installed.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

/* This program is BUILD/tests/test_base, so BUILD is its prefix. */
static const char folder[] = FIRE_BUILD_DIR "/share/firecaffe";

static void make_installed(const char *name, const char *text)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    CHECK_OK(fire_dir_make_for(path));
    CHECK_OK(fire_file_write(path, text, strlen(text)));
}

TEST(an_installed_file_is_found_from_where_the_program_is)
{
    char path[PATH_MAX], want[PATH_MAX];

    make_installed("found.txt", "installed");
    snprintf(want, sizeof(want), "%s/found.txt", folder);
    CHECK(fire_installed_find("found.txt", path, sizeof(path)));
    CHECK_STR(path, want);
    CHECK(!fire_installed_find("missing.txt", path, sizeof(path)));
    CHECK_STR(path, "");
    unlink(want);
}

TEST(an_absolute_path_and_one_that_leads_out_are_not_looked_for)
{
    char path[PATH_MAX];

    make_installed("here.txt", "");
    CHECK(fire_installed_find("here.txt", path, sizeof(path)));
    CHECK(!fire_installed_find("../firecaffe/here.txt", path, sizeof(path)));
    CHECK(!fire_installed_find("/here.txt", path, sizeof(path)));
    CHECK(!fire_installed_find("", path, sizeof(path)));
    snprintf(path, sizeof(path), "%s/here.txt", folder);
    unlink(path);
}

TEST(a_file_of_the_user_wins_over_an_installed_one)
{
    char *text;
    char  path[PATH_MAX];
    char  cwd[PATH_MAX];

    make_installed("both.txt", "installed");
    CHECK(getcwd(cwd, sizeof(cwd)) != NULL);
    CHECK(chdir(test_tmpdir()) == 0);
    CHECK_OK(fire_file_check_or_installed("both.txt"));
    CHECK_FAILS(fire_file_check("both.txt"), FIRE_ERR_IO, "both.txt");
    CHECK_OK(fire_file_read_text("both.txt", &text));
    CHECK_STR(text, "installed");
    fire_free(text);
    CHECK_OK(fire_file_write("both.txt", "mine", 4));
    CHECK_OK(fire_file_read_text("both.txt", &text));
    CHECK_STR(text, "mine");
    fire_free(text);
    CHECK(chdir(cwd) == 0);
    snprintf(path, sizeof(path), "%s/both.txt", folder);
    unlink(path);
}
