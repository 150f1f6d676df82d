/* stop.h - users who end a command before it is done, by Ctrl-C or another signal. */
#ifndef FIRE_TOOLS_STOP_H
#define FIRE_TOOLS_STOP_H
#include <stdatomic.h>

/* A signal has asked for the end; threads of the command may look, too. */
extern atomic_bool stop_asked;

/* From now on this signal asks. The flags are those of sigaction(2). */
void stop_on(int signal_number, int flags);
#endif
