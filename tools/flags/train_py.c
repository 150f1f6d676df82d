/* train_py.c - translates the flags of train.py. */
#include "flags/train_py.h"

#include <string.h>

static bool is_number(const char *word)
{
    return word[0] != '\0' && word[strspn(word, "0123456789")] == '\0';
}

fire_status_t train_py_words(int *argc, const char **argv, fire_str_t *gpus)
{
    int n = 0;

    for (int i = 0; i < *argc; i++) {
        argv[n++] = argv[i];
        if (strcmp(argv[i], "--gpus") != 0) continue;
        if (gpus->n > 0) return FIRE_FAIL(FIRE_ERR_INVALID, "--gpus is given twice");
        for (; i + 1 < *argc && is_number(argv[i + 1]); i++)
            FIRE_TRY(
                fire_str_printf(gpus, "%s%s", gpus->n > 0 ? "," : "", argv[i + 1]));
        if (gpus->n == 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "--gpus: write numbers, as in --gpus 0 1");
        argv[n - 1] = "--gpu";
        argv[n++]   = gpus->text;
    }
    *argc = n;
    return FIRE_OK;
}
