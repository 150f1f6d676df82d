/* test_environment.c - what a log says about machine and program. Tests
 * src/runlog/environment.c, src/runlog/libraries.c. */
#include "runlog/environment.h"

#include <stdlib.h>
#include <unistd.h>

#include "runlog/libraries.h"
#include "test.h"

static fire_json_t *write_and_read(const fire_environment_t *e)
{
    fire_json_writer_t w = {0};
    fire_json_t       *json;

    fire_json_open(&w, NULL, '{');
    fire_environment_write(&w, e);
    fire_json_close(&w, '}');
    CHECK_OK(w.status);
    CHECK_OK(fire_json_parse(w.out.text, strlen(w.out.text), "environment", &json));
    fire_json_writer_fini(&w);
    return json;
}

TEST(the_environment_names_program_host_and_cores)
{
    fire_json_t *json = write_and_read(&(fire_environment_t){0});
    char         host[256];

    CHECK_EQ(gethostname(host, sizeof(host)), 0);
    CHECK_STR(fire_json_string_or(json, "program", ""), "firecaffe " FIRE_VERSION);
    CHECK_STR(fire_json_string_or(json, "host", ""), host);
    CHECK_EQ(fire_json_number_or(json, "pid", 0), getpid());
    CHECK(fire_json_number_or(json, "cores", 0) >= 1);
    CHECK(fire_json_number_or(json, "memory", 0) > 1 << 20);
    CHECK(fire_json_get(json, "mpi") == NULL && fire_json_get(json, "gpus") == NULL);
    fire_json_free(json);
}

TEST(mpi_is_mentioned_in_a_job_only_and_gpus_by_name)
{
    const char *const  gpu[] = {"H200", "H100"};
    fire_environment_t e     = {.mpi = "Open MPI 4", .ngpu = 2, .gpu = gpu};
    fire_json_t       *json  = write_and_read(&e);

    CHECK(fire_json_get(json, "mpi") == NULL);
    CHECK_STR(fire_json_get(json, "gpus")->item[1].string, "H100");
    fire_json_free(json);
    e.launched = true;
    json       = write_and_read(&e);
    CHECK_STR(fire_json_string_or(json, "mpi", ""), "Open MPI 4");
    fire_json_free(json);
}

TEST(variables_that_set_threads_are_kept)
{
    fire_json_t *json;

    setenv("MKL_NUM_THREADS", "5", 1);
    json = write_and_read(&(fire_environment_t){0});
    CHECK_STR(
        fire_json_string_or(fire_json_get(json, "threads"), "MKL_NUM_THREADS", ""),
        "5");
    fire_json_free(json);
}

TEST(libraries_have_names_and_versions)
{
    char text[128];
    bool lmdb = false;
    int  n    = 0;

    for (; fire_library_at(n, "MPI 7", text, sizeof(text)); n++) {
        CHECK(text[0] != '\0');
        lmdb |= strncmp(text, "LMDB ", 5) == 0;
    }
    CHECK(lmdb && n >= 4); /* compiler, protobuf-c, LMDB, BLAS */
    CHECK_STR(text, "MPI 7");
    CHECK(!fire_library_at(n - 1, "", text, sizeof(text)));
    CHECK(!fire_library_at(n - 1, NULL, text, sizeof(text)));
    CHECK(!fire_library_at(-1, "", text, sizeof(text)));
}
