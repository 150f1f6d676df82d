/* fp16.c - IEEE binary16 on the wire: half the bytes, 11 significant bits. */
#define CODEC  fire_codec_fp16
#define PACK   fire_to_fp16_saturated
#define UNPACK fire_from_fp16
#include "comm/codec/half_codec.h"

const fire_codec_t fire_codec_fp16 = {.name = "fp16", FIRE_HALF_CODEC};
