/* unzip.c - unpacks gzip files in memory, with zlib where the build has it. */
#include "data/convert/unzip.h"

#ifdef FIRE_HAVE_ZLIB
#    include <zlib.h>
#endif

#include "base/alloc.h"
#include "base/file.h"

#ifdef FIRE_HAVE_ZLIB
/* Grow *out by 64 KiB until the stream ends. Returns zlib's code; *st is the error of
 * growing. */
static int inflate_all(z_stream *z, char **out, int64_t *cap, fire_status_t *st)
{
    int rc = Z_OK;

    while (rc == Z_OK) {
        *st = fire_grow(out, cap, (int64_t)z->total_out + (1 << 16), 1);
        if (*st != FIRE_OK) return Z_MEM_ERROR;
        z->next_out  = (Bytef *)*out + z->total_out;
        z->avail_out = 1 << 16;
        rc           = inflate(z, Z_NO_FLUSH);
    }
    return rc;
}

static fire_status_t unzip(const char *path, const char *bytes, size_t n, char **out_p,
                           size_t *n_p)
{
    z_stream      z   = {.next_in = (Bytef *)bytes, .avail_in = (uInt)n};
    char         *out = NULL;
    int64_t       cap = 0;
    fire_status_t st  = FIRE_OK;

    if (n > UINT32_MAX || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return FIRE_FAIL(FIRE_ERR_NOMEM, "%s: cannot be unpacked in memory", path);
    if (inflate_all(&z, &out, &cap, &st) != Z_STREAM_END && st == FIRE_OK)
        st = FIRE_FAIL(FIRE_ERR_PARSE, "%s: damaged gzip file", path);
    inflateEnd(&z);
    if (st != FIRE_OK) {
        fire_free(out);
        return st;
    }
    *out_p = out;
    *n_p   = z.total_out;
    return FIRE_OK;
}
#else
static fire_status_t unzip(const char *path, const char *bytes, size_t n, char **out_p,
                           size_t *n_p)
{
    (void)bytes, (void)n, (void)out_p, (void)n_p;
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "%s: this build has no zlib; unpack the file with gunzip first",
                     path);
}
#endif

fire_status_t fire_unzip_file(const char *path, char **bytes_p, size_t *n_p)
{
    char         *bytes;
    size_t        n = 0;
    fire_status_t st;

    FIRE_TRY(fire_file_read(path, &bytes, &n));
    if (n < 2 || bytes[0] != '\x1f' || bytes[1] != '\x8b') {
        *bytes_p = bytes;
        *n_p     = n;
        return FIRE_OK;
    }
    st = unzip(path, bytes, n, bytes_p, n_p);
    fire_free(bytes);
    return st;
}
