/* onednn_api.h - what our oneDNN files share: oneDNN's own types, and what differs
 * between its interfaces: in 2.x a memory descriptor is a struct, in 3.x a handle. */
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

/* A oneDNN call as a status, with its text and place in the message. */
#define FIRE_ONEDNN(call) fire_onednn_status((call), #call, __FILE__, __LINE__)
fire_status_t fire_onednn_status(dnnl_status_t result, const char *call,
                                 const char *file, int line);

/* The CPU engine, created on first use, never destroyed. */
fire_status_t fire_onednn_engine(dnnl_engine_t *engine_p);

/* A memory descriptor; end it with fire_onednn_md_free(). With dnnl_format_tag_any
 * oneDNN chooses the layout. */
fire_status_t fire_onednn_md_make(const fire_onednn_array_t *array,
                                  dnnl_format_tag_t tag, dnnl_memory_desc_t *md_p);
void          fire_onednn_md_free(dnnl_memory_desc_t *md);

/* One argument of an operation, and where to ask the primitive's descriptor for its
 * format. */
typedef struct fire_onednn_arg {
    int                        name;  /* DNNL_ARG_... */
    dnnl_query_t               query; /* with index: which memory descriptor */
    int                        index;
    const fire_onednn_array_t *array;
    bool                       batch; /* the first axis is the batch */
} fire_onednn_arg_t;

/* Make an operation of a primitive that does one of `parts` equal parts of the
 * batch. */
fire_status_t fire_onednn_op_make(const_dnnl_primitive_desc_t pd, int64_t parts,
                                  int nwant, const fire_onednn_arg_t *want,
                                  fire_onednn_op_t *op_p);

/* The blob format of a oneDNN memory descriptor: plain or blocked (blocked.h) where it
 * is one of these, else opaque. */
fire_status_t fire_onednn_format(const fire_onednn_array_t *array,
                                 fire_onednn_md_ref_t md, fire_format_t *format_p);
#endif
