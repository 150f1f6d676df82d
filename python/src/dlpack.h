/* dlpack.h - the part of DLPack's interface (dmlc.github.io/dlpack) that blobs on a GPU
 * need: how arrays without a copy pass between libraries. */
#ifndef CAFFE_DLPACK_H
#define CAFFE_DLPACK_H
#include <stdint.h>

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_FLOAT = 2 };

typedef struct dlpack_tensor {
    void   *data;
    int32_t device_type, device_id;
    int32_t ndim;
    struct {
        uint8_t  code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides in elements; NULL: C order */
    uint64_t byte_offset;
} dlpack_tensor_t;

/* What the capsule "dltensor" holds; who has used it calls deleter, from any thread. */
typedef struct dlpack_managed {
    dlpack_tensor_t tensor;
    void           *context;
    void (*deleter)(struct dlpack_managed *self);
} dlpack_managed_t;
#endif
