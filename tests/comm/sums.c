/* sums.c - sums of all algorithms beside those computed in a known order. */
#include "sums.h"

#include "test.h"

static void check_sum(fire_comm_t *c, const fire_algo_t *algo, const float *want,
                      const float *x, size_t count)
{
    int  size      = fire_comm_size(c), node[64];
    bool canonical = algo->flags & FIRE_ALGO_CANONICAL;

    for (int r = 0; r < size; r++)
        node[r] = fire_comm_node(c, r);
    canonical =
        fire_algo_is_canonical(algo, &(fire_coll_t){.size = size, .node = node});
    for (size_t i = 0; i < count; i += 1 + count / 997) {
        double exact = exact_sum(size, i);

        if (fabs((double)x[i] - exact) > 1e-5 * size)
            test_fail(__FILE__, __LINE__,
                      "%s, %d ranks, %zu elements: [%zu] = %g not %g", algo->name, size,
                      count, i, (double)x[i], exact);
    }
    if (canonical && memcmp(x, want, count * sizeof(*x)) != 0)
        test_fail(__FILE__, __LINE__, "%s, %d ranks, %zu elements: not canonical bits",
                  algo->name, size, count);
}

/* FNV-1a over the bits. */
static uint64_t digest(const float *x, size_t count)
{
    const unsigned char *byte = (const unsigned char *)x;
    uint64_t             h    = 14695981039346656037u;

    for (size_t i = 0; i < count * sizeof(*x); i += 1 + count / 100003)
        h = (h ^ byte[i]) * 1099511628211u;
    return h;
}

static void check_same_everywhere(fire_comm_t *c, const char *algo, const float *x,
                                  size_t count)
{
    uint64_t mine = digest(x, count), all[64];

    CHECK_OK(fire_comm_allgather(c, &mine, sizeof(mine), all));
    for (int r = 0; r < fire_comm_size(c); r++)
        if (all[r] != all[0])
            test_fail(__FILE__, __LINE__, "%s, %d ranks, %zu elements: rank %d differs",
                      algo, fire_comm_size(c), count, r);
}

static void sum_with(fire_comm_t *c, const fire_algo_t *algo, const float *want,
                     float *buf, size_t count, size_t piece)
{
    const fire_collective_options_t o = {.algo = algo->name, .piece = piece};
    fire_collective_t              *x;

    CHECK_OK(fire_collective_create(c, &o, buf, count, &x));
    for (int again = 0; again < 2; again++) {
        contribute(fire_comm_rank(c), buf, count);
        CHECK_OK(fire_collective_start(x));
        CHECK_OK(fire_collective_wait(x));
        check_sum(c, algo, want, buf, count);
        if (count > 10000) break;
    }
    fire_collective_destroy(x);
    check_same_everywhere(c, algo->name, buf, count);
}

void check_sums(fire_comm_t *c, const float *want, float *buf, size_t count,
                size_t piece)
{
    for (int a = 0; fire_algo_at(a) != NULL; a++)
        if (!(fire_algo_at(a)->flags & FIRE_ALGO_NATIVE))
            sum_with(c, fire_algo_at(a), want, buf, count, piece);
}
