/* npy.h - reads and writes numpy's .npy files. Elements of <f2, <f4, <f8, |u1, |i1, |b1, <i4
 * or <i8 in C order are converted to float32; files are written as <f4. */
#ifndef FIRE_MODEL_NPY_H
#define FIRE_MODEL_NPY_H
#include <fire/blob.h>
#include "base/text/text.h"

/* An array in C order (last axis contiguous). */
typedef struct fire_npy {
    int     ndim;
    int64_t dim[FIRE_MAX_DIMS];
    int64_t count; /* product of dim */
    float  *data;  /* [count], owned */
} fire_npy_t;

/* Load a file, or parse the n bytes of one (`file` names it in messages). End *npy_p
 * with fire_npy_fini(). */
fire_status_t fire_npy_load(const char *path, fire_npy_t *npy_p);
fire_status_t fire_npy_parse(const void *bytes, size_t n, const char *file,
                             fire_npy_t *npy_p);
void          fire_npy_fini(fire_npy_t *npy);

fire_status_t fire_npy_save(const char *path, int ndim, const int64_t *dim,
                            const float *data);
/* Append what stands before the elements of such a file. */
fire_status_t fire_npy_print_header(int ndim, const int64_t *dim, fire_str_t *out);
#endif
