/* test.h - a test is a function named as a sentence:
 *
 *     TEST(a_blob_keeps_its_values_when_it_shrinks) { CHECK(...); }
 *
 * It registers itself. A failed CHECK ends the test and prints what was seen. */
#ifndef FIRE_TEST_H
#define FIRE_TEST_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <fire/status.h>

/* Sanitizers slow a test down, ThreadSanitizer tenfold: then tests look at what a
 * sanitizer can find and leave long repetitions to the plain build. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TEST_SANITIZED = 1 };
#else
enum { TEST_SANITIZED = 0 };
#endif

typedef struct test_case {
    const char *name, *file;
    void (*run)(void);
    struct test_case *next;
} test_case_t;

void           test_add(test_case_t *t);
_Noreturn void test_fail(const char *file, int line, const char *format, ...)
    FIRE_PRINTF(3, 4);
_Noreturn void test_skip(const char *why); /* counts as skipped, with the reason */

/* A fresh empty directory below the build directory, removed on success. */
const char *test_tmpdir(void);
/* Path of a file in it; valid until the sixteenth next call of this or the next. */
const char *test_path(const char *name);
/* Path of a file of the source tree; as long. */
const char *test_source(const char *relative);

#define TEST(name_)                                                    \
    static void        name_(void);                                    \
    static test_case_t case_##name_ = {#name_, __FILE__, name_, NULL}; \
    __attribute__((constructor)) static void add_##name_(void)         \
    {                                                                  \
        test_add(&case_##name_);                                       \
    }                                                                  \
    static void name_(void)

#define CHECK(cond)                                              \
    do {                                                         \
        if (!(cond)) test_fail(__FILE__, __LINE__, "%s", #cond); \
    } while (0)

#define CHECK_OK(expr)                                                   \
    do {                                                                 \
        fire_status_t check_st_ = (expr);                                \
        if (check_st_ < 0)                                               \
            test_fail(__FILE__, __LINE__, "%s: %s: %s", #expr,           \
                      fire_status_string(check_st_), fire_last_error()); \
    } while (0)

/* The call fails with this status and its message contains this text. */
#define CHECK_FAILS(expr, status, text)                                             \
    do {                                                                            \
        fire_status_t check_st_ = (expr);                                           \
        if (check_st_ != (status))                                                  \
            test_fail(__FILE__, __LINE__, "%s gave \"%s\" (%s), not \"%s\"", #expr, \
                      fire_status_string(check_st_), fire_last_error(),             \
                      fire_status_string(status));                                  \
        if (strstr(fire_last_error(), (text)) == NULL)                              \
            test_fail(__FILE__, __LINE__, "message \"%s\" lacks \"%s\"",            \
                      fire_last_error(), (text));                                   \
    } while (0)

#define CHECK_EQ(got, want)                                             \
    do {                                                                \
        int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);         \
        if (got_ != want_)                                              \
            test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #got, \
                      (long long)got_, (long long)want_);               \
    } while (0)

#define CHECK_STR(got, want)                                                \
    do {                                                                    \
        const char *got_ = (got), *want_ = (want);                          \
        if (got_ == NULL || strcmp(got_, want_) != 0)                       \
            test_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #got, \
                      got_ ? got_ : "(null)", want_);                       \
    } while (0)

#define CHECK_NEAR(got, want, tolerance)                                              \
    do {                                                                              \
        double got_ = (got), want_ = (want);                                          \
        if (!(fabs(got_ - want_) <= (tolerance)))                                     \
            test_fail(__FILE__, __LINE__, "%s is %.9g, not %.9g", #got, got_, want_); \
    } while (0)
#endif
