#include "device/cpu/onednn_api.h"

#include <pthread.h>

#include "base/alloc.h"

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

/* One engine for the process: it is the CPU, and has no state. */
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

static fire_status_t add_argument(fire_onednn_op_t *op, const_dnnl_primitive_desc_t pd,
                                  const fire_onednn_want_t *want)
{
    fire_onednn_md_ref_t md =
        dnnl_primitive_desc_query_md(pd, want->query, want->index);
    int           i = op->narg;
    dnnl_engine_t cpu;

    FIRE_TRY(fire_onednn_engine(&cpu));
    FIRE_TRY(fire_onednn_format(want->array, md, &op->format[i]));
    FIRE_TRY(
        FIRE_ONEDNN(dnnl_memory_create(&op->memory[i], md, cpu, DNNL_MEMORY_NONE)));
    op->name[i] = want->name;
    op->narg++;
    return FIRE_OK;
}

fire_status_t fire_onednn_op_make(const_dnnl_primitive_desc_t pd, int nwant,
                                  const fire_onednn_want_t *want,
                                  fire_onednn_op_t         *op_p)
{
    fire_onednn_op_t op = {0};
    dnnl_engine_t    cpu;
    fire_status_t    st;

    FIRE_TRY(fire_onednn_engine(&cpu));
    FIRE_TRY_GOTO(st, FIRE_ONEDNN(dnnl_primitive_create(&op.primitive, pd)), err_op);
    FIRE_TRY_GOTO(
        st, FIRE_ONEDNN(dnnl_stream_create(&op.stream, cpu, dnnl_stream_default_flags)),
        err_op);
    for (int i = 0; i < nwant; i++)
        FIRE_TRY_GOTO(st, add_argument(&op, pd, &want[i]), err_op);
    *op_p = op;
    return FIRE_OK;

err_op:
    fire_onednn_op_fini(&op);
    return st;
}

fire_status_t fire_onednn_op_run(fire_onednn_op_t *op, void *const *arg)
{
    dnnl_exec_arg_t exec[FIRE_ONEDNN_ARGS];

    for (int i = 0; i < op->narg; i++) {
        FIRE_TRY(FIRE_ONEDNN(dnnl_memory_set_data_handle(op->memory[i], arg[i])));
        exec[i] = (dnnl_exec_arg_t){op->name[i], op->memory[i]};
    }
    FIRE_TRY(
        FIRE_ONEDNN(dnnl_primitive_execute(op->primitive, op->stream, op->narg, exec)));
    return FIRE_ONEDNN(dnnl_stream_wait(op->stream));
}

void fire_onednn_op_fini(fire_onednn_op_t *op)
{
    for (int i = 0; i < FIRE_ONEDNN_ARGS; i++)
        if (op->memory[i] != NULL) dnnl_memory_destroy(op->memory[i]);
    if (op->stream != NULL) dnnl_stream_destroy(op->stream);
    if (op->primitive != NULL) dnnl_primitive_destroy(op->primitive);
    *op = (fire_onednn_op_t){0};
}
