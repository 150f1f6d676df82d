/* fuzz.h - what the libFuzzer targets share. */
#ifndef FIRE_FUZZ_H
#define FIRE_FUZZ_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <fire/status.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A broken promise stops the fuzzer. */
#define MUST(cond)            \
    do {                      \
        if (!(cond)) abort(); \
    } while (0)

/* Any status will do, as long as nothing crashes. */
#define IGNORE(expr)                     \
    do {                                 \
        fire_status_t ignored_ = (expr); \
        (void)ignored_;                  \
    } while (0)
#endif
