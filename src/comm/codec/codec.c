/* codec.c - the table of codecs. */
#include "comm/codec/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRE_CODEC(name) extern const fire_codec_t fire_codec_##name;
#include "comm/codec/codecs.def"
#undef FIRE_CODEC

#define FIRE_CODEC(name) &fire_codec_##name,
static const fire_codec_t *const table[] = {
#include "comm/codec/codecs.def"
    NULL,
};
#undef FIRE_CODEC

const fire_codec_t *fire_codec_at(int i)
{
    return table[i];
}

static bool parse_arg(const char *text, float *arg_p)
{
    char *end;

    *arg_p = strtof(text, &end);
    return end != text && *end == '\0' && *arg_p > 0;
}

fire_status_t fire_codec_find(const char *text, const fire_codec_t **codec_p,
                              float *arg_p)
{
    size_t name = strcspn(text, "=");
    float  arg  = 0;

    if (strcmp(text, "none") == 0) {
        *codec_p = NULL;
        *arg_p   = 0;
        return FIRE_OK;
    }
    for (int i = 0; table[i] != NULL; i++) {
        if (strlen(table[i]->name) != name || strncmp(table[i]->name, text, name) != 0)
            continue;
        if (table[i]->has_arg != (text[name] == '=') ||
            (text[name] == '=' && !parse_arg(text + name + 1, &arg)))
            break;
        *codec_p = table[i];
        *arg_p   = arg;
        return FIRE_OK;
    }
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "unknown compression \"%s\"; known are none, fp16, bf16, 1bit and "
                     "threshold=T with T > 0",
                     text);
}

fire_status_t fire_codec_check(const fire_codec_t *codec, size_t len, size_t want)
{
    if (len == want) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_COMM, "a %s message has %zu bytes instead of %zu",
                     codec->name, len, want);
}
