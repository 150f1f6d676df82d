/* codec.h - smaller messages. A codec turns a span of float32 into bytes for the wire
 * and back; sums are always made in float32.
 *
 *   x  --quantize()-->  values that the codec can represent  --encode()-->  bytes
 *                                                            <--decode()--
 *
 * Only quantize() loses information: encode() and decode() keep a quantized array
 * exactly. A caller that wants error feedback therefore quantizes its contribution
 * first and adds the difference to the next one.
 *
 * In a tree or a ring partial sums are sent on, and fp16, bf16 and 1bit round them
 * again at every hop; algorithms with FIRE_ALGO_ONE_HOP avoid that. The complete sum is
 * quantized once, on the rank where it is complete, so that all ranks get the same
 * bits. */
#ifndef FIRE_COMM_CODEC_H
#define FIRE_COMM_CODEC_H
#include "base/error.h"

typedef struct fire_codec {
    const char *name;
    size_t      grain;       /* elements; messages begin at multiples of it */
    bool        one_hop;     /* loses too much if partial sums are sent on */
    bool        has_arg;     /* is written name=arg, as in threshold=0.01 */
    int         exact_first; /* iterations to train without it at first */
    /* The most bytes that n elements can take. */
    size_t (*bound)(size_t n);
    /* x[n] = the nearest values that encode() keeps. */
    void (*quantize)(float arg, float *x, size_t n);
    /* Write x[n] to wire[bound(n)]; returns the bytes written. */
    size_t (*encode)(const float *x, size_t n, void *wire);
    /* x[n] = wire[len], and x[n] += wire[len]. Fail if these bytes cannot come from
     * encode() of n elements. */
    fire_status_t (*decode)(const void *wire, size_t len, float *x, size_t n);
    fire_status_t (*decode_add)(const void *wire, size_t len, float *x, size_t n);
} fire_codec_t;

/* "fp16", "bf16", "1bit" or "threshold=T"; *arg_p is T. "none" gives NULL. */
fire_status_t       fire_codec_find(const char *text, const fire_codec_t **codec_p,
                                    float *arg_p);
const fire_codec_t *fire_codec_at(int i); /* by codecs.def; NULL past the end */

/* For decode(): fail unless a message of `len` bytes has the length it should have. */
fire_status_t fire_codec_check(const fire_codec_t *codec, size_t len, size_t want);
#endif
