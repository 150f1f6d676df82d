/* bf16.c - bfloat16 on the wire: half the bytes, float32's range, 8 significant
 * bits. */
#define CODEC  fire_codec_bf16
#define PACK   fire_to_bf16
#define UNPACK fire_from_bf16
#include "comm/codec/half_codec.h"

const fire_codec_t fire_codec_bf16 = {.name = "bf16", FIRE_HALF_CODEC};
