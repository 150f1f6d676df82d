/* config.h - structs of options that callers fill in. They begin with their size, so
 * that programs compiled with an older or newer header work with this library. */
#ifndef FIRE_BASE_CONFIG_H
#define FIRE_BASE_CONFIG_H
#include "base/error.h"

/* Copy the caller's struct over the defaults in `to`, `size` bytes; from NULL: nothing.
 * A shorter one, from an older header, leaves the rest as it is; of a longer one, all
 * that this library does not know must be zero. `what` is "config of a net", for
 * messages. */
fire_status_t fire_config_read(const void *from, void *to, size_t size,
                               const char *what);
#endif
