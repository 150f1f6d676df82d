/* test_queue.c - queues of messages that are found by tag. */
#include "comm/transport/queue.h"
#include "test.h"

typedef struct message {
    fire_item_t item;
    int         number;
} message_t;

/* Five messages, tags 7 8 7 9 8. */
static void fill(fire_queue_t *q, message_t m[5])
{
    static const int tag[5] = {7, 8, 7, 9, 8};

    fire_queue_init(q);
    for (int i = 0; i < 5; i++) {
        m[i] = (message_t){.item.tag = tag[i], .number = i};
        fire_queue_add(q, &m[i]);
    }
}

static int take(fire_queue_t *q, int tag)
{
    message_t *m = fire_queue_take(q, tag);

    return m != NULL ? m->number : -1;
}

TEST(messages_of_one_tag_come_out_in_the_order_they_went_in)
{
    fire_queue_t q;
    message_t    m[5];

    fill(&q, m);
    CHECK_EQ(take(&q, 8), 1);
    CHECK_EQ(take(&q, 7), 0);
    CHECK_EQ(take(&q, 7), 2);
    CHECK_EQ(take(&q, 7), -1);
    CHECK_EQ(take(&q, 8), 4);
    CHECK_EQ(take(&q, 9), 3);
    CHECK(q.first == NULL);
}

TEST(a_queue_can_be_filled_again_after_its_last_message_was_taken_out)
{
    fire_queue_t q;
    message_t    m[5], more = {.item.tag = 8, .number = 5};

    fill(&q, m);
    fire_queue_drop(&q, &m[4]);
    fire_queue_add(&q, &more);
    CHECK_EQ(take(&q, 8), 1);
    CHECK_EQ(take(&q, 8), 5);
    fire_queue_drop(&q, &m[4]); /* not in it any more */
    CHECK_EQ(take(&q, 9), 3);
    CHECK_EQ(take(&q, 7), 0);
    CHECK_EQ(take(&q, 7), 2);
    fire_queue_add(&q, &m[4]);
    CHECK(q.first == &m[4].item);
}
