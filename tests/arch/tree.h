/* tree.h - walk over the source tree, by file or by line. */
#ifndef FIRE_TESTS_ARCH_TREE_H
#define FIRE_TESTS_ARCH_TREE_H
#include "test.h"

/* All paths are relative to the source tree. `exts` are names' ends without the dot
 * ("c h"; "" for every file); files that are built, not written, are left out. */
typedef void (*file_fn_t)(const char *path);
typedef void (*line_fn_t)(const char *path, int number, const char *line);

/* Call `each` for every file below the folder, or for every line of these files. Returns
 * the number of files. */
int tree_files(const char *folder, const char *exts, file_fn_t each);
int tree_lines(const char *folder, const char *exts, line_fn_t each);
/* The same for the lines of one file. */
void tree_file_lines(const char *path, line_fn_t each);

/* The text of a file; free() it. */
char *tree_read(const char *path);
/* Is there a file or folder? */
bool tree_exists(const char *path);

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
