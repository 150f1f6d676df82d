/* cores.c - how far two cores are apart: the time that a line of memory takes from one
 * to the other and back, ten times a second. On a virtual machine that changes, as the
 * host moves its cores about; what two workers send each other takes longer meanwhile.
 *
 *   bench_cores [SECONDS [CORE CORE]]    10, 0 and 1 unless told */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

enum { TURNS = 4000 };

static atomic_int ball;
static int        core[2] = {0, 1};

static void sit_on(int which)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(which, &set);
    if (sched_setaffinity(0, sizeof(set), &set) == 0) return;
    fprintf(stderr, "bench_cores: there is no core %d\n", which);
    exit(1);
}

/* Player 0 begins. */
static void play(int who)
{
    for (int k = 0; k < TURNS; k++) {
        while (atomic_load(&ball) != 2 * k + who)
            ;
        atomic_store(&ball, 2 * k + who + 1);
    }
}

static void *other_core(void *arg)
{
    sit_on(core[1]);
    play(1);
    return arg;
}

static double round_trip(void)
{
    pthread_t other;
    double    start;

    atomic_store(&ball, -1);
    if (pthread_create(&other, NULL, other_core, NULL) != 0) exit(1);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* wait until it runs */
    start = fire_clock_now();
    atomic_store(&ball, 0);
    play(0);
    start = fire_clock_now() - start;
    pthread_join(other, NULL);
    return start / TURNS;
}

int main(int argc, char **argv)
{
    int times = 10 * (argc > 1 ? atoi(argv[1]) : 10);

    if (argc == 4) {
        core[0] = atoi(argv[2]);
        core[1] = atoi(argv[3]);
    }
    if (core[0] == core[1]) {
        fprintf(stderr, "bench_cores: name two different cores\n");
        return 1;
    }
    sit_on(core[0]);
    for (int i = 0; i < times; i++) {
        printf("%.0f%s", round_trip() * 1e9, i % 20 == 19 ? " ns\n" : " ");
        fflush(stdout);
        nanosleep(&(struct timespec){.tv_nsec = 98000000}, NULL);
    }
    return 0;
}
