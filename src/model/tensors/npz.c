/* npz.c - numpy's .npz: a zip archive with NAME.npy for each array. */
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "model/npy.h"
#include "model/tensors/tensors.h"
#include "model/tensors/zip.h"

/* ---- reading ---- */

static fire_status_t add_array(fire_tensors_t *ts, const char *name, const void *bytes,
                               size_t n)
{
    fire_npy_t    npy;
    float        *values;
    fire_status_t st;

    FIRE_TRY(fire_npy_parse(bytes, n, name, &npy));
    st = fire_tensors_add(ts, name, npy.ndim, npy.dim, &values);
    if (st >= 0 && values != NULL && npy.count > 0)
        memcpy(values, npy.data, (size_t)npy.count * sizeof(*values));
    fire_npy_fini(&npy);
    return st;
}

/* The name without ".npy". */
static fire_status_t read_entry(const fire_zip_t *zip, const fire_zip_entry_t *e,
                                fire_tensors_t *ts)
{
    const void   *bytes;
    void         *own;
    char         *name;
    int           n = (int)e->length;
    fire_status_t st;

    if (n >= 4 && memcmp(e->name + n - 4, ".npy", 4) == 0) n -= 4;
    FIRE_TRY(fire_asprintf(&name, "%.*s", n, e->name));
    st = fire_zip_read(zip, e, &bytes, &own);
    if (st >= 0) {
        st = add_array(ts, name, bytes, (size_t)e->size);
        fire_free(own);
        if (st < 0) st = fire_error_prefix(st, "%s", zip->file);
    }
    fire_free(name);
    return st;
}

static fire_status_t read_entries(fire_zip_t *zip, fire_tensors_t *ts)
{
    fire_zip_entry_t e;
    bool             more;

    for (;;) {
        FIRE_TRY(fire_zip_next(zip, &e, &more));
        if (!more) return FIRE_OK;
        FIRE_TRY(read_entry(zip, &e, ts));
    }
}

fire_status_t fire_npz_parse(const void *bytes, size_t n, const char *file,
                             Caffe__NetParameter **net_p)
{
    fire_tensors_t ts = {0};
    fire_zip_t     zip;
    fire_status_t  st;

    FIRE_TRY(fire_zip_open(bytes, n, file, &zip));
    st = read_entries(&zip, &ts);
    if (st >= 0) return fire_tensors_take(&ts, file, net_p);
    fire_tensors_fini(&ts);
    return st;
}

/* ---- writing ---- */

static fire_status_t write_array(void *arg, const fire_tensor_t *t)
{
    fire_str_t    head = {0};
    char         *name;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&name, "%s.npy", t->name));
    st = fire_npy_print_header(t->ndim, t->dim, &head);
    if (st >= 0)
        st = fire_zip_add(arg, name, &head, t->values,
                          (size_t)t->count * sizeof(*t->values));
    fire_str_fini(&head);
    fire_free(name);
    return st;
}

static fire_status_t write_all(const char *path, const Caffe__NetParameter *net)
{
    fire_zip_writer_t z = {0};
    fire_status_t     st;

    FIRE_TRY(fire_file_writer_open(path, &z.w));
    st = fire_tensors_each(net, true, write_array, &z);
    if (st >= 0) st = fire_zip_end(&z);
    fire_zip_fini(&z);
    if (st >= 0) return fire_file_writer_commit(z.w);
    fire_file_writer_abort(z.w);
    return st;
}

fire_status_t fire_npz_save(const char *path, const Caffe__NetParameter *net)
{
    fire_status_t st = write_all(path, net);

    return st < 0 ? fire_error_prefix(st, "%s", path) : FIRE_OK;
}
