/* environment.h - the machine and the program, as far as they may explain a result. */
#ifndef FIRE_RUNLOG_ENVIRONMENT_H
#define FIRE_RUNLOG_ENVIRONMENT_H
#include "base/text/json.h"

/* What only other rooms can find out: src/train/log.c asks them. */
typedef struct fire_environment {
    const char        *mpi;      /* the library and its version; NULL: none */
    bool               launched; /* by mpirun: this is one process of a job */
    int                ngpu;
    const char *const *gpu; /* [ngpu] a line each: name, memory, driver */
} fire_environment_t;

/* Add members to the open object: program, built_with, host, os, pid, cpu, cores,
 * memory, directory, threads (environment variables that set their number), mpi,
 * gpus. */
void fire_environment_write(fire_json_writer_t *w, const fire_environment_t *e);

/* The i-th environment variable that sets the number of threads; NULL after the last. */
const char *fire_environment_threads(int i);
#endif
