/* The order of events. */
#include "sim/event_queue.h"

#include "test.h"

TEST(events_come_by_time_and_of_one_time_as_they_were_pushed)
{
    static const double time[] = {3, 1, 2, 1, 0.5, 3, 1, 2};
    static const int    want[] = {4, 1, 3, 6, 2, 7, 0, 5};
    fire_event_queue_t  queue  = {0};
    fire_event_t        event;

    for (int i = 0; i < 8; i++)
        CHECK_OK(fire_event_queue_push(&queue, time[i], 7, i));
    for (int i = 0; i < 8; i++) {
        CHECK(fire_event_queue_pop(&queue, INFINITY, &event));
        CHECK_EQ(event.what, want[i]);
        CHECK_EQ(event.kind, 7);
    }
    CHECK(!fire_event_queue_pop(&queue, INFINITY, &event));
    fire_event_queue_fini(&queue);
}

TEST(events_later_than_asked_for_stay)
{
    fire_event_queue_t queue = {0};
    fire_event_t       event;

    CHECK_OK(fire_event_queue_push(&queue, 5, 0, 0));
    CHECK(!fire_event_queue_pop(&queue, 4.9, &event));
    CHECK(fire_event_queue_pop(&queue, 5, &event));
    fire_event_queue_fini(&queue);
}

TEST(thousands_of_events_stay_in_order)
{
    fire_event_queue_t queue = {0};
    fire_event_t       event;
    double             last = -1;

    for (int64_t i = 0; i < 5000; i++)
        CHECK_OK(fire_event_queue_push(&queue, (double)(i * 7919 % 1009), 0, i));
    for (int i = 0; i < 5000; i++) {
        CHECK(fire_event_queue_pop(&queue, INFINITY, &event));
        CHECK(event.time >= last);
        last = event.time;
    }
    fire_event_queue_fini(&queue);
}
