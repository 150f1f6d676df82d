/* Trainers by the public headers alone: creating them, weights, settings. Tests
 * src/api/trainer.c, src/train/change.c. */
#include "line.h"

/* ---- creating ---- */

TEST(a_trainer_tells_what_it_was_made_of)
{
    fire_trainer_t *t = line_make("", NULL);
    const char     *text;
    double          x;

    CHECK(strcmp(fire_trainer_type(t), "SGD") == 0);
    CHECK_EQ(fire_trainer_iter(t), 0);
    CHECK_NEAR(fire_trainer_rate(t), 0.1, 1e-7);
    CHECK_EQ(fire_trainer_rank(t), 0);
    CHECK_EQ(fire_trainer_size(t), 1);
    CHECK_EQ(fire_trainer_lanes(t), 1);
    CHECK_EQ(fire_trainer_batch(t), 4);
    CHECK_EQ(fire_trainer_ntest(t), 1);
    CHECK(fire_trainer_test_net(t, 0) != NULL && fire_trainer_test_net(t, 1) == NULL);
    CHECK(strcmp(fire_net_name(fire_trainer_net(t)), "line") == 0);
    CHECK_EQ(fire_net_gpu(fire_trainer_net(t)), -1);
    CHECK_OK(fire_trainer_number(t, "momentum", &x));
    CHECK_NEAR(x, 0.9, 1e-6);
    CHECK_OK(fire_trainer_number(t, "snapshot_after_train", &x));
    CHECK_NEAR(x, 0, 0);
    CHECK_FAILS(fire_trainer_number(t, "net_param", &x), FIRE_ERR_INVALID, "net_param");
    CHECK_FAILS(fire_trainer_number(t, "moment", &x), FIRE_ERR_INVALID, "moment");
    CHECK_OK(fire_trainer_text(t, &text));
    CHECK(strstr(text, "momentum: 0.9") != NULL &&
          strstr(text, "EuclideanLoss") != NULL);
    fire_trainer_destroy(t);
    fire_trainer_destroy(NULL);
}

/* A solver as protobuf's binary form: base_lr, lr_policy, train_net_param. */
static size_t write_message(const char *text, char *bytes)
{
    static const char head[] = "\x2d\xcd\xcc\xcc\x3d" /* 5: 0.1 */
                               "\x42\x05"
                               "fixed"     /* 8 */
                               "\xc2\x01"; /* 24: net, a path */
    size_t n = sizeof(head) - 1;

    memcpy(bytes, head, n);
    bytes[n++] = (char)strlen(text);
    memcpy(bytes + n, text, strlen(text));
    return n + strlen(text);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL);
    fputs(text, f);
    fclose(f);
}

TEST(a_trainer_comes_from_a_file_or_a_message)
{
    static const char net[] = LINE_NET;
    char              text[4096], bytes[512];
    fire_trainer_t   *t;

    snprintf(text, sizeof(text), LINE_SOLVER);
    write_text(test_path("s.prototxt"), text);
    CHECK_OK(fire_trainer_from_file(test_path("s.prototxt"), NULL, &t));
    CHECK_OK(fire_trainer_step(t, 4));
    CHECK(line_same(line_weights(t), line_trained("", 4)));
    fire_trainer_destroy(t);

    /* the net alone, without "net_param {" and "}" */
    snprintf(text, sizeof(text), "%.*s", (int)(strlen(net) - 13), net + 11);
    write_text(test_path("n.prototxt"), text);
    CHECK_OK(fire_trainer_from_message(
        bytes, write_message(test_path("n.prototxt"), bytes), NULL, &t));
    CHECK_NEAR(fire_trainer_rate(t), 0.1, 1e-7);
    CHECK_OK(fire_trainer_step(t, 1));
    fire_trainer_destroy(t);
}

TEST(what_is_no_solver_is_refused_with_a_message)
{
    static const char     bad[] = "base_lr: 'x'";
    fire_trainer_config_t c     = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_t       *t     = NULL;

    CHECK_FAILS(fire_trainer_from_text(bad, strlen(bad), NULL, &t), FIRE_ERR_PARSE,
                "text of a solver:1");
    CHECK(fire_trainer_from_message("\xff", 1, NULL, &t) == FIRE_ERR_PARSE);
    CHECK_FAILS(fire_trainer_from_text(LINE_SOLVER "type: 'Sgd'",
                                       strlen(LINE_SOLVER) + 11, NULL, &t),
                FIRE_ERR_INVALID, "Sgd");
    CHECK(fire_trainer_from_file(test_path("none"), NULL, &t) == FIRE_ERR_IO);
    c.fire = "lane: 3";
    CHECK_FAILS(fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t),
                FIRE_ERR_PARSE, "lanes");
    c.fire = "compress: 'zip'";
    CHECK_FAILS(fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t),
                FIRE_ERR_INVALID, "zip");
    c.fire    = NULL;
    c.kernels = "InnerProduct=fastest";
    CHECK_FAILS(fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t),
                FIRE_ERR_INVALID, "fastest");
    c.kernels = NULL;
    c.gpu     = 1000;
    CHECK(fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t) ==
          FIRE_ERR_DEVICE);
    c.size = 3;
    CHECK_FAILS(fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t),
                FIRE_ERR_INVALID, "_INIT macro");
    CHECK(t == NULL);
}

TEST(settings_of_ours_and_kernels_come_from_the_config)
{
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_t       *t;

    c.fire    = "lanes: 2 scale_lr: 2";
    c.kernels = "all=ref";
    c.threads = 1;
    c.gpu     = FIRE_GPU_NONE;
    t         = line_make("fire { lanes: 4 }", &c);
    CHECK_EQ(fire_trainer_lanes(t), 2);
    CHECK_NEAR(fire_trainer_rate(t), 0.2, 1e-6);
    CHECK_OK(fire_trainer_step(t, 2));
    fire_trainer_destroy(t);
}

/* ---- weights and snapshots ---- */

TEST(a_snapshot_continues_exactly)
{
    fire_trainer_t *t = line_make("", NULL), *u = line_make("", NULL),
                   *v = line_make("", NULL);
    bool found;

    CHECK_OK(fire_trainer_resume(v, &found));
    CHECK(!found);
    CHECK_OK(fire_trainer_step(t, 3));
    CHECK_OK(fire_trainer_snapshot(t));
    CHECK_OK(fire_trainer_restore(u, test_path("snap_iter_3.solverstate")));
    CHECK_OK(fire_trainer_resume(v, &found));
    CHECK(found);
    CHECK_EQ(fire_trainer_iter(v), 3);
    CHECK_OK(fire_trainer_step(u, 2));
    CHECK_OK(fire_trainer_step(v, 2));
    CHECK(line_same(line_weights(u), line_trained("", 5)));
    CHECK(line_same(line_weights(v), line_weights(u)));
    CHECK(fire_trainer_restore(u, test_path("none.solverstate")) == FIRE_ERR_IO);
    fire_trainer_destroy(u);
    fire_trainer_destroy(v);

    u = line_make("", NULL);
    CHECK_OK(fire_trainer_load_weights(u, test_path("snap_iter_3.caffemodel")));
    CHECK(line_same(line_weights(u), line_weights(t)));
    CHECK_EQ(fire_trainer_iter(u), 0);
    fire_trainer_destroy(u);
    fire_trainer_destroy(t);
}

TEST(the_solvers_own_weights_are_loaded)
{
    fire_trainer_t *t = line_make("", NULL), *u;
    char            more[512];

    CHECK_OK(fire_trainer_step(t, 3));
    CHECK_OK(fire_trainer_snapshot(t));
    snprintf(more, sizeof(more), "weights: '%s'", test_path("snap_iter_3.caffemodel"));
    u = line_make(more, NULL);
    CHECK(line_same(line_weights(u), line_weights(t)));
    fire_trainer_destroy(t);
    fire_trainer_destroy(u);
}

TEST(trainers_can_share_weights)
{
    fire_trainer_t *t = line_make("", NULL), *u = line_make("", NULL);
    const float    *w;

    CHECK_OK(fire_trainer_share(u, fire_trainer_net(t)));
    CHECK_OK(fire_trainer_step(t, 2));
    CHECK(line_same(line_weights(u), line_weights(t)));
    w = line_values(fire_net_param_blob(fire_trainer_test_net(u, 0), 0), FIRE_DATA);
    CHECK(w[0] == line_weights(t).w[0]);
    fire_trainer_destroy(t);
    CHECK_OK(fire_trainer_step(u, 1));
    fire_trainer_destroy(u);
}

TEST(an_observed_trainer_keeps_values_and_makes_the_same_weights)
{
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_t       *t;
    fire_net_t           *net;
    const float          *y, *z;

    c.mode = FIRE_OBSERVED;
    t      = line_make("", &c);
    net    = fire_trainer_net(t);
    CHECK_OK(fire_trainer_step(t, 4));
    CHECK(line_same(line_weights(t), line_trained("", 4)));
    y = line_values(fire_net_find_blob(net, "y"), FIRE_DATA);
    z = line_values(fire_net_find_blob(net, "z"), FIRE_DATA);
    for (int i = 0; i < 8; i++)
        CHECK(z[i] == (y[i] > 0 ? y[i] : 0));
    fire_trainer_destroy(t);
}

/* As in Caffe, a pass outside step() takes the next batch; step() is not disturbed. */
TEST(a_pass_of_the_users_own_takes_the_next_batch)
{
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_t       *t;
    fire_net_t           *net;
    float                 first[3];
    fire_blob_t          *x;

    c.mode = FIRE_OBSERVED;
    t      = line_make("", &c);
    for (int k = 0; k < 2; k++) {
        net = k == 0 ? fire_trainer_net(t) : fire_trainer_test_net(t, 0);
        x   = fire_net_find_blob(net, "x");
        for (int i = 0; i < 3; i++) {
            CHECK_OK(fire_net_forward(net, 0, -1, NULL));
            first[i] = line_values(x, FIRE_DATA)[0];
            CHECK_OK(fire_net_forward(net, 1, -1, NULL));
            CHECK(line_values(x, FIRE_DATA)[0] == first[i]);
        }
        CHECK(first[0] != first[1] && first[1] != first[2]);
    }
    CHECK_OK(fire_trainer_step(t, 4));
    CHECK(line_same(line_weights(t), line_trained("", 4)));
    fire_trainer_destroy(t);
}

/* ---- settings ---- */

TEST(settings_change_between_iterations)
{
    fire_trainer_t *t = line_make("", NULL), *u;
    double          x;

    CHECK_OK(
        fire_trainer_set(t, "base_lr: 0.05 momentum: 0.5 display: 0 stepvalue: 3"));
    CHECK_OK(fire_trainer_number(t, "momentum", &x));
    CHECK_NEAR(x, 0.5, 0);
    CHECK_OK(fire_trainer_step(t, 3));
    CHECK_NEAR(fire_trainer_rate(t), 0.05, 1e-8);
    u = line_make("", NULL);
    CHECK_OK(fire_trainer_set(u, "momentum: 0.5"));
    CHECK_OK(fire_trainer_set_rate(u, 0.05f));
    CHECK_NEAR(fire_trainer_rate(u), 0.05, 1e-8);
    CHECK_OK(fire_trainer_step(u, 3));
    CHECK(line_same(line_weights(t), line_weights(u)));
    CHECK(!line_same(line_weights(t), line_trained("", 3)));
    CHECK_OK(fire_trainer_set_rate(u, -1));
    CHECK_OK(fire_trainer_step(u, 1));
    CHECK_NEAR(fire_trainer_rate(u), 0.1, 1e-8);
    fire_trainer_destroy(t);
    fire_trainer_destroy(u);
}

TEST(settings_that_cannot_change_are_refused_and_change_nothing)
{
    fire_trainer_t *t = line_make("", NULL);
    const char     *text;

    CHECK_FAILS(fire_trainer_set(t, "momentum: 0.5 type: 'Adam'"), FIRE_ERR_UNSUPPORTED,
                "type cannot change");
    CHECK_FAILS(fire_trainer_set(t, "momentum: 0.5 lr_policy: 'fix'"), FIRE_ERR_INVALID,
                "fix");
    CHECK_FAILS(fire_trainer_set(t, "moment: 0.5"), FIRE_ERR_PARSE, "momentum");
    CHECK_FAILS(fire_trainer_set(t, "clip_gradients: 1"), FIRE_ERR_UNSUPPORTED,
                "clip_gradients");
    CHECK(fire_trainer_set_rate(t, NAN) == FIRE_ERR_INVALID);
    CHECK(fire_trainer_set_iter(t, -1) == FIRE_ERR_INVALID);
    CHECK_OK(fire_trainer_text(t, &text));
    CHECK(strstr(text, "momentum: 0.9") != NULL);
    fire_trainer_destroy(t);
}

TEST(the_iteration_can_be_set_and_the_rate_follows)
{
    fire_trainer_t *t = line_make("", NULL);

    CHECK_OK(fire_trainer_set(
        t, "lr_policy: 'multistep' gamma: 0.1 stepvalue: 10 stepvalue: 20"));
    CHECK_OK(fire_trainer_set_iter(t, 15));
    CHECK_OK(fire_trainer_step(t, 1));
    CHECK_EQ(fire_trainer_iter(t), 16);
    CHECK_NEAR(fire_trainer_rate(t), 0.01, 1e-8);
    CHECK_OK(fire_trainer_set_iter(t, 0));
    CHECK_OK(fire_trainer_step(t, 1));
    CHECK_NEAR(fire_trainer_rate(t), 0.1, 1e-8);
    CHECK_OK(fire_trainer_sync(t));
    fire_trainer_destroy(t);
}
