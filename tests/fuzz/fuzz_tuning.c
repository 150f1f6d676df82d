/* fuzz_tuning.c - tables of measured collectives. */
#include <string.h>

#include "base/alloc.h"
#include "comm/select/select.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char          *text;
    fire_tuning_t *table;
    fire_choice_t  choice;

    MUST(FIRE_NEW(&text, n + 1) == FIRE_OK);
    if (n > 0) memcpy(text, data, n);
    if (fire_tuning_parse("fuzz", text, &table) == FIRE_OK) {
        for (int ranks = 1; ranks <= 8; ranks *= 2)
            for (int i = 0; fire_tuning_at(table, ranks, 1 << 20, i, &choice); i++)
                MUST(choice.algo != NULL);
        fire_tuning_destroy(table);
    }
    fire_free(text);
    return 0;
}
