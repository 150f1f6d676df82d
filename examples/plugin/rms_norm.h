/* rms_norm.h - what the CPU and the GPU part of the plug-in share. */
#ifndef RMS_NORM_H
#define RMS_NORM_H
#include <fire/layer.h>

/* The layer's state. The library clears it before setup. */
typedef struct rms_norm {
    double eps;
    bool   learns; /* has gamma */
    /* From reshape: the bottom is (rows, channels, inner). */
    int64_t rows, channels, inner;
    /* (rows) 1 / rms(x), written by forward and read by backward; owned. A blob has
     * memory on the CPU and on a GPU, as it is needed. */
    fire_blob_t *scale;
} rms_norm_t;

/* Return from the calling function if a call fails. */
#define TRY(call)                              \
    do {                                       \
        fire_status_t try_status = (call);     \
        if (try_status < 0) return try_status; \
    } while (0)
#endif
