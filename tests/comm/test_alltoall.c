/* Messages from every rank to every other. */
#include "comm/alltoall.h"

#include "ranks.h"
#include "test.h"

enum { MOST = 6, LONGEST = 40 };

/* Rank a sends a * b numbers to rank b, all a + 100 * b; none if either is 0. */
static void exchange(fire_comm_t *c, void *arg)
{
    int         me = fire_comm_rank(c), size = fire_comm_size(c);
    fire_span_t send[MOST], recv[MOST];
    float       buf[2 * MOST * LONGEST];

    (void)arg;
    for (int round = 0; round < 5; round++) {
        for (int r = 0; r < size; r++) {
            size_t n = r == me ? 0 : (size_t)(r * me);

            send[r] = (fire_span_t){(size_t)r * LONGEST, n};
            recv[r] = (fire_span_t){(size_t)(MOST + r) * LONGEST, n};
            for (size_t i = 0; i < n; i++)
                buf[send[r].off + i] = (float)(me + 100 * r + round);
        }
        CHECK_OK(fire_comm_alltoall(c, buf, send, recv));
        for (int r = 0; r < size; r++)
            for (size_t i = 0; i < recv[r].len; i++)
                CHECK_EQ(buf[recv[r].off + i], r + 100 * me + round);
    }
}

TEST(everybody_gets_what_everybody_sent_him)
{
    for (int size = 1; size <= MOST; size++)
        run_ranks(size, &FIRE_COMM_OPTIONS_INIT, exchange, NULL);
}
