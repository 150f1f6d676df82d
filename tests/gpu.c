#include "gpu.h"

#include <string.h>

static fire_stream_t *stream; /* opened once; a test is a process of its own */

bool test_open_gpu(const char *precision, fire_ctx_t *ctx, const char **why_p)
{
    *ctx = FIRE_CTX_INIT;
    if (fire_gpu_count(why_p) == 0) return false;
    if (stream == NULL && fire_gpu_open(0, &stream) < 0) {
        *why_p = fire_last_error();
        return false;
    }
    ctx->place     = FIRE_GPU;
    ctx->stream    = stream;
    ctx->tf32      = strcmp(precision, "tf32") == 0;
    ctx->precision = strcmp(precision, "bf16") == 0   ? FIRE_BF16
                     : strcmp(precision, "fp16") == 0 ? FIRE_F16
                                                      : FIRE_F32;
    return true;
}
