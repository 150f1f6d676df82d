/* gpu.c - parses --gpu and opens GPUs. */
#include "flags/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "flags/net.h"

static bool is_said(const char *text)
{
    return strcmp(net_flags.gpu, text) == 0;
}

static fire_status_t count_all(int *n_p)
{
    const char *why;

    *n_p = fire_gpu_count(&why);
    if (*n_p == 0)
        return FIRE_FAIL(FIRE_ERR_DEVICE,
                         "--gpu all: %s; leave --gpu out to run on the CPU", why);
    return FIRE_OK;
}

/* The k-th number of a list as "0,2", or -1; *n_p: how many there are. */
static fire_status_t parse(int k, int *index_p, int *n_p)
{
    const char *at = net_flags.gpu;
    char       *end;

    *index_p = -1;
    for (int n = 0;; n++, at = end + 1) {
        long index = strtol(at, &end, 10);

        if (end == at || index < 0 || index > 1023 || (*end != ',' && *end != '\0'))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "--gpu \"%s\": write 0, or 0,1, or all, or none",
                             net_flags.gpu);
        if (n == k) *index_p = (int)index;
        *n_p = n + 1;
        if (*end == '\0') return FIRE_OK;
    }
}

fire_status_t gpu_flags_count(int *n_p)
{
    int index;

    *n_p = 0;
    if (is_said("") || is_said("none")) return FIRE_OK;
    return is_said("all") ? count_all(n_p) : parse(0, &index, n_p);
}

void gpu_flags_adopt(const Caffe__SolverParameter *param)
{
    static char number[256];
    const char *why;
    int         n;

    if (!is_said("") || param->solver_mode != CAFFE__SOLVER_PARAMETER__SOLVER_MODE__GPU)
        return;
    if (fire_gpu_count(&why) == 0) {
        FIRE_LOG(INFO, "solver_mode is GPU, but there is none (%s): running on the CPU",
                 why);
        return;
    }
    n = snprintf(number, sizeof(number), "%d", param->device_id);
    for (size_t i = 0; i < param->n_device_ids && n < (int)sizeof(number); i++)
        n += snprintf(number + n, sizeof(number) - (size_t)n, ",%d",
                      param->device_ids[i]);
    net_flags.gpu = number;
}

fire_status_t gpu_flags_open(int rank, fire_ctx_t *ctx)
{
    int  n, index = 0;
    char text[256];

    FIRE_TRY(gpu_flags_count(&n));
    if (n == 0) return FIRE_OK;
    if (is_said("all"))
        index = rank % n;
    else
        FIRE_TRY(parse(rank % n, &index, &n));
    FIRE_TRY(fire_gpu_open(index, &ctx->stream));
    FIRE_TRY(fire_gpu_describe(index, text, sizeof(text)));
    ctx->place = FIRE_GPU;
    FIRE_LOG(INFO, "Use GPU with device ID %d", index);
    FIRE_LOG(INFO, "GPU device name: %s", text);
    return FIRE_OK;
}

void gpu_flags_close(fire_ctx_t *ctx)
{
    fire_gpu_close(ctx->stream);
    ctx->stream = NULL;
    ctx->place  = FIRE_CPU;
}
