/* golden.h - cases recorded from the real Caffe, or computed apart from us where there is
 * no Caffe to record from, and the comparison of what we compute with them. README.md in
 * this folder describes the format. */
#ifndef FIRE_TESTS_GOLDEN_H
#define FIRE_TESTS_GOLDEN_H
#include "base/text/json.h"
#include "model/npy.h"
#include "net/net.h"

typedef struct golden_case {
    const char  *name;
    fire_json_t *json;
    double       tolerance;
    bool absolute;    /* of the tolerance; otherwise relative to the largest value */
    bool independent; /* computed by tests/golden/record, not by Caffe */

    /* What was found. */
    bool   passed, exact; /* exact: every number bit for bit */
    bool   skipped;       /* what it needs is not here; `where` says what */
    double worst;         /* largest error, in units of the tolerance's kind */
    char   where[160];    /* of the worst error */
} golden_case_t;

/* Set the tolerance from the one table there is. */
void golden_set_tolerance(golden_case_t *c);

/* Compare n numbers, called `what` in messages; *_file reads the expected ones, and
 * also compares the shape if ndim >= 0. A difference is noted in the case, only a
 * failure to read is an error. */
void golden_compare(golden_case_t *c, const char *what, int64_t n, const float *got,
                    const float *want);
fire_status_t golden_compare_file(golden_case_t *c, const char *file, int ndim,
                                  const int64_t *dim, int64_t n, const float *got);
fire_status_t golden_compare_blob(golden_case_t *c, const char *file, fire_blob_t *blob,
                                  fire_part_t part);
/* A property that does not hold. */
void golden_reject(golden_case_t *c, const char *format, ...) FIRE_PRINTF(2, 3);

/* The kinds of cases; the working directory is a copy of the case's. */
fire_status_t golden_run_layer(golden_case_t *c);
fire_status_t golden_run_random(golden_case_t *c, fire_net_t *net);
/* Layers that live on more than blobs: arrays given to them, files they write. */
fire_status_t golden_before_layer(golden_case_t *c, fire_net_t *net);
fire_status_t golden_after_layer(golden_case_t *c, fire_net_t *net); /* ends net */
fire_status_t golden_run_solver(golden_case_t *c);
fire_status_t golden_run_trace(golden_case_t *c);
fire_status_t golden_run_parallel(golden_case_t *c);

/* Float32 arithmetic in Caffe's order, one thread: comparable bit by bit. */
fire_ctx_t golden_ctx(void);

/* Copy a folder, with folders in it; remove one. */
fire_status_t golden_copy_tree(const char *from, const char *to);
void          golden_remove_tree(const char *path);
#endif
