/* onednn_api.h - what differs between oneDNN's interfaces 2.x and 3.x: a memory
 * descriptor is a structure there, a handle here. Only for onednn*.c. */
#ifndef FIRE_DEVICE_CPU_ONEDNN_API_H
#define FIRE_DEVICE_CPU_ONEDNN_API_H
#include <oneapi/dnnl/dnnl.h>

#include "device/cpu/onednn.h"

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t fire_onednn_md_ref_t; /* as functions take it */
#    define FIRE_ONEDNN_REF(md) (md)
#else
typedef const dnnl_memory_desc_t *fire_onednn_md_ref_t;
#    define FIRE_ONEDNN_REF(md) (&(md))
#endif

/* A oneDNN call becomes a status where it is made. */
#define FIRE_ONEDNN(call) fire_onednn_status((call), #call, __FILE__, __LINE__)
fire_status_t fire_onednn_status(dnnl_status_t result, const char *call,
                                 const char *file, int line);

fire_status_t fire_onednn_engine(dnnl_engine_t *engine_p);

/* A descriptor to be ended with fire_onednn_md_free(). tag `any` lets oneDNN choose. */
fire_status_t fire_onednn_md_make(const fire_onednn_array_t *array,
                                  dnnl_format_tag_t tag, dnnl_memory_desc_t *md_p);
void          fire_onednn_md_free(dnnl_memory_desc_t *md);

/* One argument of an operation: its DNNL_ARG_ name, its array, and where the
 * primitive's description tells the format. */
typedef struct fire_onednn_arg {
    int                        name;
    dnnl_query_t               query;
    int                        index;
    const fire_onednn_array_t *array;
    bool                       batch; /* the first axis is the batch */
} fire_onednn_arg_t;

/* The primitive does one of `parts` parts of the batch. */
fire_status_t fire_onednn_op_make(const_dnnl_primitive_desc_t pd, int64_t parts,
                                  int nwant, const fire_onednn_arg_t *want,
                                  fire_onednn_op_t *op_p);

/* oneDNN's own format as ours: plain or blocked where it is one of these. */
fire_status_t fire_onednn_format(const fire_onednn_array_t *array,
                                 fire_onednn_md_ref_t md, fire_format_t *format_p);
#endif
