#include "device/cpu/precision.h"

/* Are products of bf16 done by hardware, which oneDNN uses? */
static bool multiplies_bf16(void)
{
#if defined(FIRE_HAVE_ONEDNN) && defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

fire_status_t fire_cpu_check_precision(fire_dtype_t precision)
{
    if (precision == FIRE_F16)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "fp16 is for GPUs; a CPU takes fp32 or bf16");
    if (precision == FIRE_BF16 && !multiplies_bf16())
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "bf16 needs oneDNN and a CPU with AVX512-BF16; this one is "
                         "faster with fp32");
    return FIRE_OK;
}
