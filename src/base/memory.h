/* memory.h - how much memory this machine has. */
#ifndef FIRE_BASE_MEMORY_H
#define FIRE_BASE_MEMORY_H
#include <stddef.h>
#include <unistd.h>

static inline size_t fire_memory_size(void) /* bytes */
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}
#endif
