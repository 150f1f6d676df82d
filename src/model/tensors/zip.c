/* zip.c - see zip.h. An archive is entries, each with a head of its own, then a directory
 * of them all, then the place of the directory. Sizes and offsets that 32 bits cannot
 * hold are in an extra field (zip64); what is written here always has it. */
#include "model/tensors/zip.h"

#include <string.h>
#ifdef FIRE_HAVE_ZLIB
#    include <zlib.h>
#endif
#include "base/alloc.h"

enum {
    LOCAL        = 30,
    CENTRAL      = 46,
    END          = 22,
    END64        = 56,
    LOCATOR      = 20,
    MOST_COMMENT = 65535
};
enum { STORED = 0, DEFLATED = 8, EXTRA64 = 1, VERSION64 = 45, SECRET = 1 };
/* The first of January 1980, as numpy writes: the same arrays are the same file. */
enum { DATE = 1 << 5 | 1 };

static const uint32_t sign_local = 0x04034b50, sign_central = 0x02014b50,
                      sign_end = 0x06054b50, sign_end64 = 0x06064b50,
                      sign_locator = 0x07064b50, all32 = UINT32_MAX;

static uint64_t get(const uint8_t *at, int size)
{
    uint64_t v = 0;

    memcpy(&v, at, (size_t)size); /* little-endian, as our machines are */
    return v;
}

/* CRC-32 of more bytes, four bits at a time. */
static uint32_t checksum(uint32_t crc, const void *bytes, size_t n)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t        *p         = bytes;

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* ---- reading ---- */

static fire_status_t fail_damaged(const fire_zip_t *zip)
{
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s: it is cut off, or no zip archive", zip->file);
}

/* The record at the end of the file, before a comment. */
static bool find_end(const fire_zip_t *zip, size_t *at_p)
{
    if (zip->n < END) return false;
    for (size_t i = 0; i <= zip->n - END && i <= MOST_COMMENT; i++)
        if (get(zip->bytes + zip->n - END - i, 4) == sign_end) {
            *at_p = zip->n - END - i;
            return true;
        }
    return false;
}

fire_status_t fire_zip_open(const void *bytes, size_t n, const char *file,
                            fire_zip_t *zip_p)
{
    fire_zip_t     zip = {.file = file, .bytes = bytes, .n = n};
    const uint8_t *b   = bytes;
    uint64_t       size, at;
    size_t         end;

    if (!find_end(&zip, &end)) return fail_damaged(&zip);
    size = get(b + end + 12, 4);
    at   = get(b + end + 16, 4);
    if (end >= LOCATOR && get(b + end - LOCATOR, 4) == sign_locator) {
        uint64_t end64 = get(b + end - LOCATOR + 8, 8);

        if (n < END64 || end64 > n - END64 || get(b + end64, 4) != sign_end64)
            return fail_damaged(&zip);
        size = get(b + end64 + 40, 8);
        at   = get(b + end64 + 48, 8);
    }
    if (at > end || size > end - at) return fail_damaged(&zip);
    zip.at  = (size_t)at;
    zip.end = (size_t)(at + size);
    *zip_p  = zip;
    return FIRE_OK;
}

/* The 64-bit values that stand for those with all bits set, in this order. */
static fire_status_t read_extra(const fire_zip_t *zip, const uint8_t *extra, size_t n,
                                fire_zip_entry_t *e)
{
    uint64_t *const want[] = {&e->size, &e->packed, &e->offset};

    while (n >= 4) {
        size_t         size = (size_t)get(extra + 2, 2), left = size;
        const uint8_t *at = extra + 4;

        if (size > n - 4) return fail_damaged(zip);
        for (int i = 0; i < 3 && get(extra, 2) == EXTRA64; i++) {
            if (*want[i] != all32) continue;
            if (left < 8) return fail_damaged(zip);
            *want[i] = get(at, 8);
            at += 8;
            left -= 8;
        }
        extra += 4 + size;
        n -= 4 + size;
    }
    return FIRE_OK;
}

fire_status_t fire_zip_next(fire_zip_t *zip, fire_zip_entry_t *e, bool *more_p)
{
    const uint8_t *b = zip->bytes + zip->at;
    size_t         extra, comment, left = zip->end - zip->at;

    *more_p = left > 0;
    if (left == 0) return FIRE_OK;
    if (left < CENTRAL || get(b, 4) != sign_central) return fail_damaged(zip);
    *e = (fire_zip_entry_t){
        .name   = (const char *)b + CENTRAL,
        .length = (size_t)get(b + 28, 2),
        .method = (int)get(b + 10, 2),
        .secret = (get(b + 8, 2) & SECRET) != 0,
        .crc    = (uint32_t)get(b + 16, 4),
        .packed = get(b + 20, 4),
        .size   = get(b + 24, 4),
        .offset = get(b + 42, 4),
    };
    extra   = (size_t)get(b + 30, 2);
    comment = (size_t)get(b + 32, 2);
    if (e->length + extra + comment > left - CENTRAL) return fail_damaged(zip);
    FIRE_TRY(read_extra(zip, b + CENTRAL + e->length, extra, e));
    zip->at += CENTRAL + e->length + extra + comment;
    return FIRE_OK;
}

#ifdef FIRE_HAVE_ZLIB
/* zlib counts in 32 bits: give it pieces. Deflating makes at most 1032 times less. */
static fire_status_t unpack(const fire_zip_t *zip, const fire_zip_entry_t *e,
                            const uint8_t *from, void **own_p)
{
    enum { PIECE = 1 << 30, MOST_RATIO = 1032, HEADS = 1 << 10 };
    z_stream z  = {0};
    uint64_t in = 0, out = 0;
    int      rc = Z_OK;
    void    *own;

    if (e->size / MOST_RATIO > e->packed + HEADS) return fail_damaged(zip);
    FIRE_TRY(fire_alloc_raw((size_t)e->size + 1, "an array", &own));
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) rc = Z_MEM_ERROR;
    while (rc == Z_OK) {
        uint64_t in_left = e->packed - in, out_left = e->size + 1 - out;

        z.next_in   = (Bytef *)(uintptr_t)(from + in);
        z.avail_in  = (uInt)(in_left < PIECE ? in_left : PIECE);
        z.next_out  = (Bytef *)own + out;
        z.avail_out = (uInt)(out_left < PIECE ? out_left : PIECE);
        in_left     = z.avail_in;
        out_left    = z.avail_out;
        rc          = inflate(&z, Z_NO_FLUSH);
        in += in_left - z.avail_in;
        out += out_left - z.avail_out;
        if (rc == Z_OK && in_left == z.avail_in && out_left == z.avail_out) break;
    }
    inflateEnd(&z);
    if (rc != Z_STREAM_END || out != e->size) {
        fire_free(own);
        return fail_damaged(zip);
    }
    *own_p = own;
    return FIRE_OK;
}
#else
static fire_status_t unpack(const fire_zip_t *zip, const fire_zip_entry_t *e,
                            const uint8_t *from, void **own_p)
{
    (void)e, (void)from, (void)own_p;
    return FIRE_FAIL(
        FIRE_ERR_UNSUPPORTED,
        "%s: its entries are compressed, and this build has no zlib; write "
        "it with numpy.savez",
        zip->file);
}
#endif

fire_status_t fire_zip_read(const fire_zip_t *zip, const fire_zip_entry_t *e,
                            const void **bytes_p, void **own_p)
{
    const uint8_t *head = zip->bytes + e->offset;
    uint64_t       at, left;

    *own_p = NULL;
    if (e->offset > zip->n || zip->n - e->offset < LOCAL || get(head, 4) != sign_local)
        return fail_damaged(zip);
    at   = e->offset + LOCAL + get(head + 26, 2) + get(head + 28, 2);
    left = at < zip->n ? zip->n - at : 0;
    if (e->secret || (e->method != STORED && e->method != DEFLATED))
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "%s: \"%.*s\" is %s; write it with numpy.savez", zip->file,
                         (int)e->length, e->name,
                         e->secret ? "encrypted" : "packed in an unknown way");
    if (e->packed > left || (e->method == STORED && e->packed != e->size))
        return fail_damaged(zip);
    *bytes_p = zip->bytes + at;
    if (e->method == DEFLATED) {
        FIRE_TRY(unpack(zip, e, zip->bytes + at, own_p));
        *bytes_p = *own_p;
    }
    if (checksum(0, *bytes_p, (size_t)e->size) == e->crc) return FIRE_OK;
    fire_free(*own_p);
    *own_p = NULL;
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s: \"%.*s\" is damaged: checksum mismatch",
                     zip->file, (int)e->length, e->name);
}

/* ---- writing ---- */

static fire_status_t put(fire_str_t *out, uint64_t value, int size)
{
    return fire_str_add(out, &value, (size_t)size);
}

/* Version needed ... length of the extra field: the same in both heads. */
static fire_status_t put_head(fire_str_t *out, const char *name, uint32_t crc,
                              int extra)
{
    FIRE_TRY(put(out, VERSION64, 2));
    FIRE_TRY(put(out, 0, 2)); /* flags */
    FIRE_TRY(put(out, STORED, 2));
    FIRE_TRY(put(out, (uint64_t)DATE << 16, 4));
    FIRE_TRY(put(out, crc, 4));
    FIRE_TRY(put(out, all32, 4)); /* sizes: in the extra field */
    FIRE_TRY(put(out, all32, 4));
    FIRE_TRY(put(out, strlen(name), 2));
    return put(out, (uint64_t)extra, 2);
}

static fire_status_t put_sizes(fire_str_t *out, const char *name, uint64_t size,
                               int extra)
{
    FIRE_TRY(fire_str_add(out, name, strlen(name)));
    FIRE_TRY(put(out, EXTRA64, 2));
    FIRE_TRY(put(out, (uint64_t)extra - 4, 2));
    FIRE_TRY(put(out, size, 8));
    return put(out, size, 8);
}

static fire_status_t put_central(fire_zip_writer_t *z, const char *name, uint32_t crc,
                                 uint64_t size)
{
    enum { EXTRA = 28 };
    fire_str_t *out = &z->directory;

    FIRE_TRY(put(out, sign_central, 4));
    FIRE_TRY(put(out, VERSION64, 2)); /* made by */
    FIRE_TRY(put_head(out, name, crc, EXTRA));
    FIRE_TRY(put(out, 0, 8)); /* comment, disk, attributes */
    FIRE_TRY(put(out, 0, 2));
    FIRE_TRY(put(out, all32, 4)); /* offset */
    FIRE_TRY(put_sizes(out, name, size, EXTRA));
    return put(out, z->at, 8);
}

static fire_status_t emit(fire_zip_writer_t *z, const void *bytes, size_t n)
{
    z->at += n;
    return fire_file_writer_write(z->w, bytes, n);
}

fire_status_t fire_zip_add(fire_zip_writer_t *z, const char *name,
                           const fire_str_t *head, const void *bytes, size_t n)
{
    enum { EXTRA = 20 };
    uint64_t      size  = (uint64_t)head->n + n;
    uint32_t      crc   = checksum(0, head->text, (size_t)head->n);
    fire_str_t    local = {0};
    fire_status_t st;

    if (strlen(name) > UINT16_MAX)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "a name of %zu bytes", strlen(name));
    crc = checksum(crc, bytes, n);
    FIRE_TRY(put_central(z, name, crc, size));
    st = put(&local, sign_local, 4);
    if (st >= 0) st = put_head(&local, name, crc, EXTRA);
    if (st >= 0) st = put_sizes(&local, name, size, EXTRA);
    if (st >= 0) st = emit(z, local.text, (size_t)local.n);
    fire_str_fini(&local);
    z->n++;
    FIRE_TRY(st);
    FIRE_TRY(emit(z, head->text, (size_t)head->n));
    return emit(z, bytes, n);
}

fire_status_t fire_zip_end(fire_zip_writer_t *z)
{
    uint64_t    directory = (uint64_t)z->directory.n, end64 = z->at + directory;
    fire_str_t *out = &z->directory;

    FIRE_TRY(put(out, sign_end64, 4));
    FIRE_TRY(put(out, END64 - 12, 8));
    FIRE_TRY(put(out, VERSION64 << 16 | VERSION64, 4));
    FIRE_TRY(put(out, 0, 8)); /* disks */
    FIRE_TRY(put(out, z->n, 8));
    FIRE_TRY(put(out, z->n, 8));
    FIRE_TRY(put(out, directory, 8));
    FIRE_TRY(put(out, z->at, 8));
    FIRE_TRY(put(out, sign_locator, 4));
    FIRE_TRY(put(out, 0, 4));
    FIRE_TRY(put(out, end64, 8));
    FIRE_TRY(put(out, 1, 4));
    FIRE_TRY(put(out, sign_end, 4));
    FIRE_TRY(put(out, 0, 4));
    FIRE_TRY(put(out, UINT16_MAX | (uint64_t)UINT16_MAX << 16, 4));
    FIRE_TRY(put(out, all32, 4));
    FIRE_TRY(put(out, all32, 4));
    FIRE_TRY(put(out, 0, 2));
    return emit(z, out->text, (size_t)out->n);
}

void fire_zip_fini(fire_zip_writer_t *z)
{
    fire_str_fini(&z->directory);
}
