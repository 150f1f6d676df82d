/* config.c - reads structs of options that begin with their size. */
#include "base/config.h"

#include <string.h>

fire_status_t fire_config_read(const void *from, void *to, size_t size,
                               const char *what)
{
    const unsigned char *bytes = from;
    size_t               given;

    if (from == NULL) return FIRE_OK;
    memcpy(&given, from, sizeof(given));
    if (given < sizeof(given))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the %s has size %zu; begin with its _INIT macro", what,
                         given);
    for (size_t i = size; i < given; i++)
        if (bytes[i] != 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the %s has %zu bytes, this library knows %zu; use a "
                             "newer library",
                             what, given, size);
    memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof(size));
    return FIRE_OK;
}
