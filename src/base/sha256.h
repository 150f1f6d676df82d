/* sha256.h - fingerprints of files (FIPS 180-4) and fast checksums (CRC-32C). */
#ifndef FIRE_BASE_SHA256_H
#define FIRE_BASE_SHA256_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIRE_SHA256_SIZE = 32 };

typedef struct fire_sha256 {
    uint32_t state[8];
    uint64_t n;         /* bytes added so far */
    uint8_t  block[64]; /* the last n % 64 of them */
    bool     fast;      /* the processor has instructions for it */
} fire_sha256_t;

void fire_sha256_init(fire_sha256_t *s);
void fire_sha256_add(fire_sha256_t *s, const void *data, size_t n);
void fire_sha256_final(fire_sha256_t *s, uint8_t digest[FIRE_SHA256_SIZE]);
/* 64 lower-case hex digits and a zero byte. */
void fire_sha256_hex(const uint8_t digest[FIRE_SHA256_SIZE], char text[65]);

/* Castagnoli's CRC, as in iSCSI and ext4. Start with crc 0; pass the last value to add
 * more: crc(crc(0, a), b) is the checksum of a followed by b. */
uint32_t fire_crc32c(uint32_t crc, const void *data, size_t n);
#endif
