/* arch.c - compares a GPU's compute capability with a build's list. */
#include "device/arch.h"

#include <stdio.h>
#include <stdlib.h>

/* The next number of a list, or 0 at its end. */
static int next(const char **at_p)
{
    char *end;
    long  arch = strtol(*at_p, &end, 10);

    *at_p = *end == ',' ? end + 1 : end;
    return (int)arch;
}

fire_arch_fit_t fire_arch_match(const char *archs, int capability)
{
    int last = 0;

    for (int arch; (arch = next(&archs)) > 0; last = arch)
        if (arch / 10 == capability / 10 && arch <= capability) return FIRE_ARCH_CODE;
    return last > 0 && last <= capability ? FIRE_ARCH_PTX : FIRE_ARCH_NONE;
}

void fire_arch_describe(const char *archs, char *text, size_t size)
{
    size_t used = 0;
    int    last = 0;

    snprintf(text, size, "none");
    for (int arch; (arch = next(&archs)) > 0 && used < size; last = arch)
        used += (size_t)snprintf(text + used, size - used, "%s%d.%d",
                                 last > 0 ? ", " : "", arch / 10, arch % 10);
    if (last > 0 && used < size)
        snprintf(text + used, size - used, "; newer ones by PTX of %d.%d", last / 10,
                 last % 10);
}

fire_status_t fire_arch_check_precision(int capability, fire_dtype_t precision,
                                        bool tf32)
{
    enum { AMPERE = 80 }; /* the first with instructions for bf16 and tf32 */

    if (capability >= AMPERE || (precision != FIRE_BF16 && !tf32)) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "%s needs a GPU of compute capability 8.0 or newer, and this one "
                     "has %d.%d: use --precision %s",
                     precision == FIRE_BF16 ? "bf16" : "tf32", capability / 10,
                     capability % 10, precision == FIRE_BF16 ? "fp16" : "fp32 or fp16");
}
