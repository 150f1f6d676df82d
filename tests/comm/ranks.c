/* ranks.c - a thread per rank, joined at the end. */
#include "ranks.h"

#include <pthread.h>

#include "test.h"

typedef struct job {
    fire_team_t               *team;
    const fire_comm_options_t *options;
    int                        rank;
    rank_fn_t                  fn;
    void                      *arg;
} job_t;

static void *be_a_rank(void *arg)
{
    job_t       *job = arg;
    fire_comm_t *c;

    CHECK_OK(fire_comm_open_threads(job->team, job->rank, job->options, &c));
    job->fn(c, job->arg);
    fire_comm_close(c);
    return NULL;
}

void run_ranks(int size, const fire_comm_options_t *options, rank_fn_t fn, void *arg)
{
    pthread_t    thread[64];
    job_t        job[64];
    fire_team_t *team;

    CHECK_OK(fire_team_create(size, &team));
    for (int r = 0; r < size; r++) {
        job[r] = (job_t){team, options, r, fn, arg};
        CHECK_EQ(pthread_create(&thread[r], NULL, be_a_rank, &job[r]), 0);
    }
    for (int r = 0; r < size; r++)
        pthread_join(thread[r], NULL);
    fire_team_destroy(team);
}

enum { TABLE = 1200000, STEP = 4001 }; /* ranks see the table from other places */

static float          table[TABLE];
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t i = 0; i < TABLE; i++) {
        uint32_t h = i * 2654435761u + 12345u;

        h ^= h >> 15;
        h *= 2246822519u;
        h ^= h >> 13;
        table[i] =
            ldexpf((float)(int32_t)(h & 0xffffff) - 0x800000, (int)(h >> 29) - 24);
    }
}

float contribution(int rank, size_t i)
{
    pthread_once(&table_made, make_table);
    return table[(size_t)rank * STEP + i];
}

void contribute(int rank, float *x, size_t n)
{
    pthread_once(&table_made, make_table);
    memcpy(x, table + (size_t)rank * STEP, n * sizeof(*x));
}

double exact_sum(int size, size_t i)
{
    double sum = 0;

    for (int r = 0; r < size; r++)
        sum += (double)contribution(r, i);
    return sum;
}

/* The sum of ranks first ... first + size - 1, elements at ... at + n - 1. */
static void sum_block(int first, int size, size_t at, float *x, size_t n)
{
    float right[256];
    int   half = 1;

    if (size == 1) {
        memcpy(x, table + (size_t)first * STEP + at, n * sizeof(*x));
        return;
    }
    while (2 * half < size)
        half *= 2;
    sum_block(first, half, at, x, n);
    sum_block(first + half, size - half, at, right, n);
    for (size_t i = 0; i < n; i++)
        x[i] += right[i];
}

void canonical_sum(int size, float *x, size_t n)
{
    pthread_once(&table_made, make_table);
    for (size_t at = 0; at < n; at += 256)
        sum_block(0, size, at, x + at, n - at < 256 ? n - at : 256);
}
