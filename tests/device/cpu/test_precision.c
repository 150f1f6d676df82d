#include "device/cpu/precision.h"
#include "test.h"

TEST(float32_always_works_and_fp16_never)
{
    CHECK_OK(fire_cpu_check_precision(FIRE_F32));
    CHECK_FAILS(fire_cpu_check_precision(FIRE_F16), FIRE_ERR_UNSUPPORTED,
                "fp16 is for GPUs");
}

TEST(bf16_is_refused_with_what_it_needs_where_the_cpu_lacks_it)
{
    if (fire_cpu_check_precision(FIRE_BF16) == FIRE_OK)
        test_skip("this CPU multiplies bf16");
    CHECK_FAILS(fire_cpu_check_precision(FIRE_BF16), FIRE_ERR_UNSUPPORTED,
                "AVX512-BF16");
}
