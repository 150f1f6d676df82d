/* program.h - run the real program as a user does, and look at what it leaves. */
#ifndef FIRE_TESTS_TOOLS_PROGRAM_H
#define FIRE_TESTS_TOOLS_PROGRAM_H
#include "test.h"

typedef struct outcome {
    int   code; /* exit status; 128 + signal when a signal ended it */
    char *out, *err;
} outcome_t;

/* The last run; its text lives until the next. */
extern outcome_t ran;

/* Run a shell command in test_tmpdir(), with the program and Caffe's names for it
 * in the PATH and $SRC the source tree. Returns its exit status. */
int sh(const char *format, ...) FIRE_PRINTF(1, 2);

/* Is there an mpirun, and a module for its kind of MPI? */
bool can_mpirun(void);

/* The run failed as it should: status 1, and on stderr one line that begins with
 * "firecaffe: error: ", the last one, holding this text. */
void check_one_error(const char *file, int line, const char *text);

#define SH_OK(...)                                                                    \
    do {                                                                              \
        if (sh(__VA_ARGS__) != 0)                                                     \
            test_fail(__FILE__, __LINE__, "exit status %d\n%.3000s%.3000s", ran.code, \
                      ran.out, ran.err);                                              \
    } while (0)

/* SH_FAILS("text in the message", command...) */
#define SH_FAILS(text, ...)                        \
    do {                                           \
        sh(__VA_ARGS__);                           \
        check_one_error(__FILE__, __LINE__, text); \
    } while (0)

#define CHECK_HAS(where, text)                                                        \
    do {                                                                              \
        if (strstr((where), (text)) == NULL)                                          \
            test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%.3000s", (text), (where)); \
    } while (0)

/* Write a file into test_tmpdir(). */
void write_file(const char *name, const char *text);
/* A file of test_tmpdir(), as text; valid until the eighth next call. */
char *read_file(const char *name);
bool  file_exists(const char *name);
#endif
