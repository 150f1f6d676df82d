/* environment.h - the machine and the program, as far as they may explain a result. */
#ifndef FIRE_RUNLOG_ENVIRONMENT_H
#define FIRE_RUNLOG_ENVIRONMENT_H
#include "base/text/json.h"

/* Add members to the open object: program, built_with, host, pid, os, cpu, cores,
 * memory, directory, threads (variables that set their number), mpi, gpus. */
void fire_environment_write(fire_json_writer_t *w);
#endif
