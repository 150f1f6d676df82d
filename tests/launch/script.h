/* script.h - launchers that are scripts: they see the command line and exit as the test
 * wants. */
#ifndef FIRE_TESTS_LAUNCH_SCRIPT_H
#define FIRE_TESTS_LAUNCH_SCRIPT_H
#include "launch/launch.h"

/* Each start adds its arguments as a line of "starts", then does what `script` says. */
const char *launcher(const char *script);
/* A launch of four workers by this command; pauses are short. */
fire_launch_t make_launch(const char *command);
/* Starts so far, and the last one's arguments. */
int count_starts(char last[2048]);
#endif
