/* test_threads.c - messages between ranks of one process, without an executor. One
 * thread plays both ranks: no call blocks. */
#include "comm/transport/threads.h"
#include "test.h"

typedef struct two {
    fire_team_t      *team;
    fire_transport_t *tp[2];
} two_t;

static void begin(two_t *t)
{
    CHECK_OK(fire_team_create(2, &t->team));
    for (int r = 0; r < 2; r++) {
        CHECK_OK(fire_threads_open(t->team, r, &t->tp[r]));
        CHECK_OK(t->tp[r]->ops->reserve(t->tp[r], 4));
    }
}

static void end(two_t *t)
{
    for (int r = 0; r < 2; r++)
        t->tp[r]->ops->close(t->tp[r]);
    fire_team_destroy(t->team);
}

static fire_req_t send(two_t *t, int tag, char *text)
{
    fire_req_t req;

    CHECK_OK(
        t->tp[0]->ops->send(t->tp[0], 1, tag, text, strlen(text) + 1, false, &req));
    return req;
}

/* memory NULL: zero-copy */
static fire_req_t receive(two_t *t, int tag, char *memory, size_t len)
{
    fire_req_t req;

    CHECK_OK(t->tp[1]->ops->recv(t->tp[1], 0, tag, memory, len, &req));
    return req;
}

static fire_status_t test_of(const two_t *t, int rank, fire_req_t req,
                             fire_arrival_t *arrival_p)
{
    return t->tp[rank]->ops->test(t->tp[rank], req, arrival_p);
}

TEST(messages_are_matched_by_tag_and_keep_their_order)
{
    char           first[] = "first", second[] = "second", other[] = "other tag";
    char           a[16], b[16], c[16];
    fire_req_t     out[3], in[3];
    fire_arrival_t got;
    two_t          t;

    begin(&t);
    in[0]  = receive(&t, 1, a, sizeof(a)); /* posted before its send */
    out[0] = send(&t, 1, first);
    out[1] = send(&t, 2, other);
    out[2] = send(&t, 1, second);
    CHECK_EQ(test_of(&t, 1, in[0], NULL), FIRE_IN_PROGRESS);
    CHECK_OK(t.tp[1]->ops->poll(t.tp[1]));
    in[1] = receive(&t, 1, b, sizeof(b)); /* and after it */
    in[2] = receive(&t, 2, c, sizeof(c));
    CHECK_STR(a, "first");
    CHECK_STR(b, "second");
    CHECK_STR(c, "other tag");
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(test_of(&t, 1, in[k], &got), FIRE_OK);
        CHECK_EQ(test_of(&t, 0, out[k], NULL), FIRE_OK);
        t.tp[0]->ops->release(t.tp[0], out[k]);
        t.tp[1]->ops->release(t.tp[1], in[k]);
    }
    CHECK_EQ(got.len, sizeof(other));
    end(&t);
}

TEST(a_lent_message_belongs_to_the_receiver_until_it_is_released)
{
    char           text[] = "lent";
    fire_req_t     out, in;
    fire_arrival_t got;
    two_t          t;

    begin(&t);
    out = send(&t, 1, text);
    in  = receive(&t, 1, NULL, 0);
    CHECK_OK(t.tp[1]->ops->poll(t.tp[1]));
    CHECK_EQ(test_of(&t, 1, in, &got), FIRE_OK);
    CHECK(got.data == text && got.len == sizeof(text));
    CHECK_EQ(test_of(&t, 0, out, NULL), FIRE_IN_PROGRESS);
    t.tp[1]->ops->release(t.tp[1], in);
    CHECK_EQ(test_of(&t, 0, out, NULL), FIRE_OK);
    t.tp[0]->ops->release(t.tp[0], out);
    end(&t);
}

TEST(a_send_that_is_given_up_does_not_arrive)
{
    char       lost[] = "lost", kept[] = "kept", a[16] = "";
    fire_req_t in;
    two_t      t;

    begin(&t);
    t.tp[0]->ops->release(t.tp[0], send(&t, 1, lost));
    send(&t, 1, kept);
    in = receive(&t, 1, a, sizeof(a));
    CHECK_OK(t.tp[1]->ops->poll(t.tp[1]));
    CHECK_EQ(test_of(&t, 1, in, NULL), FIRE_OK);
    CHECK_STR(a, "kept");
    end(&t);
}

TEST(a_rank_without_slots_and_a_rank_that_failed_are_reported)
{
    char       text[] = "x";
    fire_req_t req;
    two_t      t;

    begin(&t);
    for (int k = 0; k < 4; k++)
        send(&t, k, text);
    CHECK_FAILS(t.tp[0]->ops->send(t.tp[0], 1, 9, text, 2, false, &req), FIRE_ERR_COMM,
                "rank 0 has no message slot left");
    t.tp[0]->ops->fail(t.tp[0], "disk full");
    CHECK_OK(t.tp[0]->ops->poll(t.tp[0]));
    CHECK_FAILS(t.tp[1]->ops->poll(t.tp[1]), FIRE_ERR_PEER, "rank 0: disk full");
    end(&t);
}
