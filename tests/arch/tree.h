/* tree.h - walk over the source tree, line by line. */
#ifndef FIRE_TESTS_ARCH_TREE_H
#define FIRE_TESTS_ARCH_TREE_H
#include "test.h"

typedef void (*line_fn_t)(const char *path, int number, const char *line);

/* Call `each` for every line of the files below the folder (relative to the source
 * tree, as are the paths passed on) whose names end in .EXT for one of `exts`
 * ("c h"; "" for every file). Returns the number of files. */
int tree_lines(const char *folder, const char *exts, line_fn_t each);

/* Report a broken rule; the test goes on, so that one run shows all. */
void tree_complain(const char *path, int number, const char *format, ...)
    FIRE_PRINTF(3, 4);
/* Fail if anything was reported. */
#define TREE_DONE()                                                      \
    do {                                                                 \
        if (tree_complaints > 0)                                         \
            test_fail(__FILE__, __LINE__, "%d broken", tree_complaints); \
    } while (0)
extern int tree_complaints;
#endif
