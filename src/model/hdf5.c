/* hdf5.c - the operations of hdf5_io.h, and the lock around the HDF5 library. */
#include <pthread.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "model/hdf5_io.h"

/* MEMORY_STEP: bytes by which a file in memory grows. REASON_MAX: of a message. */
enum { MEMORY_STEP = 1 << 22, REASON_MAX = 300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t     old_printer; /* what printed errors before; guarded by `lock` */
static void           *old_printer_arg;

/* The library prints its errors to stderr unless the handler is removed; a program that
 * embeds us may have set its own, so it is restored afterwards. */
void fire_hdf5_lock(void)
{
    pthread_mutex_lock(&lock);
    H5Eget_auto2(H5E_DEFAULT, &old_printer, &old_printer_arg);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void fire_hdf5_unlock(void)
{
    H5Eset_auto2(H5E_DEFAULT, old_printer, old_printer_arg);
    pthread_mutex_unlock(&lock);
}

/* Callback of H5Ewalk2(). */
static herr_t keep_reason(unsigned depth, const H5E_error2_t *error, void *reason)
{
    (void)depth;
    if (error->desc != NULL) strncpy(reason, error->desc, REASON_MAX - 1);
    return 1; /* stop at the first, which is the innermost */
}

fire_status_t fire_hdf5_fail(const char *doing, const char *path, const char *name)
{
    char reason[REASON_MAX] = "unknown reason";

    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, reason);
    return FIRE_FAIL(FIRE_ERR_IO, "cannot %s \"%s\"%s%s: HDF5: %s", doing, path,
                     name[0] != '\0' ? " " : "", name, reason);
}

fire_status_t fire_hdf5_open(const char *path, hid_t *file_p)
{
    hid_t file;

    FIRE_TRY(fire_file_check(path));
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: not an HDF5 file, or damaged", path);
    *file_p = file;
    return FIRE_OK;
}

void fire_hdf5_close(hid_t file)
{
    H5Fclose(file);
}

/* Properties that let no link lead to another file: who opens a file has named that one
 * only. */
static herr_t refuse_link(const char *file, const char *group, const char *other_file,
                          const char *other, unsigned *flags, hid_t access, void *arg)
{
    (void)file, (void)group, (void)other_file, (void)other, (void)flags, (void)access;
    (void)arg;
    return -1;
}

hid_t fire_hdf5_find(hid_t at, const char *name)
{
    hid_t access = H5Pcreate(H5P_LINK_ACCESS), object;

    H5Pset_elink_cb(access, refuse_link, NULL);
    object = H5Oopen(at, name, access);
    H5Pclose(access);
    return object;
}

/* The core driver keeps the file in memory; 0: it is never written by the library. */
fire_status_t fire_hdf5_create(hid_t *file_p)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file   = -1;

    if (access >= 0 && H5Pset_fapl_core(access, MEMORY_STEP, 0) >= 0)
        file = H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file < 0) return fire_hdf5_fail("create", "in memory", "");
    *file_p = file;
    return FIRE_OK;
}

/* Write a file in memory to disk. */
static fire_status_t write_image(hid_t file, const char *path, bool sealed)
{
    ssize_t n =
        H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : -1;
    char         *image;
    fire_status_t st;

    if (n < 0) return fire_hdf5_fail("write", path, "");
    FIRE_TRY(FIRE_NEW(&image, n));
    if (H5Fget_file_image(file, image, (size_t)n) == n)
        st = sealed ? fire_file_write_sealed(path, image, (size_t)n)
                    : fire_file_write(path, image, (size_t)n);
    else
        st = fire_hdf5_fail("write", path, "");
    fire_free(image);
    return st;
}

/* Closes the file even if writing failed. */
fire_status_t fire_hdf5_commit(hid_t file, const char *path, bool sealed)
{
    fire_status_t st = write_image(file, path, sealed);

    H5Fclose(file);
    return st;
}

static hid_t link_properties(void)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE);

    if (links >= 0) H5Pset_create_intermediate_group(links, 1);
    return links;
}

fire_status_t fire_hdf5_write_group(hid_t at, const char *name, const char *path)
{
    hid_t links = link_properties();
    hid_t group = H5Gcreate2(at, name, links, H5P_DEFAULT, H5P_DEFAULT);

    H5Pclose(links);
    if (group < 0) return fire_hdf5_fail("write", path, name);
    H5Gclose(group);
    return FIRE_OK;
}

/* Write a dataset; closes `space`. */
static fire_status_t write_dataset(hid_t at, const char *name, const char *path,
                                   hid_t type, hid_t space, const void *values)
{
    hid_t  links = link_properties();
    hid_t  set   = H5Dcreate2(at, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    herr_t ok    = set;

    if (set >= 0) ok = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
    H5Pclose(links);
    return ok >= 0 ? FIRE_OK : fire_hdf5_fail("write", path, name);
}

static hid_t space_of(int ndim, const int64_t *dim)
{
    hsize_t size[FIRE_MAX_DIMS];

    for (int i = 0; i < ndim; i++)
        size[i] = (hsize_t)dim[i];
    return H5Screate_simple(ndim, size, NULL);
}

fire_status_t fire_hdf5_write_floats(hid_t at, const char *name, const char *path,
                                     int ndim, const int64_t *dim, const float *values)
{
    return write_dataset(at, name, path, H5T_NATIVE_FLOAT, space_of(ndim, dim), values);
}

fire_status_t fire_hdf5_write_ints(hid_t at, const char *name, const char *path,
                                   int ndim, const int64_t *dim, const int *values)
{
    return write_dataset(at, name, path, H5T_NATIVE_INT, space_of(ndim, dim), values);
}

fire_status_t fire_hdf5_write_texts(hid_t at, const char *name, const char *path,
                                    int64_t n, const char *const *text)
{
    hid_t         type    = H5Tcopy(H5T_C_S1);
    size_t        longest = 1;
    char         *all;
    fire_status_t st;

    for (int64_t i = 0; i < n; i++)
        if (strlen(text[i]) > longest) longest = strlen(text[i]);
    H5Tset_size(type, longest);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    st = FIRE_NEW(&all, n * (int64_t)longest);
    if (st >= 0) {
        for (int64_t i = 0; i < n; i++)
            memcpy(all + i * (int64_t)longest, text[i], strlen(text[i]));
        st = write_dataset(at, name, path, type, space_of(1, &n), all);
        fire_free(all);
    }
    H5Tclose(type);
    return st;
}

fire_status_t fire_hdf5_write_int(hid_t at, const char *name, const char *path,
                                  int value)
{
    hsize_t one = 1; /* not a scalar: Caffe reads and writes arrays of one */

    return write_dataset(at, name, path, H5T_NATIVE_INT,
                         H5Screate_simple(1, &one, NULL), &value);
}

fire_status_t fire_hdf5_write_string(hid_t at, const char *name, const char *path,
                                     const char *text)
{
    hid_t         type = H5Tcopy(H5T_C_S1);
    fire_status_t st;

    H5Tset_size(type, strlen(text) + 1);
    st = write_dataset(at, name, path, type, H5Screate(H5S_SCALAR), text);
    H5Tclose(type);
    return st;
}

fire_status_t fire_hdf5_write_bytes(hid_t at, const char *name, const char *path,
                                    size_t n, const void *bytes)
{
    hsize_t size = n;

    return write_dataset(at, name, path, H5T_NATIVE_UINT8,
                         H5Screate_simple(1, &size, NULL), bytes);
}

H5I_type_t fire_hdf5_kind(hid_t at, const char *name)
{
    hid_t      object = fire_hdf5_find(at, name);
    H5I_type_t kind   = H5I_BADID;

    if (object < 0) return kind;
    kind = H5Iget_type(object);
    H5Oclose(object);
    return kind;
}

static fire_status_t space_shape(hid_t space, const char *name, const char *path,
                                 int *ndim_p, int64_t dim[FIRE_MAX_DIMS],
                                 int64_t *count_p)
{
    int     ndim  = H5Sget_simple_extent_ndims(space);
    int64_t count = 1;
    hsize_t size[H5S_MAX_RANK];

    if (ndim < 0 || ndim > FIRE_MAX_DIMS ||
        H5Sget_simple_extent_dims(space, size, NULL) < 0)
        return fire_hdf5_fail("read the shape of", path, name);
    for (int i = 0; i < ndim; i++) {
        if (size[i] > INT64_MAX ||
            __builtin_mul_overflow(count, (int64_t)size[i], &count))
            return FIRE_FAIL(FIRE_ERR_PARSE, "%s: dataset %s is too large", path, name);
        dim[i] = (int64_t)size[i];
    }
    *ndim_p  = ndim;
    *count_p = count;
    return FIRE_OK;
}

/* Bytes of memory that a file may claim beyond what it holds, for data that were never
 * written; how often as many a compressed one may: deflate reaches 1032. */
static const double SPARE_BYTES = 16e6, MOST_TIMES = 1100;

/* Bytes of values that may be in the file. */
static double most_bytes(hid_t set, hid_t made)
{
    hsize_t stored = H5Dget_storage_size(set), size = 0;
    hid_t   file = H5Iget_file_id(set);

    H5Fget_filesize(file, &size);
    H5Fclose(file);
    return SPARE_BYTES + (double)(stored < size ? stored : size) *
                             (H5Pget_nfilters(made) > 0 ? MOST_TIMES : 1);
}

/* A file of a few bytes can claim terabytes, or name any other file as the place of its
 * values. made: the properties with which the dataset was made. */
static fire_status_t check_contents(hid_t set, hid_t type, hid_t made, int64_t count,
                                    const char *name, const char *path)
{
    double claimed = (double)count * (double)H5Tget_size(type);

    if (H5Pget_layout(made) == H5D_VIRTUAL || H5Pget_external_count(made) != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: dataset %s is kept in other files, which are not read",
                         path, name);
    if (claimed <= most_bytes(set, made)) return FIRE_OK;
    return FIRE_FAIL(
        FIRE_ERR_PARSE,
        "%s: dataset %s claims %.0f MB, of which the file holds %.1f: it is "
        "damaged",
        path, name, 1e-6 * claimed, 1e-6 * (double)H5Dget_storage_size(set));
}

static fire_status_t set_shape(hid_t set, const char *name, const char *path,
                               int *ndim_p, int64_t dim[FIRE_MAX_DIMS],
                               int64_t *count_p)
{
    hid_t         space = H5Dget_space(set), type = H5Dget_type(set);
    hid_t         made = H5Dget_create_plist(set);
    fire_status_t st;

    if (space >= 0 && type >= 0 && made >= 0)
        st = space_shape(space, name, path, ndim_p, dim, count_p);
    else
        st = fire_hdf5_fail("read", path, name);
    if (st >= 0) st = check_contents(set, type, made, *count_p, name, path);
    H5Sclose(space);
    H5Tclose(type);
    H5Pclose(made);
    return st;
}

fire_status_t fire_hdf5_read_shape(hid_t at, const char *name, const char *path,
                                   int *ndim_p, int64_t dim[FIRE_MAX_DIMS],
                                   int64_t *count_p)
{
    hid_t         set = fire_hdf5_find(at, name);
    fire_status_t st;

    if (set < 0) return fire_hdf5_fail("read", path, name);
    st = set_shape(set, name, path, ndim_p, dim, count_p);
    H5Oclose(set);
    return st;
}

/* Read all elements; HDF5 converts numbers of any type to `type` and refuses texts. */
static fire_status_t read_dataset(hid_t at, const char *name, const char *path,
                                  hid_t type, void *values)
{
    hid_t  set = fire_hdf5_find(at, name);
    herr_t ok  = set;

    if (set >= 0) ok = H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Oclose(set);
    return ok >= 0 ? FIRE_OK : fire_hdf5_fail("read", path, name);
}

fire_status_t fire_hdf5_read_floats(hid_t at, const char *name, const char *path,
                                    float *values)
{
    return read_dataset(at, name, path, H5T_NATIVE_FLOAT, values);
}

fire_status_t fire_hdf5_read_int(hid_t at, const char *name, const char *path,
                                 int *value_p)
{
    int64_t dim[FIRE_MAX_DIMS], count;
    int     ndim;

    FIRE_TRY(fire_hdf5_read_shape(at, name, path, &ndim, dim, &count));
    if (count != 1)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: %s must be one number, not %lld", path,
                         name, (long long)count);
    return read_dataset(at, name, path, H5T_NATIVE_INT, value_p);
}

fire_status_t fire_hdf5_read_bytes(hid_t at, const char *name, const char *path,
                                   size_t *n_p, uint8_t **bytes_p)
{
    int64_t       dim[FIRE_MAX_DIMS], count;
    int           ndim;
    uint8_t      *bytes;
    fire_status_t st;

    FIRE_TRY(fire_hdf5_read_shape(at, name, path, &ndim, dim, &count));
    FIRE_TRY(FIRE_NEW(&bytes, count));
    st = read_dataset(at, name, path, H5T_NATIVE_UINT8, bytes);
    if (st < 0) {
        fire_free(bytes);
        return st;
    }
    *n_p     = (size_t)count;
    *bytes_p = bytes;
    return FIRE_OK;
}

/* Read a text of fixed length, as Caffe writes it. */
static fire_status_t read_fixed(hid_t set, hid_t type, const char *name,
                                const char *path, char **text_p)
{
    size_t n = H5Tget_size(type);
    char  *text;

    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: %s is not a text of fixed length", path,
                         name);
    FIRE_TRY(FIRE_NEW(&text, n + 1));
    if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        fire_free(text);
        return fire_hdf5_fail("read", path, name);
    }
    *text_p = text;
    return FIRE_OK;
}

fire_status_t fire_hdf5_read_string(hid_t at, const char *name, const char *path,
                                    char **text_p)
{
    int64_t       dim[FIRE_MAX_DIMS], count;
    int           ndim;
    hid_t         set, type;
    fire_status_t st;

    FIRE_TRY(fire_hdf5_read_shape(at, name, path, &ndim, dim, &count));
    if (count != 1)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: %s must be one text", path, name);
    set  = fire_hdf5_find(at, name);
    type = H5Dget_type(set);
    st   = read_fixed(set, type, name, path, text_p);
    H5Tclose(type);
    H5Oclose(set);
    return st;
}

fire_status_t fire_hdf5_count(hid_t group, const char *path, int64_t *n_p)
{
    H5G_info_t info;

    if (H5Gget_info(group, &info) < 0) return fire_hdf5_fail("read", path, "");
    *n_p = (int64_t)info.nlinks;
    return FIRE_OK;
}

/* Alphabetical, because not every file has an index by time of creation. A link to
 * another file is refused, or it would look like a layer that is missing. */
fire_status_t fire_hdf5_name(hid_t group, int64_t i, const char *path, char *name,
                             size_t size)
{
    H5L_info_t link;
    ssize_t n = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i,
                                   name, size, H5P_DEFAULT);

    if (n < 0) return fire_hdf5_fail("read", path, "");
    if ((size_t)n >= size)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: the name %s... is too long", path, name);
    if (H5Lget_info(group, name, &link, H5P_DEFAULT) >= 0 &&
        link.type == H5L_TYPE_EXTERNAL)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: %s is a link to another file, which is not read", path,
                         name);
    return FIRE_OK;
}
