/* kernels.h - checks what a user prefers among kernels. */
#ifndef FIRE_API_KERNELS_H
#define FIRE_API_KERNELS_H
#include "base/error.h"

/* Is every request of "Convolution=ref,all=onednn" one that exists? NULL is. `who`
 * begins the message. */
fire_status_t fire_kernels_check(const char *who, const char *list);
#endif
