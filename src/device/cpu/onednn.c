/* onednn.c - oneDNN primitives as operations that run on blobs' memory. */
#include "device/cpu/onednn_api.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/blocked.h"

fire_status_t fire_onednn_status(dnnl_status_t result, const char *call,
                                 const char *file, int line)
{
    if (result == dnnl_success) return FIRE_OK;
    return fire_error_set(result == dnnl_out_of_memory   ? FIRE_ERR_NOMEM
                          : result == dnnl_unimplemented ? FIRE_ERR_UNSUPPORTED
                                                         : FIRE_ERR_INVALID,
                          file, line, "oneDNN: %s failed with status %d", call,
                          (int)result);
}

/* One engine for the process: a CPU engine has no state. */
static dnnl_engine_t  engine;
static dnnl_status_t  engine_status;
static pthread_once_t engine_once = PTHREAD_ONCE_INIT;

static void make_engine(void)
{
    engine_status = dnnl_engine_create(&engine, dnnl_cpu, 0);
}

fire_status_t fire_onednn_engine(dnnl_engine_t *engine_p)
{
    pthread_once(&engine_once, make_engine);
    FIRE_TRY(FIRE_ONEDNN(engine_status));
    *engine_p = engine;
    return FIRE_OK;
}

static dnnl_data_type_t data_type(fire_dtype_t t)
{
    return t == FIRE_BF16 ? dnnl_bf16 : t == FIRE_F16 ? dnnl_f16 : dnnl_f32;
}

fire_status_t fire_onednn_md_make(const fire_onednn_array_t *a, dnnl_format_tag_t tag,
                                  dnnl_memory_desc_t *md_p)
{
#if DNNL_VERSION_MAJOR >= 3
    return FIRE_ONEDNN(dnnl_memory_desc_create_with_tag(md_p, a->ndim, a->dim,
                                                        data_type(a->dtype), tag));
#else
    return FIRE_ONEDNN(
        dnnl_memory_desc_init_by_tag(md_p, a->ndim, a->dim, data_type(a->dtype), tag));
#endif
}

void fire_onednn_md_free(dnnl_memory_desc_t *md)
{
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_destroy(*md);
#else
    (void)md;
#endif
}

/* From the format of a part of the batch to that of the whole batch. */
static fire_status_t batch_format(const fire_onednn_array_t *part, int64_t parts,
                                  fire_format_t *format)
{
    const fire_blocked_t *b = fire_blocked_of(format);
    int64_t               dim[FIRE_ONEDNN_AXES];

    if (b == NULL && format->layout == FIRE_OPAQUE)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "oneDNN chose a format whose batch cannot be cut into parts");
    if (b == NULL) return FIRE_OK;
    memcpy(dim, part->dim, sizeof(dim));
    dim[0] *= parts;
    return fire_blocked_format(b->dtype, b->block, part->ndim, dim, format);
}

/* Ask the primitive which format it takes argument `want` in, and note it in op. */
static fire_status_t add_argument(fire_onednn_op_t *op, const_dnnl_primitive_desc_t pd,
                                  const fire_onednn_arg_t *want)
{
    fire_onednn_md_ref_t md =
        dnnl_primitive_desc_query_md(pd, want->query, want->index);
    int           i = op->narg;
    dnnl_engine_t cpu;

    FIRE_TRY(fire_onednn_engine(&cpu));
    FIRE_TRY(fire_onednn_format(want->array, md, &op->format[i]));
    if (want->batch && op->parts > 1) {
        FIRE_TRY(batch_format(want->array, op->parts, &op->format[i]));
        op->step[i] = dnnl_memory_desc_get_size(md);
    }
    FIRE_TRY(
        FIRE_ONEDNN(dnnl_memory_create(&op->memory[i], md, cpu, DNNL_MEMORY_NONE)));
    op->name[i] = want->name;
    op->narg++;
    return FIRE_OK;
}

/* Note how much scratch memory the primitive needs. */
static fire_status_t add_scratch(fire_onednn_op_t *op, const_dnnl_primitive_desc_t pd)
{
    fire_onednn_md_ref_t md =
        dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    dnnl_engine_t cpu;

    op->scratch_bytes = md != NULL ? dnnl_memory_desc_get_size(md) : 0;
    if (op->scratch_bytes == 0) return FIRE_OK;
    FIRE_TRY(fire_onednn_engine(&cpu));
    return FIRE_ONEDNN(dnnl_memory_create(&op->scratch, md, cpu, DNNL_MEMORY_NONE));
}

fire_status_t fire_onednn_op_make(const_dnnl_primitive_desc_t pd, int64_t parts,
                                  int nwant, const fire_onednn_arg_t *want,
                                  fire_onednn_op_t *op_p)
{
    fire_onednn_op_t op = {.parts = parts};
    dnnl_engine_t    cpu;
    fire_status_t    st;

    FIRE_TRY(fire_onednn_engine(&cpu));
    FIRE_TRY_GOTO(st, FIRE_ONEDNN(dnnl_primitive_create(&op.primitive, pd)), err_op);
    FIRE_TRY_GOTO(
        st, FIRE_ONEDNN(dnnl_stream_create(&op.stream, cpu, dnnl_stream_default_flags)),
        err_op);
    for (int i = 0; i < nwant; i++)
        FIRE_TRY_GOTO(st, add_argument(&op, pd, &want[i]), err_op);
    FIRE_TRY_GOTO(st, add_scratch(&op, pd), err_op);
    *op_p = op;
    return FIRE_OK;

err_op:
    fire_onednn_op_fini(&op);
    return st;
}

/* Run the primitive on one part of the batch. */
static fire_status_t execute(fire_onednn_op_t *op, int64_t part, void *const *arg,
                             void *scratch)
{
    dnnl_exec_arg_t exec[FIRE_ONEDNN_ARGS + 1];
    int             n = op->narg;

    for (int i = 0; i < op->narg; i++) {
        void *ptr = (char *)arg[i] + (size_t)part * op->step[i];

        FIRE_TRY(FIRE_ONEDNN(dnnl_memory_set_data_handle(op->memory[i], ptr)));
        exec[i] = (dnnl_exec_arg_t){op->name[i], op->memory[i]};
    }
    if (scratch != NULL) {
        FIRE_TRY(FIRE_ONEDNN(dnnl_memory_set_data_handle(op->scratch, scratch)));
        exec[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, op->scratch};
    }
    FIRE_TRY(FIRE_ONEDNN(dnnl_primitive_execute(op->primitive, op->stream, n, exec)));
    return FIRE_ONEDNN(dnnl_stream_wait(op->stream));
}

fire_status_t fire_onednn_op_run(fire_onednn_op_t *op, void *const *arg,
                                 fire_pool_t *pool)
{
    void         *scratch = NULL;
    fire_status_t st      = FIRE_OK;

    if (op->scratch_bytes > 0)
        FIRE_TRY(fire_pool_take(pool, op->scratch_bytes, &scratch));
    for (int64_t part = 0; part < op->parts && st == FIRE_OK; part++)
        st = execute(op, part, arg, scratch);
    fire_pool_give(pool, scratch);
    return st;
}

void fire_onednn_op_fini(fire_onednn_op_t *op)
{
    for (int i = 0; i < FIRE_ONEDNN_ARGS; i++)
        if (op->memory[i] != NULL) dnnl_memory_destroy(op->memory[i]);
    if (op->scratch != NULL) dnnl_memory_destroy(op->scratch);
    if (op->stream != NULL) dnnl_stream_destroy(op->stream);
    if (op->primitive != NULL) dnnl_primitive_destroy(op->primitive);
    *op = (fire_onednn_op_t){0};
}
