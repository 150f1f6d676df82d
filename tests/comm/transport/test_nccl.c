/* test_nccl.c - a build without NCCL says so. Tests src/comm/transport/nccl_missing.c;
 * tests/train/test_gpu.c tests src/comm/transport/nccl.c. */
#include "comm/transport/nccl.h"
#include "test.h"

TEST(without_nccl_sums_on_gpus_are_refused)
{
#ifdef FIRE_HAVE_NCCL
    test_skip("built with NCCL");
#else
    fire_nccl_t *n = NULL;

    CHECK_FAILS(fire_nccl_open(NULL, NULL, &n), FIRE_ERR_UNSUPPORTED, "without NCCL");
    CHECK_FAILS(fire_nccl_sum(n, NULL, 0), FIRE_ERR_UNSUPPORTED, "without NCCL");
    CHECK_FAILS(fire_nccl_join(n), FIRE_ERR_UNSUPPORTED, "without NCCL");
    fire_nccl_close(n);
#endif
}
