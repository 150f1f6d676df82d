/* codec.h - smaller messages. A codec turns a span of float32 into bytes for the
 * wire and back; sums are always made in float32.
 *
 * What is lost is lost by quantize(), never on the wire: encode() keeps a
 * quantized array exactly. A caller that wants error feedback therefore
 * quantizes its contribution first and keeps the difference for the next time.
 * A partial sum that travels on (in a tree or a ring) is rounded again by fp16,
 * bf16 and 1bit at every hop; algorithms with FIRE_ALGO_ONE_HOP have none. The
 * finished sum is quantized once, at the rank where it is complete, so that all
 * ranks end with the same bits. */
#ifndef FIRE_COMM_CODEC_H
#define FIRE_COMM_CODEC_H
#include "base/error.h"

typedef struct fire_codec {
    const char *name;
    size_t      grain;         /* messages begin at multiples of it */
    bool        one_hop;       /* loses too much where partial sums travel */
    bool        has_arg;       /* is written name=arg */
    int         exact_first;   /* a training's first iterations that it would spoil */
    size_t (*bound)(size_t n); /* most bytes that n elements can take */
    void (*quantize)(float arg, float *x, size_t n);
    size_t (*encode)(const float *x, size_t n, void *wire); /* bytes written */
    /* x = what was encoded, or x += it. Fail if the bytes are not what encode()
     * makes of n elements. */
    fire_status_t (*decode)(const void *wire, size_t len, float *x, size_t n);
    fire_status_t (*decode_add)(const void *wire, size_t len, float *x, size_t n);
} fire_codec_t;

/* "fp16", "bf16", "1bit" or "threshold=T"; *arg_p is T. "none" gives NULL. */
fire_status_t       fire_codec_find(const char *text, const fire_codec_t **codec_p,
                                    float *arg_p);
const fire_codec_t *fire_codec_at(int i); /* NULL past the end */

/* For codecs: fail unless a message has the length it should have. */
fire_status_t fire_codec_check(const fire_codec_t *codec, size_t len, size_t want);
#endif
