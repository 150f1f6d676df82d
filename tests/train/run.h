/* run.h - whole training runs inside a test: data, net and solver as text, workers as
 * threads. */
#ifndef FIRE_TESTS_TRAIN_RUN_H
#define FIRE_TESTS_TRAIN_RUN_H
#include "test.h"
#include "train/trainer_state.h"

typedef struct run {
    const char *solver; /* text; %s stands for the test's directory */
    int         workers;
    int64_t     stop_at; /* iterate up to here; 0: max_iter, with solve() */
    const char *resume;  /* iteration whose snapshot to go on from, or NULL */
    bool        solve;   /* with tests and snapshots in between */
    bool        log;     /* to run.jsonl, trace.json and board/, with solve */
    double      timeout; /* of communication; 0: long enough */
    bool        control; /* settings may be changed by a file called control */
    const char *gpu;     /* on GPU 0, with this precision; NULL: on the CPU */
    /* (optional) called before each iteration; if it or the iteration fails, that
     * worker ends, and run_errors tells why. */
    fire_status_t (*before)(fire_trainer_t *t);
} run_t;

/* An LMDB of n images with labels 0..9, the same each time. Returns its path. */
const char *run_data(int n, int channels, int size);
/* Write text to a file of the test's directory. */
void run_file(const char *name, const char *text);
/* Write tests/train/nets/<name>.prototxt to net.prototxt in the test's directory, for
 * which DIR stands in it. */
void run_net(const char *name);
/* The same with another text in place of one that it holds. */
void run_net_with(const char *name, const char *text, const char *instead);

/* Train; a checksum over all bits of the weights of worker 0. Every worker must end
 * with the same. */
uint64_t run_train(const run_t *r);
/* Losses of the last run, one per iteration. */
extern double run_losses[4096];

/* What each worker of the last run failed with, "" if it did not. */
extern char run_errors[64][512];

/* Listen to the log from now on; was this said? */
void run_listen(void);
bool run_heard(const char *text);
#endif
