/* Trainers whose data the caller gives, in arrays or by a function. Tests
 * src/api/trainer.c with fire_net_set_arrays() and fire_net_set_source(). */
#include "line.h"

enum { N = 24, SIZE = 4 };

static const char solver[] =
    "net_param { "
    "layer { name: 'data' type: 'MemoryData' top: 'x' top: 'label' "
    "  memory_data_param { batch_size: 8 channels: 1 height: 2 width: 2 } } "
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' "
    "  inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } } "
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'y' bottom: 'label' top: 'l' "
    "  } } "
    "base_lr: 0.5 lr_policy: 'fixed' max_iter: 30 snapshot_after_train: false "
    "random_seed: 7 solver_mode: CPU fire { lanes: 4 }";

/* The label tells which of the first two values is larger. */
static void fill(float data[N * SIZE], float label[N])
{
    for (int i = 0; i < N * SIZE; i++)
        data[i] = (float)((i * 7919) % 101) / 50 - 1;
    for (int i = 0; i < N; i++)
        label[i] = data[i * SIZE] > data[i * SIZE + 1];
}

typedef struct job {
    double losses[2]; /* of the first and the last iteration, on rank 0 */
    float  w[4];
    bool   fetched; /* samples come from a function */
} job_t;

/* What a function that brings samples remembers. */
typedef struct source {
    const float   *data, *label;
    float          x[N * SIZE], y[N];
    fire_samples_t next; /* what it was told of last */
    int            calls, guessed;
} source_t;

static fire_status_t fetch(void *arg, const fire_samples_t *s, int n, const float **x_p,
                           const float **y_p)
{
    source_t *src = arg;

    CHECK(n > 1);
    if (src->calls++ > 0 && memcmp(&src->next, s, sizeof(*s)) == 0) src->guessed++;
    src->next = s[1];
    for (int i = 0; i < (int)s->n; i++) {
        int at = (int)((s->first + i * s->stride) % N);

        memcpy(src->x + i * SIZE, src->data + at * SIZE, SIZE * sizeof(float));
        src->y[i] = src->label[at];
    }
    *x_p = src->x;
    *y_p = src->y;
    return src->calls < 1000 ? FIRE_OK : fire_fail(FIRE_ERR_IO, "the source is dry");
}

static void on_event(void *arg, const fire_train_event_t *e)
{
    job_t *job = arg;

    if (e->kind == FIRE_TRAIN_ITERATION) job->losses[e->iter > 1] = e->loss;
}

static fire_status_t train(void *arg, fire_comm_t *comm)
{
    job_t                *job   = arg;
    fire_trainer_config_t c     = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_hooks_t  hooks = FIRE_TRAINER_HOOKS_INIT;
    float                 data[N * SIZE], label[N];
    source_t              source = {.data = data, .label = label};
    fire_trainer_t       *t;
    fire_status_t         st;

    fill(data, label);
    c.comm = comm;
    CHECK_OK(fire_trainer_from_text(solver, strlen(solver), &c, &t));
    if (comm == NULL || fire_comm_rank(comm) == 0) {
        hooks.arg   = job;
        hooks.event = on_event;
    }
    CHECK_OK(fire_trainer_set_hooks(t, &hooks));
    if (job->fetched)
        CHECK_OK(fire_net_set_source(fire_trainer_net(t), 0, fetch, &source));
    else
        CHECK_OK(fire_net_set_arrays(fire_trainer_net(t), 0, data, label, N));
    st = fire_trainer_solve(t);
    CHECK_EQ(source.guessed, source.calls > 0 ? source.calls - 1 : 0);
    if (st >= 0 && hooks.event != NULL)
        memcpy(job->w,
               line_values(fire_net_param_blob(fire_trainer_net(t), 0), FIRE_DATA),
               sizeof(job->w));
    fire_trainer_destroy(t);
    return st;
}

TEST(a_trainer_learns_from_arrays_of_the_caller)
{
    job_t job = {0};

    CHECK_OK(train(&job, NULL));
    CHECK(job.losses[1] < 0.6 * job.losses[0]);
}

TEST(workers_share_the_samples_of_arrays)
{
    job_t alone = {0}, job = {0};

    CHECK_OK(train(&alone, NULL));
    for (int n = 2; n <= 4; n *= 2) {
        CHECK_OK(fire_comm_run_threads(n, NULL, train, &job));
        CHECK(memcmp(alone.w, job.w, sizeof(job.w)) == 0);
    }
}

TEST(a_function_brings_each_worker_its_samples)
{
    job_t arrays = {0}, job = {.fetched = true};

    CHECK_OK(train(&arrays, NULL));
    CHECK_OK(train(&job, NULL));
    CHECK(memcmp(arrays.w, job.w, sizeof(job.w)) == 0);
    for (int n = 2; n <= 4; n *= 2) {
        CHECK_OK(fire_comm_run_threads(n, NULL, train, &job));
        CHECK(memcmp(arrays.w, job.w, sizeof(job.w)) == 0);
    }
}

TEST(a_function_that_brings_samples_may_fail)
{
    float           data[N * SIZE], label[N];
    source_t        source = {.data = data, .label = label, .calls = 999};
    fire_trainer_t *t;

    fill(data, label);
    CHECK_OK(fire_trainer_from_text(solver, strlen(solver), NULL, &t));
    CHECK_OK(fire_net_set_source(fire_trainer_net(t), 0, fetch, &source));
    CHECK_FAILS(fire_trainer_step(t, 1), FIRE_ERR_IO, "the source is dry");
    CHECK_FAILS(fire_net_set_source(fire_trainer_net(t), 1, fetch, &source),
                FIRE_ERR_INVALID, "only MemoryData");
    fire_trainer_destroy(t);
}

TEST(a_trainer_without_its_arrays_says_so)
{
    fire_trainer_t *t;

    CHECK_OK(fire_trainer_from_text(solver, strlen(solver), NULL, &t));
    CHECK_FAILS(fire_trainer_step(t, 1), FIRE_ERR_INVALID, "must be given arrays");
    fire_trainer_destroy(t);
}

TEST(arrays_go_on_where_they_are_when_the_iteration_is_set)
{
    fire_trainer_t *t;
    float           data[N * SIZE], label[N];
    const float    *x;

    fill(data, label);
    CHECK_OK(fire_trainer_from_text(solver, strlen(solver), NULL, &t));
    CHECK_OK(fire_net_set_arrays(fire_trainer_net(t), 0, data, label, N));
    CHECK_OK(fire_trainer_step(t, 1));
    CHECK_OK(fire_trainer_set_iter(t, 17));
    CHECK_OK(fire_trainer_gradients(t, NULL));
    /* lane 3 of the second batch: samples 14 and 15 */
    x = line_values(fire_net_blob(fire_trainer_net(t), 0), FIRE_DATA);
    CHECK(memcmp(x, data + 14 * SIZE, 2 * SIZE * sizeof(float)) == 0);
    fire_trainer_destroy(t);
}
