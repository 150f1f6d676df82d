/* A data set in memory, over several workers. */
#include "data/store.h"

#include <pthread.h>
#include <stdatomic.h>

#include "data/order.h"
#include "layers/data/data.h"
#include "rig.h"

enum { RECORDS = 100, WORKERS = 4 };

/* ---- a source that counts how often it is read: record i is i % 7 + 1 bytes of i ---- */

typedef struct counted {
    fire_source_t base;
    atomic_int    reads;
    int64_t       bad; /* record that cannot be read */
} counted_t;

static fire_status_t counted_read(fire_source_t *base, int64_t i, fire_buffer_t *b,
                                  fire_record_t *r)
{
    counted_t *c = (counted_t *)base;

    if (c->bad == i && c->reads >= RECORDS) return FIRE_FAIL(FIRE_ERR_IO, "bad disk");
    c->reads++;
    FIRE_TRY(fire_grow(&b->bytes, &b->cap, 8, 1));
    memset(b->bytes, (int)i, 8);
    *r = (fire_record_t){b->bytes, (size_t)(i % 7 + 1)};
    return FIRE_OK;
}

static void counted_key(const fire_source_t *base, int64_t i, char text[FIRE_KEY_TEXT])
{
    (void)base;
    snprintf(text, FIRE_KEY_TEXT, "%d", (int)i);
}

static void counted_close(fire_source_t *base)
{
    (void)base;
}

static const fire_source_ops_t counted_ops = {"counted",     "",           NULL,
                                              counted_close, counted_read, counted_key};

static void counted_init(counted_t *c)
{
    *c = (counted_t){.base = {&counted_ops, "path", RECORDS}, .bad = -1};
}

static void check_record(fire_source_t *s, int64_t i, fire_buffer_t *b)
{
    fire_record_t r;

    CHECK_OK(fire_source_read(s, i, b, &r));
    CHECK_EQ(r.n, i % 7 + 1);
    CHECK(r.bytes[0] == i && r.bytes[r.n - 1] == i);
}

TEST(one_worker_reads_the_file_once_and_then_memory)
{
    fire_store_options_t o = {.parts = 1, .batch_size = 10};
    fire_moment_t        m = FIRE_MOMENT_INIT;
    fire_buffer_t        b = {0};
    counted_t            file;
    fire_source_t       *s;
    int64_t              bytes;
    int                  reads;

    counted_init(&file);
    CHECK_OK(fire_store_open(&file.base, &o, &s));
    CHECK_OK(fire_store_prepare(s, &m));
    CHECK_EQ(fire_store_held(s, &bytes), RECORDS);
    CHECK_EQ(bytes, 14 * 28 + 1 + 2);
    reads = file.reads;
    for (m.step = 0; m.step < 35; m.step++) {
        CHECK_OK(fire_store_prepare(s, &m));
        for (int64_t i = 0; i < RECORDS; i++)
            check_record(s, i, &b);
    }
    CHECK_EQ(file.reads, reads);
    fire_buffer_fini(&b);
    fire_source_close(s);
}

/* ---- workers as threads; parts go through memory that all see ---- */

typedef struct team {
    pthread_barrier_t        meet;
    const fire_store_part_t *send[WORKERS];
    const uint8_t           *bytes[WORKERS];
    int64_t                  moved[WORKERS];
} team_t;

typedef struct worker {
    pthread_t thread;
    team_t   *team;
    int       part;
    bool      shuffle;
} worker_t;

static fire_status_t exchange(void *arg, uint8_t *bytes, const fire_store_part_t *send,
                              const fire_store_part_t *recv)
{
    worker_t *w = arg;
    team_t   *t = w->team;

    t->send[w->part]  = send;
    t->bytes[w->part] = bytes;
    pthread_barrier_wait(&t->meet);
    for (int from = 0; from < WORKERS; from++) {
        fire_store_part_t theirs = t->send[from][w->part];

        CHECK_EQ(theirs.n, recv[from].n);
        CHECK(from != w->part || theirs.n == 0);
        memcpy(bytes + recv[from].at, t->bytes[from] + theirs.at, (size_t)theirs.n);
        t->moved[w->part] += theirs.n;
    }
    pthread_barrier_wait(&t->meet);
    return FIRE_OK;
}

/* Four lanes on each worker, batches of 33: uneven lanes, epochs inside of batches. */
static void *work(void *arg)
{
    worker_t            *w = arg;
    fire_store_options_t o = {.part       = w->part,
                              .parts      = WORKERS,
                              .batch_size = 33,
                              .exchange   = exchange,
                              .arg        = w};
    fire_moment_t        m = {.seed = 3, .lanes = 4 * WORKERS, .shuffle = w->shuffle};
    fire_buffer_t        b = {0};
    counted_t            file;
    fire_source_t       *s;
    int64_t              bytes;
    int                  foreign = 0, before;

    counted_init(&file);
    CHECK_OK(fire_store_open(&file.base, &o, &s));
    for (m.step = 0; m.step < 60; m.step++) {
        CHECK_OK(fire_store_prepare(s, &m));
        before = file.reads;
        for (m.lane = 4 * w->part; m.lane < 4 * w->part + 4; m.lane++) {
            fire_slice_t slice = fire_moment_slice(&m, 33);

            for (int64_t k = slice.first; k < slice.first + slice.n; k++) {
                if (k / RECORDS != m.step * 33 / RECORDS) foreign++; /* next epoch's */
                check_record(s, fire_order_record(3, w->shuffle, RECORDS, k), &b);
            }
        }
        CHECK(file.reads - before <= foreign);
    }
    CHECK(fire_store_held(s, &bytes) < RECORDS / 2); /* about a quarter */
    CHECK(file.reads <= 2 * RECORDS + foreign);
    fire_buffer_fini(&b);
    fire_source_close(s);
    return NULL;
}

static void run_team(bool shuffle)
{
    team_t   t = {.moved = {0}};
    worker_t w[WORKERS];

    pthread_barrier_init(&t.meet, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        w[i] = (worker_t){.team = &t, .part = i, .shuffle = shuffle};
        CHECK_EQ(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(w[i].thread, NULL);
    for (int i = 0; i < WORKERS; i++)
        CHECK(t.moved[i] > 0);
    pthread_barrier_destroy(&t.meet);
}

TEST(workers_hold_a_part_each_and_pass_records_on_between_epochs)
{
    run_team(true);
}

TEST(without_shuffling_too_records_move_when_batches_shift)
{
    run_team(false);
}

TEST(a_store_that_would_not_fit_says_how_much_it_needs)
{
    fire_store_options_t o = {.parts = 1, .batch_size = 10, .budget = 1000};
    fire_moment_t        m = FIRE_MOMENT_INIT;
    counted_t            file;
    fire_source_t       *s;

    counted_init(&file);
    CHECK_OK(fire_store_open(&file.base, &o, &s));
    CHECK_FAILS(fire_store_prepare(s, &m), FIRE_ERR_NOMEM, "path: keeping");
    fire_source_close(s);
}

TEST(an_error_while_loading_is_passed_on)
{
    fire_store_options_t o = {.parts = 1, .batch_size = 10};
    fire_moment_t        m = FIRE_MOMENT_INIT;
    counted_t            file;
    fire_source_t       *s;

    counted_init(&file);
    file.bad = 50;
    CHECK_OK(fire_store_open(&file.base, &o, &s));
    CHECK_FAILS(fire_store_prepare(s, &m), FIRE_ERR_IO,
                "path, record \"50\": bad disk");
    fire_source_close(s);
}

TEST(a_data_layer_gives_the_same_from_memory_as_from_the_file)
{
    fire_store_options_t o = {.parts = 1};
    const char          *text =
        format("name: 'd' type: 'Data' top: 'data' top: 'label' data_param { source: "
               "'%s' batch_size: 7 backend: LMDB shuffle: true } transform_param { "
               "crop_size: 3 mirror: true }",
               make_db("lmdb", "db", 23, 2, 5, 5));
    rig_t file, memory;

    CHECK_OK(rig_open(&file, text, CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_open(&memory, text, CAFFE__PHASE__TRAIN));
    CHECK_OK(fire_data_keep_in_memory(&memory.layer, &o));
    for (int64_t step = 0; step < 15; step++) {
        file.moment.step = memory.moment.step = step;
        CHECK_OK(rig_forward(&file));
        CHECK_OK(rig_forward(&memory));
        CHECK(memcmp(rig_top(&file, 0), rig_top(&memory, 0), 7 * 18 * sizeof(float)) ==
              0);
        CHECK(memcmp(rig_top(&file, 1), rig_top(&memory, 1), 7 * sizeof(float)) == 0);
    }
    rig_close(&file);
    rig_close(&memory);
}
