/* run.c - runs a training as threads and keeps what it gives. */
#include "run.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "data/source/writer.h"
#include "model/load.h"
#include "model/text.h"
#include "net/net_state.h"
#include "train/log.h"

double      run_losses[4096];
char        run_errors[64][512];
static char heard[1 << 16];

static void hear(void *arg, fire_log_level_t level, const char *file, int line,
                 const char *message)
{
    (void)arg, (void)level, (void)file, (void)line;
    strncat(heard, message, sizeof(heard) - strlen(heard) - 1);
}

void run_listen(void)
{
    heard[0] = '\0';
    fire_log_set_sink(hear, NULL, FIRE_INFO);
}

bool run_heard(const char *text)
{
    fire_log_set_sink(NULL, NULL, FIRE_INFO);
    return strstr(heard, text) != NULL;
}

void run_file(const char *name, const char *text)
{
    CHECK_OK(fire_file_write(test_path(name), text, strlen(text)));
}

/* Write text, with `instead` wherever `word` is. */
static void write_replaced(FILE *f, const char *text, const char *word,
                           const char *instead)
{
    const char *at;

    while ((at = strstr(text, word)) != NULL) {
        CHECK(fprintf(f, "%.*s%s", (int)(at - text), text, instead) >= 0);
        text = at + strlen(word);
    }
    CHECK(fputs(text, f) >= 0);
}

static void write_net(const char *text, const char *word, const char *instead)
{
    FILE *f = fopen(test_path("net.prototxt"), "w");

    CHECK(f != NULL);
    write_replaced(f, text, word, instead);
    CHECK(fclose(f) == 0);
}

void run_net_with(const char *name, const char *text, const char *instead)
{
    char  path[256];
    char *net;

    snprintf(path, sizeof(path), "tests/train/nets/%s.prototxt", name);
    CHECK_OK(fire_file_read_text(test_source(path), &net));
    write_net(net, "DIR", test_tmpdir());
    fire_free(net);
    if (text == NULL) return;
    CHECK_OK(fire_file_read_text(test_path("net.prototxt"), &net));
    CHECK(strstr(net, text) != NULL);
    write_net(net, text, instead);
    fire_free(net);
}

void run_net(const char *name)
{
    run_net_with(name, NULL, NULL);
}

/* Images whose brightness depends on the label, with noise: something to learn. */
static void put_image(fire_writer_t *w, int i, int channels, int size)
{
    fire_rng_key_t key = fire_rng_key(5, FIRE_RNG_TEST, 0, (uint64_t)i);
    Caffe__Datum   d   = CAFFE__DATUM__INIT;
    int            n   = channels * size * size;
    unsigned char *pixel, *packed;
    char           name[16];

    CHECK_OK(FIRE_NEW(&pixel, n));
    d.has_channels = d.has_height = d.has_width = d.has_data = d.has_label = 1;
    d.channels                                                             = channels;
    d.height = d.width = size;
    d.label            = (int)fire_rng_below(key, 0, 10);
    for (int k = 0; k < n; k++)
        pixel[k] = (unsigned char)(d.label * 20 +
                                   (int)fire_rng_below(key, (uint64_t)k + 1, 50));
    d.data = (ProtobufCBinaryData){(size_t)n, pixel};
    CHECK_OK(FIRE_NEW(&packed, caffe__datum__get_packed_size(&d)));
    snprintf(name, sizeof(name), "%08d", i);
    CHECK_OK(fire_writer_put(w, name, packed, caffe__datum__pack(&d, packed)));
    fire_free(pixel);
    fire_free(packed);
}

const char *run_data(int n, int channels, int size)
{
    static char    path[600];
    fire_writer_t *w;

    snprintf(path, sizeof(path), "%s/data", test_tmpdir());
    CHECK_OK(fire_writer_open("lmdb", path, &w));
    for (int i = 0; i < n; i++)
        put_image(w, i, channels, size);
    CHECK_OK(fire_writer_commit(w));
    return path;
}

typedef struct worker {
    const run_t *run;
    fire_team_t *team;
    int          rank;
    uint64_t     hash;

    fire_trainer_t *trainer; /* of a run with solve and before */

    fire_runlog_t *log;
} worker_t;

static uint64_t hash_weights(const fire_net_t *net)
{
    uint64_t h = 14695981039346656037u;

    for (int i = 0; i < net->nparam; i++) {
        const float         *w;
        const unsigned char *byte;

        CHECK_OK(fire_blob_read(net->learn[i].blob, FIRE_DATA, FIRE_CPU, &w));
        byte = (const unsigned char *)w;
        for (int64_t k = 0; k < fire_blob_count(net->learn[i].blob) * 4; k++)
            h = (h ^ byte[k]) * 1099511628211u;
    }
    return h;
}

static void on_event(void *arg, const fire_train_event_t *e)
{
    worker_t *w = arg;

    if (w->rank == 0 && e->kind == FIRE_TRAIN_ITERATION)
        run_losses[e->iter - 1] = e->loss;
    if (w->log != NULL) fire_train_log_event(w->log, e);
}

static void on_measured(void *arg, const fire_measured_t *m)
{
    worker_t *w = arg;

    if (w->log != NULL) fire_runlog_add_measured(w->log, m);
}

static void open_log(const fire_trainer_t *t, worker_t *w)
{
    static const char *const command[] = {"firecaffe", "train", "a b"};
    char                     path[3][1100];
    fire_runlog_options_t    o = {.path        = path[0],
                                  .append      = w->run->resume != NULL,
                                  .trace       = path[1],
                                  .tensorboard = path[2],
                                  .kind        = "train",
                                  .argc        = 3,
                                  .argv        = command};

    snprintf(path[0], sizeof(path[0]), "%s/run.jsonl", test_tmpdir());
    snprintf(path[1], sizeof(path[1]), "%s/trace.json", test_tmpdir());
    snprintf(path[2], sizeof(path[2]), "%s/board", test_tmpdir());
    CHECK_OK(fire_train_log_open(&o, t, &w->log));
}

static fire_status_t call_before(void *arg)
{
    const worker_t *w = arg;

    return w->run->before(w->trainer);
}

/* solve() with `before` as a hook. */
static void solve_with(fire_trainer_t *t, worker_t *w)
{
    fire_trainer_hooks_t hooks = FIRE_TRAINER_HOOKS_INIT;

    w->trainer  = t;
    hooks.arg   = w;
    hooks.start = call_before;
    CHECK_OK(fire_trainer_set_hooks(t, &hooks));
    if (fire_trainer_solve(t) < 0)
        snprintf(run_errors[w->rank], sizeof(run_errors[0]), "%s", fire_last_error());
}

static void iterate(fire_trainer_t *t, worker_t *w)
{
    int64_t       stop = w->run->stop_at > 0 ? w->run->stop_at : t->param->max_iter;
    fire_status_t st;

    if (w->run->solve) {
        if (w->run->log && w->rank == 0) open_log(t, w);
        st = fire_trainer_solve(t);
        fire_runlog_close(w->log, st);
        CHECK_OK(st);
        return;
    }
    while (t->solver->iter < stop) {
        int64_t i = t->solver->iter;
        double  loss;

        CHECK_OK(fire_trainer_iterate(t, &loss));
        if (w->rank == 0) run_losses[i] = loss;
    }
    CHECK_OK(fire_trainer_sync(t));
}

static void iterate_until_failure(fire_trainer_t *t, const worker_t *w)
{
    fire_status_t st = FIRE_OK;
    double        loss;

    while (t->solver->iter < t->param->max_iter && st >= 0) {
        st = w->run->before(t);
        if (st >= 0) st = fire_trainer_iterate(t, &loss);
    }
    if (st >= 0) st = fire_trainer_sync(t);
    if (st >= 0) return;
    if (t->options.comm != NULL) fire_comm_fail(t->options.comm);
    snprintf(run_errors[w->rank], sizeof(run_errors[0]), "%s", fire_last_error());
}

/* Workers share it, each with a queue of its own. */
static void open_gpu(const char *precision, fire_ctx_t *ctx)
{
    CHECK_OK(fire_gpu_open(0, &ctx->stream));
    ctx->place     = FIRE_GPU;
    ctx->precision = strcmp(precision, "bf16") == 0   ? FIRE_BF16
                     : strcmp(precision, "fp16") == 0 ? FIRE_F16
                                                      : FIRE_F32;
}

static void *work(void *arg)
{
    worker_t               *w = arg;
    fire_trainer_options_t  o = FIRE_TRAINER_OPTIONS_INIT;
    fire_comm_options_t     c = FIRE_COMM_OPTIONS_INIT;
    Caffe__SolverParameter *p;
    fire_trainer_t         *t;
    char                    text[4096], path[1100];
    int n = snprintf(text, sizeof(text), w->run->solver, test_tmpdir(), test_tmpdir());

    snprintf(path, sizeof(path), "%s/control", test_tmpdir());
    CHECK_OK(fire_text_parse(text, (size_t)n, "solver",
                             &caffe__solver_parameter__descriptor,
                             (ProtobufCMessage **)&p));
    if (w->run->timeout > 0) c.timeout = w->run->timeout;
    if (w->team != NULL)
        CHECK_OK(fire_comm_open_threads(w->team, w->rank, &c, &o.comm));
    if (w->run->gpu != NULL) open_gpu(w->run->gpu, &o.ctx);
    if (w->run->control) o.control = path;
    o.ctx.threads = 1;
    o.measure     = w->run->log;
    o.trace       = 5;
    o.arg         = w;
    o.event       = on_event;
    o.measured    = on_measured;
    CHECK_OK(fire_trainer_create(p, &o, &t));
    if (w->run->resume != NULL) {
        snprintf(text, sizeof(text), "%s/snap_iter_%s.solverstate", test_tmpdir(),
                 w->run->resume);
        CHECK_OK(fire_trainer_restore(t, text));
    }
    if (w->run->before != NULL && w->run->solve)
        solve_with(t, w);
    else if (w->run->before != NULL)
        iterate_until_failure(t, w);
    else
        iterate(t, w);
    w->hash = hash_weights(t->net);
    fire_trainer_destroy(t);
    fire_gpu_close(o.ctx.stream);
    fire_comm_close(o.comm);
    fire_message_free(p);
    return NULL;
}

uint64_t run_train(const run_t *r)
{
    pthread_t    thread[64];
    worker_t     w[64];
    fire_team_t *team = NULL;

    memset(run_errors, 0, sizeof(run_errors));
    if (r->workers > 1) CHECK_OK(fire_team_create(r->workers, &team));
    for (int i = 0; i < r->workers; i++) {
        w[i] = (worker_t){.run = r, .team = team, .rank = i};
        CHECK(pthread_create(&thread[i], NULL, work, &w[i]) == 0);
    }
    for (int i = 0; i < r->workers; i++)
        pthread_join(thread[i], NULL);
    for (int i = 1; i < r->workers; i++)
        CHECK(w[i].hash == w[0].hash || r->before != NULL);
    fire_team_destroy(team);
    return w[0].hash;
}
