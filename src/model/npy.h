/* npy.h - numpy's .npy files. Read as float32 whatever they hold of <f4, <f8,
 * |u1, |i1, |b1, <i4 and <i8, in C order; written as <f4. */
#ifndef FIRE_MODEL_NPY_H
#define FIRE_MODEL_NPY_H
#include <fire/blob.h>

typedef struct fire_npy {
    int     ndim;
    int64_t dim[FIRE_MAX_DIMS];
    int64_t count;
    float  *data;
} fire_npy_t;

/* End with fire_npy_fini(). parse() takes the contents of a file. */
fire_status_t fire_npy_load(const char *path, fire_npy_t *npy_p);
fire_status_t fire_npy_parse(const void *bytes, size_t n, const char *file,
                             fire_npy_t *npy_p);
void          fire_npy_fini(fire_npy_t *npy);

fire_status_t fire_npy_save(const char *path, int ndim, const int64_t *dim,
                            const float *data);
#endif
