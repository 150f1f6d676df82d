/* seal.c - makes and checks seals. */
#include "base/seal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/sha256.h"

enum { CHUNK = 1 << 16 };

/* Field 1001, four bytes: 1001 << 3 | 5 as a varint. */
static const uint8_t tag[2] = {0xcd, 0x3e};

void fire_seal_make(uint32_t crc, uint8_t seal[FIRE_SEAL_SIZE])
{
    memcpy(seal, tag, sizeof(tag));
    for (int i = 0; i < 4; i++)
        seal[sizeof(tag) + i] = (uint8_t)(crc >> 8 * i);
}

/* The last bytes that were read may be the seal: they are not added before more
 * follows. */
static bool is_right(FILE *f, bool *sealed_p)
{
    uint8_t  bytes[FIRE_SEAL_SIZE + CHUNK], seal[FIRE_SEAL_SIZE];
    size_t   kept = 0, n;
    uint32_t crc  = 0;

    while ((n = fread(bytes + kept, 1, CHUNK, f)) > 0) {
        size_t all = kept + n;

        kept = all < FIRE_SEAL_SIZE ? all : FIRE_SEAL_SIZE;
        crc  = fire_crc32c(crc, bytes, all - kept);
        memmove(bytes, bytes + all - kept, kept);
    }
    fire_seal_make(crc, seal);
    *sealed_p = kept == FIRE_SEAL_SIZE && memcmp(bytes, tag, sizeof(tag)) == 0;
    return !*sealed_p || memcmp(bytes, seal, FIRE_SEAL_SIZE) == 0;
}

fire_status_t fire_seal_check(const char *path, bool *sealed_p)
{
    FILE *f = fopen(path, "rb");
    bool  right, failed;

    if (f == NULL)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot open \"%s\": %s", path, strerror(errno));
    right  = is_right(f, sealed_p);
    failed = ferror(f) != 0;
    fclose(f);
    if (failed) return FIRE_FAIL(FIRE_ERR_IO, "cannot read \"%s\"", path);
    if (right) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_PARSE, "\"%s\" is damaged: checksum mismatch", path);
}
