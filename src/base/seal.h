/* seal.h - a checksum at the end of a file, over every byte before it. It is written as
 * field 1001 of a protobuf message, so a message with it stays one; HDF5 and other formats
 * that know their length do not look at it. fire_file_writer_seal() (base/file.h) writes
 * it. */
#ifndef FIRE_BASE_SEAL_H
#define FIRE_BASE_SEAL_H
#include "base/error.h"

enum { FIRE_SEAL_SIZE = 6 }; /* tag of the field, CRC-32C */

void fire_seal_make(uint32_t crc, uint8_t seal[FIRE_SEAL_SIZE]);

/* Fail if a file's seal is not that of its contents. *sealed_p: it has one. */
fire_status_t fire_seal_check(const char *path, bool *sealed_p);
#endif
