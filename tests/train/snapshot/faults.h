/* faults.h - calls that write snapshots fail when a test wants it. */
#ifndef FIRE_TESTS_TRAIN_SNAPSHOT_FAULTS_H
#define FIRE_TESTS_TRAIN_SNAPSHOT_FAULTS_H
#include <stdbool.h>

typedef enum fault {
    FAULT_NONE,
    FAULT_OPEN,
    FAULT_WRITE,
    FAULT_SHORT, /* write() takes half of the bytes: no failure */
    FAULT_FSYNC,
    FAULT_CLOSE,
    FAULT_RENAME,
    FAULT_DIRECTORY, /* fsync() of the directory */
    FAULTS
} fault_t;

/* Of all calls of that kind for files named snap_iter_*, let those from the first to the
 * last fail, as on a full disk. */
void faults_arm(fault_t kind, int first, int last);
/* Let none fail any more. Has one failed? */
bool faults_disarm(void);
/* Let each write() to such a file take so long; 0: no longer. */
void faults_slow(unsigned microseconds);
#endif
