/* Blobs of trainers that are observed, written through views, and outlive the trainer, by
 * the public headers alone. Tests src/train/enter.c. */
#include "line.h"

static fire_blob_t *weights_of(const fire_trainer_t *t)
{
    return fire_net_param_blob(fire_trainer_net(t), 0);
}

static fire_view_t *view_of(fire_blob_t *b, fire_part_t part)
{
    fire_view_t *v;

    CHECK_OK(fire_blob_view(b, part, FIRE_CPU, &v));
    return v;
}

TEST(views_of_parameters_follow_training_and_outlive_it)
{
    fire_trainer_t *t  = line_make("", NULL);
    fire_view_t    *w  = view_of(weights_of(t), FIRE_DATA);
    fire_view_t    *dw = view_of(weights_of(t), FIRE_DIFF);
    fire_blob_t    *b  = fire_blob_retain(weights_of(t));
    line_weights_t  now;
    float           first = fire_view_values(w)[0];

    CHECK_OK(fire_trainer_step(t, 4));
    now = line_weights(t);
    CHECK(line_same(now, line_trained("", 4)));
    CHECK(fire_view_values(w)[0] != first);
    CHECK(memcmp(fire_view_values(w), now.w, 6 * sizeof(float)) == 0);
    CHECK_OK(fire_trainer_gradients(t, NULL));
    CHECK(fire_view_values(dw)[0] != 0);
    fire_trainer_destroy(t);
    CHECK(memcmp(fire_view_values(w), now.w, 6 * sizeof(float)) == 0);
    CHECK(fire_view_values(dw)[0] != 0);
    CHECK(memcmp(line_values(b, FIRE_DATA), now.w, 6 * sizeof(float)) == 0);
    CHECK(line_values(b, FIRE_DIFF)[0] == fire_view_values(dw)[0]);
    fire_view_destroy(w);
    fire_view_destroy(dw);
    fire_blob_destroy(b);
}

TEST(what_is_written_through_a_view_is_trained_with)
{
    fire_trainer_t *t[2] = {line_make("", NULL), line_make("", NULL)};
    fire_view_t    *w    = view_of(weights_of(t[0]), FIRE_DATA);
    float          *x;

    for (int pass = 0; pass < 2; pass++) {
        fire_view_values(w)[3] = 0.5f;
        CHECK_OK(fire_blob_update(weights_of(t[1]), FIRE_DATA, FIRE_CPU, &x));
        x[3] = 0.5f;
        for (int i = 0; i < 2; i++)
            CHECK_OK(fire_trainer_step(t[i], 2));
        CHECK(line_same(line_weights(t[0]), line_weights(t[1])));
    }
    fire_view_destroy(w);
    fire_trainer_destroy(t[0]);
    fire_trainer_destroy(t[1]);
}

TEST(observed_blobs_of_a_training_net_keep_values_and_gradients)
{
    static const char *const y = "y", *const wrong = "why";
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_t       *all, *lean;

    c.mode     = FIRE_OBSERVED;
    all        = line_make("", &c);
    c.mode     = FIRE_LEAN;
    c.nobserve = 1;
    c.observe  = &y;
    lean       = line_make("", &c);
    CHECK_OK(fire_trainer_step(all, 3));
    CHECK_OK(fire_trainer_step(lean, 3));
    for (int part = 0; part < 2; part++) {
        const float *a = line_values(fire_net_find_blob(fire_trainer_net(all), y),
                                     (fire_part_t)part);
        const float *b = line_values(fire_net_find_blob(fire_trainer_net(lean), y),
                                     (fire_part_t)part);

        CHECK(memcmp(a, b, 8 * sizeof(float)) == 0);
    }
    CHECK(line_same(line_weights(all), line_weights(lean)));
    fire_trainer_destroy(all);
    fire_trainer_destroy(lean);
    c.observe = &wrong;
    CHECK_FAILS(fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &all),
                FIRE_ERR_INVALID, "cannot observe blob \"why\"");
    c.observe = NULL;
    CHECK_FAILS(fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &all),
                FIRE_ERR_INVALID, "(NULL)");
}
