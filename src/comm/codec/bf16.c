/* bf16.c - bfloat16 on the wire: half the bytes, float32's range, 8 significant
 * bits. */
#define FORMAT bf16
#include "comm/codec/half_codec.h"
