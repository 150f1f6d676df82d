/* test_memory.c - the state of a training in shared memory: there while it trains, taken
 * after a failure, gone at the end. Tests src/train/snapshot/memory.c,
 * src/train/snapshot/memory_files.c. */
#include "train/snapshot/memory.h"
#include "run.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

#define SOLVER                                                                        \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' max_iter: 30 momentum: " \
    "0.9 snapshot_prefix: '%s/snap' fire { memory_snapshot: 5 } "

enum { FAILS_AT = 17, KEPT = 15 };

static fire_status_t fail_at_17(fire_trainer_t *t)
{
    if (t->solver->iter < FAILS_AT) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "as the test wants it");
}

static void train_until_failure(int workers)
{
    run_net("tiny");
    unlink(test_path("snap_iter_30.solverstate"));
    run_train(&(run_t){
        .solver = SOLVER, .workers = workers, .solve = true, .before = fail_at_17});
    CHECK(strstr(run_errors[0], "as the test wants it") != NULL);
}

/* Files of failed trainings would stay. */
static void forget(void)
{
    char *dir;

    CHECK_OK(fire_memory_dir(test_path("snap"), &dir));
    fire_memory_clean(dir, NULL);
    fire_free(dir);
}

/* All files in the directory. */
static glob_t kept(void)
{
    glob_t found;
    char  *dir;

    CHECK_OK(fire_memory_dir(test_path("snap"), &dir));
    CHECK_OK(fire_path_glob(dir, "/*", &found));
    fire_free(dir);
    return found;
}

static size_t count_kept(void)
{
    glob_t found = kept();
    size_t n     = found.gl_pathc;

    globfree(&found);
    return n;
}

static int modes(const char *path)
{
    struct stat info;

    CHECK(stat(path, &info) == 0);
    return (int)(info.st_mode & 07777);
}

static fire_status_t look(fire_trainer_t *t)
{
    if (t->solver->iter == 12) CHECK_EQ(fire_memory_newest(fire_trainer_prefix(t)), 10);
    return FIRE_OK;
}

TEST(the_state_is_in_memory_while_a_training_runs)
{
    run_net("tiny");
    run_train(&(run_t){.solver = SOLVER, .workers = 2, .solve = true, .before = look});
    CHECK_STR(run_errors[0], "");
    CHECK_EQ(count_kept(), 0);
    CHECK(access(test_path("snap.memory"), F_OK) != 0);
    CHECK_EQ(fire_memory_newest(test_path("snap")), -1);
}

TEST(one_state_stays_after_a_failure_and_only_its_user_can_read_it)
{
    glob_t found;
    char  *dir;

    train_until_failure(2);
    found = kept();
    CHECK_EQ(found.gl_pathc, 2);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        CHECK(strstr(found.gl_pathv[i], "_iter_15.") != NULL);
        CHECK_EQ(modes(found.gl_pathv[i]), 0600);
    }
    globfree(&found);
    CHECK_OK(fire_memory_dir(test_path("snap"), &dir));
    CHECK_EQ(modes(dir), 0700);
    fire_free(dir);
    CHECK_EQ(fire_memory_newest(test_path("snap")), KEPT);
    forget();
}

/* One worker goes on with what the failed training left. */
static void go_on(int64_t want_iter)
{
    char                  text[1024];
    fire_trainer_t       *t;
    fire_trainer_config_t config = FIRE_TRAINER_CONFIG_INIT;
    bool                  found;
    int n = snprintf(text, sizeof(text), SOLVER, test_tmpdir(), test_tmpdir());

    config.threads = 1;
    config.fire    = "lanes: 2";
    CHECK_OK(fire_trainer_from_text(text, (size_t)n, &config, &t));
    CHECK_OK(fire_trainer_resume(t, &found));
    CHECK_EQ(found, want_iter > 0);
    CHECK_EQ(fire_trainer_iter(t), want_iter);
    CHECK_OK(fire_trainer_solve(t));
    fire_trainer_destroy(t);
}

static void read_model(char **bytes_p, size_t *n_p)
{
    CHECK_OK(fire_file_read(test_path("snap_iter_30.caffemodel"), bytes_p, n_p));
}

TEST(training_goes_on_from_memory_with_the_same_bits)
{
    char  *want, *got;
    size_t n, m;

    run_net("tiny");
    run_train(&(run_t){.solver = SOLVER, .workers = 2, .solve = true});
    read_model(&want, &n);
    train_until_failure(2);
    go_on(KEPT);
    read_model(&got, &m);
    CHECK(n == m && memcmp(want, got, n) == 0);
    fire_free(want);
    fire_free(got);
    CHECK_EQ(count_kept(), 0);
}

TEST(a_damaged_state_in_memory_is_not_taken)
{
    for (int which = 0; which < 2; which++) {
        glob_t found;
        char  *bytes;
        size_t n;

        train_until_failure(2);
        found = kept();
        CHECK_OK(fire_file_read(found.gl_pathv[which], &bytes, &n));
        bytes[n / 2] ^= 4;
        CHECK_OK(fire_file_write(found.gl_pathv[which], bytes, n));
        fire_free(bytes);
        globfree(&found);
        go_on(0);
    }
}

TEST(a_newer_snapshot_on_disk_is_taken_before_memory)
{
    run_net("tiny");
    run_train(&(run_t){.solver  = SOLVER "snapshot: 16",
                       .workers = 2,
                       .solve   = true,
                       .before  = fail_at_17});
    go_on(16);
}

/* A job that begins anew takes nothing of the last one, and removes it. */
TEST(the_next_job_removes_what_the_last_one_left)
{
    train_until_failure(2);
    CHECK_EQ(count_kept(), 2);
    run_train(&(run_t){.solver = SOLVER, .workers = 2, .solve = true, .before = look});
    CHECK_STR(run_errors[0], "");
    CHECK_EQ(count_kept(), 0);
}

TEST(a_directory_that_others_can_write_to_is_not_used)
{
    char *dir;

    run_net("tiny");
    CHECK_OK(fire_memory_dir(test_path("snap"), &dir));
    CHECK(mkdir(dir, 0700) == 0 && chmod(dir, 0777) == 0);
    run_listen();
    run_train(&(run_t){.solver = SOLVER, .workers = 2, .solve = true});
    CHECK(run_heard("no state is kept in memory: \""));
    CHECK(run_heard("is no directory of this user alone: remove it"));
    CHECK_EQ(count_kept(), 0);
    rmdir(dir);
    CHECK(symlink(test_tmpdir(), dir) == 0);
    run_train(&(run_t){.solver = SOLVER, .workers = 2, .solve = true});
    CHECK(run_heard("no state is kept in memory: \""));
    CHECK(unlink(dir) == 0);
    fire_free(dir);
}

TEST(a_file_that_names_no_job_is_none)
{
    char id[FIRE_MEMORY_ID];

    run_file("snap.memory", "../../../etc/xyz");
    fire_memory_read_id(test_path("snap"), id);
    CHECK_STR(id, "");
    CHECK_OK(fire_memory_make_id(test_path("snap"), id));
    CHECK_EQ(strlen(id), FIRE_MEMORY_ID - 1);
    fire_memory_drop_id(test_path("snap"));
    fire_memory_read_id(test_path("snap"), id);
    CHECK_STR(id, "");
}

TEST(paths_to_the_same_snapshots_have_one_directory)
{
    char *a, *b, other[1100];

    snprintf(other, sizeof(other), "%s/../%s/snap", test_tmpdir(),
             strrchr(test_tmpdir(), '/') + 1);
    CHECK_OK(fire_memory_dir(test_path("snap"), &a));
    CHECK_OK(fire_memory_dir(other, &b));
    CHECK_STR(a, b);
    fire_free(b);
    CHECK_OK(fire_memory_dir(test_path("snip"), &b));
    CHECK(strcmp(a, b) != 0);
    fire_free(a);
    fire_free(b);
    CHECK(!fire_memory_has_room((int64_t)1 << 60));
}
