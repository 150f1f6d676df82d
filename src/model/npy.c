/* npy.c - the .npy format: magic, version, length of the header, a header that is a
 * Python dictionary ("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"),
 * then the elements. */
#include "model/npy.h"

#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/half.h"
#include "base/text/text.h"

static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/* Bytes before the header, by version; elements begin at a multiple of ALIGN. */
enum { PREFIX_V1 = 10, PREFIX_V2 = 12, ALIGN = 64 };

/* Conversions to float32. Files are little-endian, and so are the machines we run
 * on. */
#define CONVERT(name, type)                                                \
    static void name(const char *from, int64_t n, float *to)               \
    {                                                                      \
        for (int64_t i = 0; i < n; i++) {                                  \
            type value;                                                    \
            memcpy(&value, from + (size_t)i * sizeof(type), sizeof(type)); \
            to[i] = (float)value;                                          \
        }                                                                  \
    }
CONVERT(from_f4, float)
CONVERT(from_f8, double)
CONVERT(from_u1, uint8_t)
CONVERT(from_i1, int8_t)
CONVERT(from_i4, int32_t)
CONVERT(from_i8, int64_t)

static void from_f2(const char *from, int64_t n, float *to)
{
    for (int64_t i = 0; i < n; i++) {
        uint16_t value;

        memcpy(&value, from + (size_t)i * sizeof(value), sizeof(value));
        to[i] = fire_from_fp16(value);
    }
}

/* An element type, as numpy's descr spells it. */
typedef struct dtype {
    const char *descr;
    size_t      size;
    void (*convert)(const char *from, int64_t n, float *to);
} dtype_t;

static const dtype_t dtypes[] = {
    {"<f4", 4, from_f4}, {"<f8", 8, from_f8}, {"|u1", 1, from_u1}, {"|i1", 1, from_i1},
    {"|b1", 1, from_u1}, {"<i4", 4, from_i4}, {"<i8", 8, from_i8}, {"<f2", 2, from_f2},
};

/* The parser of the header. */
typedef struct header {
    /* next character; end of the header; for messages */
    const char    *at, *end, *file;
    const dtype_t *dtype;
    bool           fortran, has_fortran, has_shape;
    fire_npy_t    *npy;
} header_t;

/* Fail because `what` was expected. */
static fire_status_t fail_header(const header_t *h, const char *what)
{
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s: damaged .npy header: %s expected", h->file,
                     what);
}

static void skip_blank(header_t *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n'))
        h->at++;
}

/* Skip the character c if it comes next, after blanks. */
static bool accept(header_t *h, char c)
{
    skip_blank(h);
    if (h->at == h->end || *h->at != c) return false;
    h->at++;
    return true;
}

/* A word in single or double quotes, at most size - 1 characters. */
static fire_status_t read_quoted(header_t *h, char *out, size_t size)
{
    char   quote = accept(h, '\'') ? '\'' : accept(h, '"') ? '"' : '\0';
    size_t n     = 0;

    if (quote == '\0') return fail_header(h, "a quoted word");
    for (; h->at < h->end && *h->at != quote && n + 1 < size; h->at++)
        out[n++] = *h->at;
    out[n] = '\0';
    return accept(h, quote) ? FIRE_OK : fail_header(h, "a closing quote");
}

/* Python's True or False. */
static fire_status_t read_bool(header_t *h, bool *value_p)
{
    size_t left;

    skip_blank(h);
    left = (size_t)(h->end - h->at);
    if (left >= 4 && memcmp(h->at, "True", 4) == 0) {
        h->at += 4;
        *value_p = true;
    } else if (left >= 5 && memcmp(h->at, "False", 5) == 0) {
        h->at += 5;
        *value_p = false;
    } else {
        return fail_header(h, "True or False");
    }
    return FIRE_OK;
}

/* A non-negative integer. */
static fire_status_t read_dim(header_t *h, int64_t *dim_p)
{
    const char *start;
    int64_t     dim = 0;

    skip_blank(h);
    for (start = h->at; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
        if (__builtin_mul_overflow(dim, 10, &dim) ||
            __builtin_add_overflow(dim, *h->at - '0', &dim))
            return fail_header(h, "a smaller dimension");
    if (h->at == start) return fail_header(h, "a dimension");
    if (h->at < h->end && *h->at == 'L')
        h->at++; /* Python 2 writes long integers as 2L */
    *dim_p = dim;
    return FIRE_OK;
}

/* (2, 3) or (2,) or () */
static fire_status_t read_shape(header_t *h)
{
    fire_npy_t *npy = h->npy;

    if (!accept(h, '(')) return fail_header(h, "(");
    h->has_shape = true;
    npy->ndim    = 0;
    npy->count   = 1;
    while (!accept(h, ')')) {
        int64_t *dim = &npy->dim[npy->ndim];

        if (npy->ndim == FIRE_MAX_DIMS) return fail_header(h, "at most 32 dimensions");
        FIRE_TRY(read_dim(h, dim));
        if (__builtin_mul_overflow(npy->count, *dim, &npy->count))
            return fail_header(h, "a smaller shape");
        npy->ndim++;
        if (!accept(h, ',') && !(h->at < h->end && *h->at == ')'))
            return fail_header(h, ", or )");
    }
    return FIRE_OK;
}

/* Find the element type by its descr. */
static fire_status_t read_dtype(header_t *h)
{
    char descr[32];

    FIRE_TRY(read_quoted(h, descr, sizeof(descr)));
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (strcmp(dtypes[i].descr, descr) == 0) {
            h->dtype = &dtypes[i];
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "%s: elements of type \"%s\" are not read here; save the array as "
                     "float32: numpy.save(f, a.astype('<f4'))",
                     h->file, descr);
}

/* 'key': value */
static fire_status_t read_entry(header_t *h)
{
    char key[32];

    FIRE_TRY(read_quoted(h, key, sizeof(key)));
    if (!accept(h, ':')) return fail_header(h, ":");
    if (strcmp(key, "descr") == 0) return read_dtype(h);
    if (strcmp(key, "shape") == 0) return read_shape(h);
    if (strcmp(key, "fortran_order") != 0) return fail_header(h, "a known key");
    h->has_fortran = true;
    return read_bool(h, &h->fortran);
}

/* The dictionary; its three keys may come in any order. Fortran order is the same as C
 * order for fewer than two axes. */
static fire_status_t read_header(header_t *h)
{
    if (!accept(h, '{')) return fail_header(h, "{");
    while (!accept(h, '}')) {
        FIRE_TRY(read_entry(h));
        if (!accept(h, ',') && !(h->at < h->end && *h->at == '}'))
            return fail_header(h, ", or }");
    }
    if (h->dtype == NULL || !h->has_fortran || !h->has_shape)
        return fail_header(h, "descr, fortran_order and shape");
    if (h->fortran && h->npy->ndim > 1)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "%s: the array is in Fortran order; save it as "
                         "numpy.ascontiguousarray(a)",
                         h->file);
    return FIRE_OK;
}

/* Find the header's text: its offset in the file and its length. */
static fire_status_t find_header(const unsigned char *b, size_t n, const char *file,
                                 size_t *start_p, size_t *len_p)
{
    size_t start, len;

    if (n < PREFIX_V2 || memcmp(b, magic, sizeof(magic)) != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: not a .npy file", file);
    if (b[6] < 1 || b[6] > 3)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "%s: .npy version %d is unknown", file,
                         b[6]);
    start = b[6] == 1 ? PREFIX_V1 : PREFIX_V2;
    len   = b[8] | (size_t)b[9] << 8;
    if (b[6] > 1) len |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (len > n - start)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: the .npy header is cut off", file);
    *start_p = start;
    *len_p   = len;
    return FIRE_OK;
}

/* Bytes after the elements are ignored, as numpy does. */
fire_status_t fire_npy_parse(const void *bytes, size_t n, const char *file,
                             fire_npy_t *npy_p)
{
    fire_npy_t npy = {0};
    header_t   h   = {.file = file, .npy = &npy};
    size_t     start, len, want;

    FIRE_TRY(find_header(bytes, n, file, &start, &len));
    h.at  = (const char *)bytes + start;
    h.end = h.at + len;
    FIRE_TRY(read_header(&h));
    n -= start + len;
    if (__builtin_mul_overflow((size_t)npy.count, h.dtype->size, &want) || n < want)
        return FIRE_FAIL(
            FIRE_ERR_PARSE,
            "%s: the file is cut off: %lld elements of %zu bytes expected, "
            "%zu bytes found",
            file, (long long)npy.count, h.dtype->size, n);
    FIRE_TRY(FIRE_NEW(&npy.data, npy.count));
    h.dtype->convert((const char *)bytes + start + len, npy.count, npy.data);
    *npy_p = npy;
    return FIRE_OK;
}

fire_status_t fire_npy_load(const char *path, fire_npy_t *npy_p)
{
    char         *bytes = NULL;
    size_t        n     = 0;
    fire_status_t st;

    FIRE_TRY(fire_file_read(path, &bytes, &n));
    st = fire_npy_parse(bytes, n, path, npy_p);
    fire_free(bytes);
    return st;
}

void fire_npy_fini(fire_npy_t *npy)
{
    fire_free(npy->data);
    *npy = (fire_npy_t){0};
}

/* Append magic, version 1 and header, padded with blanks so that the elements begin at
 * a multiple of 64 bytes. */
fire_status_t fire_npy_print_header(int ndim, const int64_t *dim, fire_str_t *out)
{
    size_t len;

    FIRE_TRY(fire_str_add(out, magic, sizeof(magic)));
    FIRE_TRY(fire_str_add(out, "\1\0\0\0", 4));
    FIRE_TRY(
        fire_str_printf(out, "{'descr': '<f4', 'fortran_order': False, 'shape': ("));
    for (int i = 0; i < ndim; i++)
        FIRE_TRY(fire_str_printf(out, "%lld%s", (long long)dim[i],
                                 ndim == 1      ? ","
                                 : i + 1 < ndim ? ", "
                                                : ""));
    FIRE_TRY(fire_str_printf(out, "), }"));
    len =
        ((size_t)out->n + ALIGN) / ALIGN * ALIGN; /* at least one more byte, for '\n' */
    FIRE_TRY(fire_str_printf(out, "%*s\n", (int)(len - (size_t)out->n - 1), ""));
    len -= PREFIX_V1;
    out->text[8] = (char)(len & 0xFF);
    out->text[9] = (char)(len >> 8);
    return FIRE_OK;
}

/* Header, then elements, under a temporary name. */
static fire_status_t write_array(const char *path, const fire_str_t *header, size_t n,
                                 const float *data)
{
    fire_file_writer_t *w;
    fire_status_t       st;

    FIRE_TRY(fire_file_writer_open(path, &w));
    st = fire_file_writer_write(w, header->text, (size_t)header->n);
    if (st == FIRE_OK) st = fire_file_writer_write(w, data, n * sizeof(*data));
    if (st == FIRE_OK) return fire_file_writer_commit(w);
    fire_file_writer_abort(w);
    return st;
}

/* A scalar (ndim 0) has one element. */
fire_status_t fire_npy_save(const char *path, int ndim, const int64_t *dim,
                            const float *data)
{
    fire_str_t    header = {0};
    size_t        n      = 1;
    fire_status_t st     = fire_npy_print_header(ndim, dim, &header);

    for (int i = 0; i < ndim; i++)
        n *= (size_t)dim[i];
    if (st == FIRE_OK) st = write_array(path, &header, n, data);
    fire_str_fini(&header);
    return st;
}
