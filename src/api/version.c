/* version.c - which library a program runs with. */
#include <fire/fire.h>

const char *fire_version(void)
{
    return FIRE_VERSION;
}
