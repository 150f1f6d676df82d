/* safetensors.c - eight bytes with the length of the header, the header in JSON
 * ({"conv1.weight": {"dtype": "F32", "shape": [20, 1, 5, 5], "data_offsets": [0, 2000]}}),
 * then the values. */
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/half.h"
#include "base/text/json.h"
#include "model/tensors/tensors.h"

enum {
    PREFIX      = 8,
    ALIGN       = 8,
    MOST_HEADER = 100 << 20 /* as the format's authors say */
};

/* ---- reading ---- */

typedef struct source {
    const char     *file;
    const uint8_t  *values; /* [n] */
    size_t          n;
    fire_tensors_t *ts;
} source_t;

static void from_f64(const uint8_t *from, int64_t n, float *to)
{
    double v;

    for (int64_t i = 0; i < n; i++) {
        memcpy(&v, from + i * (int64_t)sizeof(v), sizeof(v));
        to[i] = (float)v;
    }
}

static void from_f32(const uint8_t *from, int64_t n, float *to)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof(*to));
}

static void from_f16(const uint8_t *from, int64_t n, float *to)
{
    uint16_t v;

    for (int64_t i = 0; i < n; i++) {
        memcpy(&v, from + i * (int64_t)sizeof(v), sizeof(v));
        to[i] = fire_from_fp16(v);
    }
}

static void from_bf16(const uint8_t *from, int64_t n, float *to)
{
    uint16_t v;

    for (int64_t i = 0; i < n; i++) {
        memcpy(&v, from + i * (int64_t)sizeof(v), sizeof(v));
        to[i] = fire_from_bf16(v);
    }
}

static const struct dtype {
    const char *name;
    uint64_t    size;
    void (*convert)(const uint8_t *from, int64_t n, float *to);
} dtypes[] = {{"F32", 4, from_f32},
              {"F64", 8, from_f64},
              {"F16", 2, from_f16},
              {"BF16", 2, from_bf16}};

static fire_status_t find_dtype(const char *name, const struct dtype **dtype_p)
{
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (strcmp(dtypes[i].name, name) == 0) {
            *dtype_p = &dtypes[i];
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "elements of type \"%.20s\"; F32, F64, F16 and BF16 are read",
                     name);
}

/* A list of at most `most` whole numbers from 0 on. */
static fire_status_t read_list(const fire_json_t *tensor, const char *key, int most,
                               int *n_p, int64_t *values)
{
    const fire_json_t *list;

    FIRE_TRY(fire_json_want(tensor, key, FIRE_JSON_ARRAY, &list));
    if (list->n > most)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s has %lld numbers, at most %d can be", key,
                         (long long)list->n, most);
    for (int i = 0; i < (int)list->n; i++) {
        double v = list->item[i].kind == FIRE_JSON_NUMBER ? list->item[i].number : -1;

        if (!(v >= 0 && v < 0x1p53) || v != (double)(int64_t)v)
            return FIRE_FAIL(FIRE_ERR_PARSE, "%s must be whole numbers from 0 on", key);
        values[i] = (int64_t)v;
    }
    *n_p = (int)list->n;
    return FIRE_OK;
}

static fire_status_t read_tensor(const source_t *s, const fire_json_t *tensor)
{
    const struct dtype *dtype;
    const fire_json_t  *name;
    int64_t             dim[FIRE_MAX_DIMS], at[2] = {0}, count;
    int                 ndim, n;
    float              *values;

    FIRE_TRY(fire_json_want(tensor, "dtype", FIRE_JSON_STRING, &name));
    FIRE_TRY(read_list(tensor, "shape", FIRE_MAX_DIMS, &ndim, dim));
    FIRE_TRY(read_list(tensor, "data_offsets", 2, &n, at));
    FIRE_TRY(fire_tensor_count(ndim, dim, &count));
    if (n != 2 || at[0] > at[1] || (uint64_t)at[1] > s->n)
        return FIRE_FAIL(
            FIRE_ERR_PARSE,
            "its values are bytes %lld to %lld of %zu: the file is cut off "
            "or damaged",
            (long long)at[0], (long long)at[1], s->n);
    if (find_dtype(name->string, &dtype) < 0) {
        static const int64_t none = 0;

        FIRE_TRY(fire_tensors_add(s->ts, tensor->key, 1, &none, &values));
        return values == NULL ? FIRE_OK : find_dtype(name->string, &dtype);
    }
    if ((uint64_t)(at[1] - at[0]) != (uint64_t)count * dtype->size)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%lld bytes for %lld elements of type %s",
                         (long long)(at[1] - at[0]), (long long)count, dtype->name);
    FIRE_TRY(fire_tensors_add(s->ts, tensor->key, ndim, dim, &values));
    if (values != NULL) dtype->convert(s->values + at[0], count, values);
    return FIRE_OK;
}

static fire_status_t read_tensors(const source_t *s, const fire_json_t *header)
{
    if (header->kind != FIRE_JSON_OBJECT)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: the header is no object", s->file);
    for (int64_t i = 0; i < header->n; i++) {
        const fire_json_t *tensor = &header->item[i];
        fire_status_t      st;

        if (strcmp(tensor->key, "__metadata__") == 0) continue;
        st = read_tensor(s, tensor);
        if (st < 0)
            return fire_error_prefix(st, "%s: \"%.200s\"", s->file, tensor->key);
    }
    return FIRE_OK;
}

fire_status_t fire_safetensors_parse(const void *bytes, size_t n, const char *file,
                                     Caffe__NetParameter **net_p)
{
    fire_tensors_t ts   = {0};
    source_t       s    = {.file = file, .ts = &ts};
    uint64_t       size = 0;
    fire_json_t   *header;
    fire_status_t  st;

    if (n >= PREFIX) memcpy(&size, bytes, PREFIX);
    if (n < PREFIX || size > n - PREFIX || size > MOST_HEADER)
        return FIRE_FAIL(
            FIRE_ERR_PARSE,
            "%s: a header of %llu bytes in a file of %zu: it is cut off, or "
            "no safetensors file",
            file, (unsigned long long)size, n);
    s.values = (const uint8_t *)bytes + PREFIX + size;
    s.n      = n - PREFIX - (size_t)size;
    FIRE_TRY(
        fire_json_parse((const char *)bytes + PREFIX, (size_t)size, file, &header));
    st = read_tensors(&s, header);
    fire_json_free(header);
    if (st >= 0) return fire_tensors_take(&ts, file, net_p);
    fire_tensors_fini(&ts);
    return st;
}

/* ---- writing ---- */

typedef struct target {
    fire_json_writer_t  header;
    fire_file_writer_t *w;
    int64_t             at; /* bytes of values so far */
} target_t;

static fire_status_t add_head(void *arg, const fire_tensor_t *t)
{
    target_t           *to  = arg;
    fire_json_writer_t *w   = &to->header;
    int64_t             end = to->at + t->count * (int64_t)sizeof(float);

    fire_json_open(w, t->name, '{');
    fire_json_add_string(w, "dtype", "F32");
    fire_json_open(w, "shape", '[');
    for (int i = 0; i < t->ndim; i++)
        fire_json_add_int(w, NULL, t->dim[i]);
    fire_json_close(w, ']');
    fire_json_open(w, "data_offsets", '[');
    fire_json_add_int(w, NULL, to->at);
    fire_json_add_int(w, NULL, end);
    fire_json_close(w, ']');
    fire_json_close(w, '}');
    to->at = end;
    return w->status;
}

static fire_status_t add_values(void *arg, const fire_tensor_t *t)
{
    const target_t *to = arg;

    return fire_file_writer_write(to->w, t->values,
                                  (size_t)t->count * sizeof(*t->values));
}

/* The header is filled with blanks, so that values are aligned. */
static fire_status_t write_header(const target_t *to)
{
    const fire_str_t *text = &to->header.out;
    uint64_t          size = ((uint64_t)text->n + ALIGN - 1) / ALIGN * ALIGN;

    FIRE_TRY(fire_file_writer_write(to->w, &size, sizeof(size)));
    FIRE_TRY(fire_file_writer_write(to->w, text->text, (size_t)text->n));
    return fire_file_writer_write(to->w, "        ", (size_t)size - (size_t)text->n);
}

static fire_status_t write_all(target_t *to, const char *path,
                               const Caffe__NetParameter *net)
{
    fire_status_t st;

    fire_json_open(&to->header, NULL, '{');
    FIRE_TRY(fire_tensors_each(net, false, add_head, to));
    fire_json_close(&to->header, '}');
    FIRE_TRY(to->header.status);
    FIRE_TRY(fire_file_writer_open(path, &to->w));
    st = write_header(to);
    if (st >= 0) st = fire_tensors_each(net, true, add_values, to);
    if (st >= 0) return fire_file_writer_commit(to->w);
    fire_file_writer_abort(to->w);
    return st;
}

fire_status_t fire_safetensors_save(const char *path, const Caffe__NetParameter *net)
{
    target_t      to = {0};
    fire_status_t st = write_all(&to, path, net);

    fire_json_writer_fini(&to.header);
    return st < 0 ? fire_error_prefix(st, "%s", path) : FIRE_OK;
}
