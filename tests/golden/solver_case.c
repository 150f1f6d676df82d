/* solver_case.c - training runs: losses before every update, weights and solver state
 * after some, and going on from Caffe's own snapshots. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"
#include "device/cpu/blas.h"
#include "device/gpu.h"
#include "model/blob_proto.h"
#include "model/load.h"
#include "net/net_state.h"
#include "train/trainer.h"

typedef struct run {
    Caffe__SolverParameter *param;
    fire_trainer_t         *trainer;
    fire_stream_t          *stream;         /* of a worker among several, on a GPU */
    double                  accuracy, loss; /* of the last test */
} run_t;

static void hear(void *arg, const fire_train_event_t *e)
{
    run_t *r = arg;

    if (e->kind != FIRE_TRAIN_TEST) return;
    if (strcmp(e->name, "accuracy") == 0) r->accuracy = e->value;
    if (strcmp(e->name, "loss") == 0) r->loss = e->value;
}

static void close_run(run_t *r)
{
    fire_trainer_destroy(r->trainer);
    fire_message_free(r->param);
    fire_gpu_close(r->stream);
}

/* Traces are from scratch: Caffe had this seed, and filled the weights in `init`. */
enum { TRACE_SEED = 20160601 };

static fire_status_t add_settings(const golden_case_t *c, bool parallel,
                                  Caffe__SolverParameter *p)
{
    bool traced = strcmp(fire_json_string_or(c->json, "kind", ""), "trace") == 0;

    if (!parallel && !traced) return FIRE_OK;
    FIRE_TRY(fire_message_add_message(p, "fire", &p->fire));
    if (traced) {
        p->has_random_seed = true;
        p->random_seed     = TRACE_SEED;
        return fire_message_add_string(p->fire, "rng", "caffe");
    }
    /* A whole batch for each worker, and one rank after another in the sum. */
    FIRE_TRY(fire_message_add_string(p->fire, "batch", "per-worker"));
    return fire_message_add_string(p->fire, "comm", "ps");
}

/* comm: one of several workers, each with a GPU queue of its own. */
static fire_status_t open_run(const golden_case_t *c, fire_comm_t *comm, run_t *r)
{
    fire_trainer_options_t o = FIRE_TRAINER_OPTIONS_INIT;
    fire_status_t          st;

    *r = (run_t){0};
    FIRE_TRY(
        fire_solver_param_load(fire_json_string_or(c->json, "solver", ""), &r->param));
    o.ctx   = golden_ctx();
    o.event = hear;
    o.arg   = r;
    o.comm  = comm;
    st      = FIRE_OK;
    if (comm != NULL && o.ctx.place == FIRE_GPU) st = fire_gpu_open(0, &r->stream);
    if (r->stream != NULL) o.ctx.stream = r->stream;
    if (st >= 0) st = add_settings(c, comm != NULL, r->param);
    if (st >= 0) st = fire_trainer_create(r->param, &o, &r->trainer);
    if (st < 0) close_run(r);
    return st;
}

static fire_layer_t *layer_of(const fire_net_t *net, const fire_json_t *learnable)
{
    return fire_net_find_layer(net, learnable->item[0].string);
}

/* Norm of every learnable parameter, as Caffe's list orders them. */
static fire_status_t norms(const golden_case_t *c, const fire_net_t *net, float *norm)
{
    const fire_json_t *list = fire_json_get(c->json, "learnable_params");

    for (int64_t i = 0; i < list->n; i++) {
        fire_layer_t *l    = layer_of(net, &list->item[i]);
        fire_blob_t  *blob = l->blob[(int)list->item[i].item[1].number];
        double        sum  = 0;
        const float  *x;

        FIRE_TRY(fire_blob_read(blob, FIRE_DATA, FIRE_CPU, &x));
        for (int64_t k = 0; k < blob->count; k++)
            sum += (double)x[k] * (double)x[k];
        norm[i] = (float)sqrt(sum);
    }
    return FIRE_OK;
}

static fire_status_t compare_finals(golden_case_t *c, const fire_net_t *net)
{
    const fire_json_t *list  = fire_json_get(c->json, "learnable_params");
    const fire_json_t *files = fire_json_get(c->json, "final_params");

    for (int64_t i = 0; list != NULL && i < list->n; i++) {
        fire_layer_t *l = layer_of(net, &list->item[i]);

        if (files->item[i].string == NULL) continue; /* left out: large */
        FIRE_TRY(golden_compare_blob(c, files->item[i].string,
                                     l->blob[(int)list->item[i].item[1].number],
                                     FIRE_DATA));
    }
    return FIRE_OK;
}

/* All parameters of the net against those of a model file. */
static fire_status_t compare_model(golden_case_t *c, const fire_net_t *net,
                                   const char *path)
{
    Caffe__NetParameter *model;

    FIRE_TRY(fire_net_param_load_weights(path, &model));
    for (size_t i = 0; i < model->n_layer; i++) {
        const Caffe__LayerParameter *p = model->layer[i];
        fire_layer_t                *l = fire_net_find_layer(net, p->name);

        for (size_t k = 0; l != NULL && k < p->n_blobs; k++) {
            fire_scratch_t want = {0};
            const float   *got;
            char           what[128];
            int64_t        n = fire_blob_count(l->blob[k]);

            snprintf(what, sizeof(what), "%s: %s blob %zu", path, p->name, k);
            FIRE_TRY(fire_scratch_fit(&want, n));
            FIRE_TRY(fire_blob_proto_read(p->blobs[k], FIRE_DATA, what, n, want.x));
            FIRE_TRY(fire_blob_read(l->blob[k], FIRE_DATA, FIRE_CPU, &got));
            golden_compare(c, what, n, got, want.x);
            fire_scratch_free(&want);
        }
    }
    fire_message_free(model);
    return FIRE_OK;
}

/* The solver's history against that of a state file. */
static fire_status_t compare_state(golden_case_t *c, const fire_solver_t *s,
                                   const char *path)
{
    Caffe__SolverState *state;
    int                 n = s->rule->nhistory * s->net->nparam;

    FIRE_TRY(fire_solver_state_load(path, &state));
    if (state->n_history != (size_t)n)
        golden_reject(c, "%s has %zu histories, we have %d", path, state->n_history, n);
    for (int i = 0; i < n && c->passed; i++) {
        int64_t        count = fire_blob_count(s->history[i]);
        fire_scratch_t want  = {0};
        const float   *got;
        char           what[128];

        snprintf(what, sizeof(what), "%s: history %d", path, i);
        FIRE_TRY(fire_scratch_fit(&want, count));
        FIRE_TRY(
            fire_blob_proto_read(state->history[i], FIRE_DATA, what, count, want.x));
        FIRE_TRY(fire_blob_read(s->history[i], FIRE_DATA, FIRE_CPU, &got));
        golden_compare(c, what, count, got, want.x);
        fire_scratch_free(&want);
    }
    fire_message_free(state);
    return FIRE_OK;
}

/* Caffe's snapshot of this iteration, if there is one: what it holds is ours too. */
static fire_status_t compare_snapshot(golden_case_t *c, const run_t *r)
{
    const fire_json_t *snapshots = fire_json_get(c->json, "snapshots"), *files;
    char               iter[32];

    snprintf(iter, sizeof(iter), "%lld", (long long)fire_trainer_iter(r->trainer));
    files = fire_json_get(snapshots, iter);
    if (files == NULL) return FIRE_OK;
    FIRE_TRY(compare_model(c, fire_trainer_net(r->trainer), files->item[0].string));
    return compare_state(c, fire_trainer_solver(r->trainer), files->item[1].string);
}

enum { MAX_ITERATIONS = 1000, MAX_PARAMS = 16 };

/* Iterate n times; losses and, if wanted, learning rates and norms on the way. */
static fire_status_t iterate(golden_case_t *c, run_t *r, int n, float *loss,
                             float *rate, float *norm)
{
    const fire_json_t *list = fire_json_get(c->json, "learnable_params");

    for (int i = 0; i < n; i++) {
        double one;

        FIRE_TRY(fire_trainer_iterate(r->trainer, &one));
        loss[i] = (float)one;
        if (rate != NULL) rate[i] = fire_trainer_rate(r->trainer);
        if (norm != NULL)
            FIRE_TRY(norms(c, fire_trainer_net(r->trainer), norm + i * list->n));
        FIRE_TRY(compare_snapshot(c, r));
    }
    return FIRE_OK;
}

/* A fresh trainer goes on from Caffe's state at iteration 10. */
static fire_status_t resume(golden_case_t *c)
{
    const char *want = fire_json_string_or(c->json, "losses_resume10", NULL);
    float       loss[5];
    run_t       r;

    const fire_json_t *files = fire_json_get(fire_json_get(c->json, "snapshots"), "10");
    fire_status_t      st;

    if (want == NULL || files == NULL) return FIRE_OK;
    FIRE_TRY(open_run(c, NULL, &r));
    st = fire_trainer_restore(r.trainer, files->item[1].string);
    for (int i = 0; i < 5 && st >= 0; i++) {
        double one = 0;

        st      = fire_trainer_iterate(r.trainer, &one);
        loss[i] = (float)one;
    }
    close_run(&r);
    return st < 0 ? st : golden_compare_file(c, want, -1, NULL, 5, loss);
}

static fire_status_t train(golden_case_t *c, run_t *r)
{
    int          n      = (int)fire_json_number_or(c->json, "iterations", 0);
    int64_t      nlearn = fire_json_get(c->json, "learnable_params")->n;
    static float loss[MAX_ITERATIONS], rate[MAX_ITERATIONS],
        norm[MAX_PARAMS * MAX_ITERATIONS];

    if (n > MAX_ITERATIONS || nlearn > MAX_PARAMS)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "too many iterations or parameters");
    FIRE_TRY(fire_trainer_load_weights(r->trainer,
                                       fire_json_string_or(c->json, "init", "")));
    FIRE_TRY(iterate(c, r, n, loss, rate, norm));
    FIRE_TRY(golden_compare_file(c, fire_json_string_or(c->json, "losses", ""), -1,
                                 NULL, n, loss));
    FIRE_TRY(golden_compare_file(c, fire_json_string_or(c->json, "lr", ""), -1, NULL, n,
                                 rate));
    FIRE_TRY(golden_compare_file(c, fire_json_string_or(c->json, "param_l2", ""), -1,
                                 NULL, n * nlearn, norm));
    return compare_finals(c, fire_trainer_net(r->trainer));
}

fire_status_t golden_run_solver(golden_case_t *c)
{
    run_t         r;
    fire_status_t st;

    FIRE_TRY(open_run(c, NULL, &r));
    st = train(c, &r);
    close_run(&r);
    return st < 0 ? st : resume(c);
}

static fire_status_t trace(golden_case_t *c, run_t *r)
{
    const fire_json_t *test  = fire_json_get(c->json, "test");
    const char        *state = fire_json_string_or(c->json, "state", NULL);
    int                n     = (int)fire_json_number_or(c->json, "iterations", 0);
    static float       loss[MAX_ITERATIONS];
    float              got, want;

    if (n > MAX_ITERATIONS) return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "too long");
    FIRE_TRY(compare_model(c, fire_trainer_net(r->trainer),
                           fire_json_string_or(c->json, "init", "")));
    FIRE_TRY(iterate(c, r, n, loss, NULL, NULL));
    FIRE_TRY(golden_compare_file(c, fire_json_string_or(c->json, "losses", ""), -1,
                                 NULL, n, loss));
    /* Where rounding decides a ReLU, single weights of a long training go their own way
     * (by a tenth of the largest); losses do not. */
    if (golden_ctx().kernels != NULL) {
        FIRE_TRY(compare_model(c, fire_trainer_net(r->trainer),
                               fire_json_string_or(c->json, "final", "")));
        if (state != NULL)
            FIRE_TRY(compare_state(c, fire_trainer_solver(r->trainer), state));
    }
    FIRE_TRY(fire_trainer_test(r->trainer, 0));
    got  = (float)r->accuracy;
    want = (float)fire_json_number_or(test, "accuracy", -1);
    golden_compare(c, "test accuracy", 1, &got, &want);
    got  = (float)r->loss;
    want = (float)fire_json_number_or(test, "loss", -1);
    golden_compare(c, "test loss", 1, &got, &want);
    return FIRE_OK;
}

fire_status_t golden_run_trace(golden_case_t *c)
{
    run_t         r;
    fire_status_t st;

    FIRE_TRY(open_run(c, NULL, &r));
    st = trace(c, &r);
    close_run(&r);
    return st;
}

/* The loss of an iteration is the mean over ranks. */
static fire_status_t compare_rank_losses(golden_case_t *c, int n, int ranks,
                                         const float *loss)
{
    fire_npy_t npy;

    FIRE_TRY(fire_npy_load(fire_json_string_or(c->json, "losses_rank", ""), &npy));
    for (int i = 0; i < n && npy.count == (int64_t)n * ranks; i++) {
        float mean = 0;

        for (int r = 0; r < ranks; r++)
            mean += npy.data[i * ranks + r] / (float)ranks;
        golden_compare(c, "loss, mean of ranks", 1, &loss[i], &mean);
    }
    fire_npy_fini(&npy);
    return FIRE_OK;
}

/* A worker of a parallel case is a thread. The first one is compared. */
typedef struct rank {
    golden_case_t *c;
    fire_team_t   *team;
    int            number;
    pthread_t      thread;
    fire_status_t  status;
    char           error[512];
} rank_t;

static fire_status_t train_rank(const rank_t *rank, run_t *r)
{
    golden_case_t *c     = rank->c;
    int            n     = (int)fire_json_number_or(c->json, "iterations", 0);
    int            ranks = (int)fire_json_number_or(c->json, "ranks", 1);
    float          loss[MAX_ITERATIONS];
    double         unused;

    FIRE_TRY(fire_trainer_load_weights(r->trainer,
                                       fire_json_string_or(c->json, "init", "")));
    if (rank->number == 0) FIRE_TRY(iterate(c, r, n, loss, NULL, NULL));
    for (int i = 0; i < n && rank->number > 0; i++)
        FIRE_TRY(fire_trainer_iterate(r->trainer, &unused));
    FIRE_TRY(fire_trainer_sync(r->trainer));
    if (rank->number > 0) return FIRE_OK;
    FIRE_TRY(compare_rank_losses(c, n, ranks, loss));
    return compare_finals(c, fire_trainer_net(r->trainer));
}

static fire_status_t join_and_train(const rank_t *rank)
{
    fire_comm_t  *comm;
    run_t         r;
    fire_status_t st;

    FIRE_TRY(fire_comm_open_threads(rank->team, rank->number, &FIRE_COMM_OPTIONS_INIT,
                                    &comm));
    st = open_run(rank->c, comm, &r);
    if (st >= 0) {
        st = train_rank(rank, &r);
        if (st < 0) fire_comm_fail(comm);
        close_run(&r);
    }
    fire_comm_close(comm);
    return st;
}

static void *run_rank(void *arg)
{
    rank_t *rank = arg;

    rank->status = join_and_train(rank);
    snprintf(rank->error, sizeof(rank->error), "%s", fire_last_error());
    return NULL;
}

enum { MAX_RANKS = 16 };

fire_status_t golden_run_parallel(golden_case_t *c)
{
    int          ranks = (int)fire_json_number_or(c->json, "ranks", 1);
    rank_t       rank[MAX_RANKS];
    fire_team_t *team;

    if (fire_json_number_or(c->json, "iterations", 0) > MAX_ITERATIONS ||
        ranks > MAX_RANKS)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "too long or too many ranks");
    FIRE_TRY(fire_team_create(ranks, &team));
    for (int i = 0; i < ranks; i++) {
        rank[i] = (rank_t){.c = c, .team = team, .number = i};
        pthread_create(&rank[i].thread, NULL, run_rank, &rank[i]);
    }
    for (int i = 0; i < ranks; i++)
        pthread_join(rank[i].thread, NULL);
    fire_team_destroy(team);
    for (int i = 0; i < ranks; i++)
        if (rank[i].status < 0) return FIRE_FAIL(rank[i].status, "%s", rank[i].error);
    return FIRE_OK;
}
