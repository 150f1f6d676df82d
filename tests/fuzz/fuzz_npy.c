/* fuzz_npy.c - .npy files. */
#include "fuzz.h"
#include "model/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fire_npy_t npy;
    int64_t    count = 1;

    if (fire_npy_parse(data, n, "fuzz", &npy) < 0) return 0;
    for (int i = 0; i < npy.ndim; i++)
        count *= npy.dim[i];
    MUST(count == npy.count);
    fire_npy_fini(&npy);
    return 0;
}
