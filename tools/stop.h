/* stop.h - lets users stop a command by Ctrl-C or another signal. */
#ifndef FIRE_TOOLS_STOP_H
#define FIRE_TOOLS_STOP_H
#include <stdatomic.h>

/* Set by the signal; any thread of the command may read it. */
extern atomic_bool stop_asked;

/* Set stop_asked on this signal from now on; `flags` as in sigaction(2). */
void stop_on(int signal_number, int flags);
#endif
