/* Recorders of trainings by the public headers alone. Tests src/api/recorder.c. */
#include "line.h"

static void on_event(void *arg, const fire_train_event_t *e)
{
    fire_recorder_event(arg, e);
}

static fire_trainer_t *begin(fire_recorder_t **r_p)
{
    fire_trainer_hooks_t hooks = FIRE_TRAINER_HOOKS_INIT;
    fire_trainer_t      *t     = line_make("", NULL);

    CHECK_OK(fire_recorder_create(t, r_p));
    hooks.arg   = *r_p;
    hooks.event = on_event;
    CHECK_OK(fire_trainer_set_hooks(t, &hooks));
    return t;
}

/* Is a text in the page of what has happened so far? */
static bool shows(fire_recorder_t *r, const char *text)
{
    static char page[1 << 20];
    FILE       *f;
    size_t      n;

    CHECK_OK(fire_recorder_page(r, test_path("page.html")));
    f = fopen(test_path("page.html"), "r");
    CHECK(f != NULL);
    n       = fread(page, 1, sizeof(page) - 1, f);
    page[n] = '\0';
    fclose(f);
    return strstr(page, text) != NULL;
}

TEST(a_page_shows_the_iterations_so_far)
{
    fire_recorder_t *r;
    fire_trainer_t  *t = begin(&r);

    CHECK(shows(r, "<html") && !shows(r, "\"iter\":[0,1,2]"));
    CHECK_OK(fire_trainer_step(t, 3));
    CHECK(shows(r, "\"iter\":[0,1,2]") && shows(r, "\"running\""));
    CHECK_OK(fire_trainer_step(t, 1));
    CHECK(shows(r, "\"iter\":[0,1,2,3]"));
    fire_recorder_destroy(r);
    fire_trainer_destroy(t);
}

TEST(iterations_that_are_done_again_replace_those_of_before)
{
    fire_recorder_t *r;
    fire_trainer_t  *t = begin(&r);

    CHECK_OK(fire_trainer_step(t, 5));
    CHECK_OK(fire_trainer_set_iter(t, 1));
    CHECK_OK(fire_trainer_step(t, 2));
    CHECK(shows(r, "\"iter\":[0,1,2]"));
    fire_recorder_destroy(r);
    fire_trainer_destroy(t);
}

TEST(a_page_that_cannot_be_written_is_an_error)
{
    fire_recorder_t *r;
    fire_trainer_t  *t = begin(&r);

    CHECK_FAILS(fire_recorder_page(r, "/nowhere/page.html"), FIRE_ERR_IO, "nowhere");
    fire_recorder_destroy(r);
    fire_recorder_destroy(NULL);
    fire_trainer_destroy(t);
}
