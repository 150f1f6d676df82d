/* memory_cuda.h - GPU memory that a layer's kernel owns. Built with CUDA only; files that
 * serve the CPU too may call it under FIRE_IF_GPU. */
#ifndef FIRE_LAYERS_MEMORY_CUDA_H
#define FIRE_LAYERS_MEMORY_CUDA_H
#include "layers/layer.h"

FIRE_BEGIN_C
typedef struct fire_gpu_memory {
    void  *ptr; /* on the GPU */
    size_t bytes;
} fire_gpu_memory_t;

/* At least `bytes`; the contents are lost if it has to grow. */
fire_status_t fire_gpu_memory_fit(fire_gpu_memory_t *m, size_t bytes);
void          fire_gpu_memory_free(fire_gpu_memory_t *m);

/* One such memory as the whole kernel_state of a layer: make it large enough; fill it
 * from the host; make room for one float (as a kernel's prepare); its address; free it
 * (as a kernel's release). */
fire_status_t fire_gpu_keep(fire_layer_t *l, size_t bytes);
fire_status_t fire_gpu_keep_copy(fire_layer_t *l, const void *from, size_t bytes);
fire_status_t fire_gpu_keep_float(fire_layer_t *l);
void         *fire_gpu_kept(const fire_layer_t *l);
void          fire_gpu_release(fire_layer_t *l);
FIRE_END_C
#endif
