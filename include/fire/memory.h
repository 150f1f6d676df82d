/* memory.h - memory that the library hands over: texts and messages of unknown length. */
#ifndef FIRE_MEMORY_H
#define FIRE_MEMORY_H
#include <fire/api.h>

FIRE_BEGIN_C
/* Free what a function has handed over to its caller, as its comment says. NULL is
 * allowed; any thread may call it. */
FIRE_API void fire_free(void *memory);
FIRE_END_C
#endif
