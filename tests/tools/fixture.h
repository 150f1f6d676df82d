/* fixture.h - a data set, a net and a solver small enough for a test. */
#ifndef FIRE_TESTS_TOOLS_FIXTURE_H
#define FIRE_TESTS_TOOLS_FIXTURE_H
#include "program.h"

/* In test_tmpdir(): images.idx and labels.idx with `n` images of 8 x 8 in four
 * classes that a linear layer can tell apart. */
void make_idx(int n);

/* Also db (an LMDB of 64 images), net.prototxt (one InnerProduct called "ip") and
 * solver.prototxt: 20 iterations, display 5, test 10, snapshots as snap_iter_N. */
void make_training(void);

/* Write solver.prototxt again with more lines at its end. */
void make_solver(const char *more);

/* Replace the first `from` in a file by `to`. */
void edit_file(const char *name, const char *from, const char *to);

/* Names of the files in test_tmpdir() that match a shell pattern. */
int count_files(const char *pattern);
#endif
