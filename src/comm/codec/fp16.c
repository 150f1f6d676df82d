/* fp16.c - IEEE binary16 on the wire: half the bytes, 11 significant bits. */
#define FORMAT fp16
#include "comm/codec/half_codec.h"
