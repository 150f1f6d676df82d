/* test_arch.c - which GPUs a build runs on, and in which precisions. */
#include "device/arch.h"
#include "test.h"

#include <string.h>

#define ALL "75,80,86,89,90,100,120"

TEST(code_runs_on_later_gpus_of_the_same_major_version)
{
    CHECK_EQ(fire_arch_match("80", 80), FIRE_ARCH_CODE);
    CHECK_EQ(fire_arch_match("80", 86), FIRE_ARCH_CODE);
    CHECK_EQ(fire_arch_match("86,90", 80), FIRE_ARCH_NONE);
    CHECK_EQ(fire_arch_match("100", 103), FIRE_ARCH_CODE);
    CHECK_EQ(fire_arch_match(ALL, 87), FIRE_ARCH_CODE);
    CHECK_EQ(fire_arch_match(ALL, 121), FIRE_ARCH_CODE);
}

TEST(ptx_of_the_last_entry_runs_on_newer_gpus_only)
{
    CHECK_EQ(fire_arch_match("75,80", 90), FIRE_ARCH_PTX);
    CHECK_EQ(fire_arch_match("90", 120), FIRE_ARCH_PTX);
    CHECK_EQ(fire_arch_match("90", 86), FIRE_ARCH_NONE);
    CHECK_EQ(fire_arch_match(ALL, 130), FIRE_ARCH_PTX);
    CHECK_EQ(fire_arch_match(ALL, 110), FIRE_ARCH_NONE); /* PTX of 12.0 is newer */
    CHECK_EQ(fire_arch_match(ALL, 70), FIRE_ARCH_NONE);
}

TEST(a_build_without_cuda_runs_on_no_gpu)
{
    char text[64];

    CHECK_EQ(fire_arch_match("", 90), FIRE_ARCH_NONE);
    fire_arch_describe("", text, sizeof(text));
    CHECK(strcmp(text, "none") == 0);
}

TEST(a_list_is_written_as_compute_capabilities)
{
    char text[64], small[8];

    fire_arch_describe("75,80,120", text, sizeof(text));
    CHECK(strcmp(text, "7.5, 8.0, 12.0; newer ones by PTX of 12.0") == 0);
    fire_arch_describe("75,80,120", small, sizeof(small));
    CHECK(strcmp(small, "7.5, 8.") == 0);
}

TEST(bf16_and_tf32_need_compute_capability_8)
{
    CHECK_OK(fire_arch_check_precision(75, FIRE_F32, false));
    CHECK_OK(fire_arch_check_precision(75, FIRE_F16, false));
    CHECK_OK(fire_arch_check_precision(80, FIRE_BF16, false));
    CHECK_OK(fire_arch_check_precision(80, FIRE_F32, true));
    CHECK_FAILS(fire_arch_check_precision(75, FIRE_BF16, false), FIRE_ERR_UNSUPPORTED,
                "bf16 needs a GPU of compute capability 8.0 or newer");
    CHECK_FAILS(fire_arch_check_precision(75, FIRE_F32, true), FIRE_ERR_UNSUPPORTED,
                "this one has 7.5: use --precision fp32 or fp16");
}
