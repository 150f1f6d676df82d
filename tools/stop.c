/* stop.c - a flag that a signal handler sets. */
#include "stop.h"

#include <signal.h>
#include <stdbool.h>

atomic_bool stop_asked;

static void on_signal(int number)
{
    (void)number;
    stop_asked = true;
}

void stop_on(int signal_number, int flags)
{
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = flags};

    sigfillset(&act.sa_mask);
    sigaction(signal_number, &act, NULL);
}
