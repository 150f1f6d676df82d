/* Time, and waiting loops. */
#include "base/clock.h"
#include "test.h"

TEST(the_clock_counts_seconds_and_never_goes_back)
{
    double begin = fire_clock_now(), last = begin;

    for (int i = 0; i < 10000; i++) {
        double now = fire_clock_now();

        CHECK(now >= last);
        last = now;
    }
    CHECK(last - begin < 60);
}

/* Then each further call is a nap of at least 50 us. */
TEST(a_long_wait_ends_in_naps)
{
    fire_pause_t pause = {0};
    uint32_t     before;
    double       begin;

    do {
        before = pause.idle;
        fire_pause(&pause);
    } while (pause.idle != before);
    begin = fire_clock_now();
    for (int i = 0; i < 20; i++)
        fire_pause(&pause);
    CHECK(fire_clock_now() - begin >= 20 * 50e-6);
}

TEST(patience_delays_the_naps)
{
    fire_pause_t eager = {0}, patient = {.patience = 1000};

    for (int i = 0; i < 20000; i++) {
        fire_pause(&patient);
        if (i < 6000) fire_pause(&eager);
        if (patient.idle > eager.idle + 500) return;
    }
    test_fail(__FILE__, __LINE__, "both wait %u times", eager.idle);
}
