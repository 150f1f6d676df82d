/* memory.h - how much memory this process may use. */
#ifndef FIRE_BASE_HOST_MEMORY_H
#define FIRE_BASE_HOST_MEMORY_H
#include <stddef.h>

/* Bytes: the machine's memory, or less where the control group (a container) has a
 * limit. */
size_t fire_memory_size(void);

/* The limit of the process's control group in bytes, or 0: none. `root` as in cores.h. */
double fire_memory_limit(const char *root);
#endif
