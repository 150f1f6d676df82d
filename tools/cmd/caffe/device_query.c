/* firecaffe device_query - shows what of this machine kernels can use. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/host/cores.h"
#include "base/log.h"
#include "command.h"
#include "device/arch.h"
#include "device/cpu/early.h"
#include "device/cpu/parallel.h"
#include "flags/gpu.h"
#include "flags/net.h"

static const fire_option_t options[] = {
    FIRE_OPTION(net_flags_t, gpu, STRING, "", "ID", "fail unless this GPU can be used"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &net_flags}, {0}};

/* The value of the first "name : value" line of a file in /proc. */
static bool proc_value(const char *path, const char *name, char *out, size_t n)
{
    FILE *f = fopen(path, "r");
    char  line[4096];
    bool  found = false;

    if (f == NULL) return false;
    while (!found && fgets(line, sizeof(line), f) != NULL) {
        char *colon = strchr(line, ':');

        if (colon == NULL || strncmp(line, name, strlen(name)) != 0) continue;
        colon++;
        colon += strspn(colon, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(out, n, "%s", colon);
        found = true;
    }
    fclose(f);
    return found;
}

/* The instruction sets that kernels are built for and that this CPU has. */
static void simd_names(const char *cpu_flags, char *out, size_t n)
{
    static const char *const known[] = {
        "avx",         "avx2",     "fma",   "avx512f", "avx512bw",
        "avx512_bf16", "amx_bf16", "asimd", "sve",     "bf16"};
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        char word[32];

        snprintf(word, sizeof(word), " %s ", known[i]);
        if (strstr(cpu_flags, word) != NULL && used < n)
            used += (size_t)snprintf(out + used, n - used, "%s ", known[i]);
    }
}

/* What GPU i needs, and whether this build has it. */
static fire_status_t show_code(int i)
{
    const char *archs = fire_gpu_archs();
    int         capability;

    FIRE_TRY(fire_gpu_capability(i, &capability));
    switch (fire_arch_match(archs, capability)) {
    case FIRE_ARCH_CODE:
        FIRE_LOG(INFO, "Code for GPU %d:                there is", i);
        break;
    case FIRE_ARCH_PTX:
        FIRE_LOG(INFO,
                 "Code for GPU %d:                PTX, which the driver compiles "
                 "at the first start (-DFIRE_CUDA_ARCHS=%d saves that)",
                 i, capability);
        break;
    default:
        FIRE_LOG(INFO,
                 "Code for GPU %d:                none: build with "
                 "-DFIRE_CUDA_ARCHS=%d",
                 i, capability);
    }
    return FIRE_OK;
}

/* A line per GPU, or the reason why there is none; the GPU of --gpu must be there. */
static fire_status_t show_gpus(void)
{
    const char *why;
    int         n   = fire_gpu_count(&why);
    fire_ctx_t  ctx = FIRE_CTX_INIT;
    char        text[256];

    if (n == 0) FIRE_LOG(INFO, "GPU:                           none (%s)", why);
    fire_arch_describe(fire_gpu_archs(), text, sizeof(text));
    FIRE_LOG(INFO, "GPU code of this build:        %s", text);
    for (int i = 0; i < n; i++) {
        FIRE_TRY(fire_gpu_describe(i, text, sizeof(text)));
        FIRE_LOG(INFO, "GPU %d:                         %s", i, text);
        FIRE_TRY(show_code(i));
    }
    FIRE_TRY(gpu_flags_open(0, &ctx));
    gpu_flags_close(&ctx);
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    char text[4096], padded[4100], simd[256];

    (void)narg, (void)arg;
    if (proc_value("/proc/cpuinfo", "model name", text, sizeof(text)))
        FIRE_LOG(INFO, "CPU:                           %s", text);
    FIRE_LOG(INFO, "Cores for this process:        %d", fire_cores());
    if (fire_threads_spins() > 0)
        FIRE_LOG(INFO, "Threads that wait:             spin %d us, then sleep",
                 FIRE_SPIN_US);
    if (proc_value("/proc/cpuinfo", "flags", text, sizeof(text)) ||
        proc_value("/proc/cpuinfo", "Features", text, sizeof(text))) {
        snprintf(padded, sizeof(padded), " %s ", text);
        simd_names(padded, simd, sizeof(simd));
        FIRE_LOG(INFO, "Vector instructions:           %s", simd);
    }
    if (proc_value("/proc/meminfo", "MemTotal", text, sizeof(text)))
        FIRE_LOG(INFO, "Total memory:                  %s", text);
    return show_gpus();
}

const command_t command_device_query = {
    .name      = "device_query",
    .arguments = "",
    .summary   = "show processor, memory and GPUs of this machine",
    .help      = "Logs processor, cores, vector instructions, memory and GPUs.\n"
                 "\n"
                 "Example:\n"
                 "  firecaffe device_query\n",
    .groups    = groups,
    .run       = run,
};
