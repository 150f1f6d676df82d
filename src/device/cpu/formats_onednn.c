/* formats_onednn.c - oneDNN's memory descriptors as blob formats. Plain and blocked
 * arrays become our formats of that name; others, mostly of weights, become opaque
 * formats that oneDNN converts. */
#include <pthread.h>

#include "base/alloc.h"
#include "device/cpu/blocked.h"
#include "device/cpu/onednn_api.h"

/* An opaque format, with oneDNN's reorder primitives to and from plain float32. add:
 * the same as into_plain, but adds to the destination. Both are NULL for formats that
 * oneDNN converts only into (Winograd's weights). */
typedef struct foreign {
    fire_opaque_t       opaque; /* first: fire_format_t.opaque points here */
    fire_onednn_array_t array;
    dnnl_memory_desc_t  md, plain;
    dnnl_primitive_t    into_plain, from_plain, add;
    struct foreign     *next;
} foreign_t;

/* The tag of a dense array in the order of its axes. */
static dnnl_format_tag_t plain_tag(int ndim)
{
    static const dnnl_format_tag_t tag[] = {dnnl_a,    dnnl_ab,    dnnl_abc,
                                            dnnl_abcd, dnnl_abcde, dnnl_abcdef};

    return tag[ndim - 1];
}

/* The tag of blocked.h's layout; undef where oneDNN has none for so many axes. */
static dnnl_format_tag_t blocked_tag(int ndim, int64_t block)
{
    switch (ndim) {
    case 3:
        return block == 16 ? dnnl_aBc16b : dnnl_aBc8b;
    case 4:
        return block == 16 ? dnnl_aBcd16b : dnnl_aBcd8b;
    case 5:
        return block == 16 ? dnnl_aBcde16b : dnnl_aBcde8b;
    default:
        return dnnl_format_tag_undef;
    }
}

/* *is_p: is md the layout of this tag? */
static fire_status_t is_tag(const fire_onednn_array_t *a, dnnl_format_tag_t tag,
                            fire_onednn_md_ref_t md, bool *is_p)
{
    dnnl_memory_desc_t want;

    FIRE_TRY(fire_onednn_md_make(a, tag, &want));
    *is_p = dnnl_memory_desc_equal(FIRE_ONEDNN_REF(want), md);
    fire_onednn_md_free(&want);
    return FIRE_OK;
}

/* Run a reorder primitive: dst = src in another layout, or dst += src. */
static fire_status_t run_reorder(dnnl_primitive_t reorder, fire_onednn_md_ref_t from,
                                 const void *src, fire_onednn_md_ref_t to, void *dst)
{
    dnnl_memory_t in = NULL, out = NULL;
    dnnl_stream_t stream = NULL;
    dnnl_engine_t cpu;
    fire_status_t st;

    FIRE_TRY(fire_onednn_engine(&cpu));
    FIRE_TRY_GOTO(st, FIRE_ONEDNN(dnnl_memory_create(&in, from, cpu, (void *)src)),
                  out);
    FIRE_TRY_GOTO(st, FIRE_ONEDNN(dnnl_memory_create(&out, to, cpu, dst)), out);
    FIRE_TRY_GOTO(
        st, FIRE_ONEDNN(dnnl_stream_create(&stream, cpu, dnnl_stream_default_flags)),
        out);
    FIRE_TRY_GOTO(st,
                  FIRE_ONEDNN(dnnl_primitive_execute(
                      reorder, stream, 2,
                      (dnnl_exec_arg_t[]){{DNNL_ARG_FROM, in}, {DNNL_ARG_TO, out}})),
                  out);
    st = FIRE_ONEDNN(dnnl_stream_wait(stream));
out:
    if (stream != NULL) dnnl_stream_destroy(stream);
    if (out != NULL) dnnl_memory_destroy(out);
    if (in != NULL) dnnl_memory_destroy(in);
    return st;
}

static fire_status_t to_plain(const fire_opaque_t *self, const void *src, float *dst)
{
    const foreign_t *f = (const foreign_t *)self;

    if (f->into_plain == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "oneDNN cannot convert back from a "
                                               "format of its own");
    return run_reorder(f->into_plain, FIRE_ONEDNN_REF(f->md), src,
                       FIRE_ONEDNN_REF(f->plain), dst);
}

static fire_status_t from_plain(const fire_opaque_t *self, const float *src, void *dst)
{
    const foreign_t *f = (const foreign_t *)self;

    return run_reorder(f->from_plain, FIRE_ONEDNN_REF(f->plain), src,
                       FIRE_ONEDNN_REF(f->md), dst);
}

/* Formats that oneDNN does not convert for us: through plain values. */
static fire_status_t add_by_copy(const fire_format_t *format, const void *src,
                                 int64_t n, float *dst)
{
    float        *plain;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&plain, n));
    st = format->opaque->to_plain(format->opaque, src, plain);
    for (int64_t i = 0; st == FIRE_OK && i < n; i++)
        dst[i] += plain[i];
    fire_free(plain);
    return st;
}

fire_status_t fire_onednn_add_plain(const fire_format_t *format, const void *src,
                                    int64_t n, float *dst)
{
    const foreign_t *f = (const foreign_t *)format->opaque;

    if (fire_format_is_plain(format)) {
        for (int64_t i = 0; i < n; i++)
            dst[i] += ((const float *)src)[i];
        return FIRE_OK;
    }
    if (f->opaque.to_plain != to_plain) return add_by_copy(format, src, n, dst);
    return run_reorder(f->add, FIRE_ONEDNN_REF(f->md), src, FIRE_ONEDNN_REF(f->plain),
                       dst);
}

static fire_status_t make_reorder(fire_onednn_md_ref_t from, fire_onednn_md_ref_t to,
                                  dnnl_primitive_attr_t attr,
                                  dnnl_primitive_t     *reorder_p)
{
    dnnl_primitive_desc_t pd;
    dnnl_engine_t         cpu;
    fire_status_t         st;

    FIRE_TRY(fire_onednn_engine(&cpu));
    FIRE_TRY(
        FIRE_ONEDNN(dnnl_reorder_primitive_desc_create(&pd, from, cpu, to, cpu, attr)));
    st = FIRE_ONEDNN(dnnl_primitive_create(reorder_p, pd));
    dnnl_primitive_desc_destroy(pd);
    return st;
}

/* A reorder with a `sum` post-op: dst += converted src. */
static fire_status_t make_adder(foreign_t *f)
{
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t       sum = NULL;
    fire_status_t         st;

    FIRE_TRY(FIRE_ONEDNN(dnnl_primitive_attr_create(&attr)));
    FIRE_TRY_GOTO(st, FIRE_ONEDNN(dnnl_post_ops_create(&sum)), out);
#if DNNL_VERSION_MAJOR >= 3
    FIRE_TRY_GOTO(
        st, FIRE_ONEDNN(dnnl_post_ops_append_sum(sum, 1, 0, dnnl_data_type_undef)),
        out);
#else
    FIRE_TRY_GOTO(st, FIRE_ONEDNN(dnnl_post_ops_append_sum(sum, 1)), out);
#endif
    FIRE_TRY_GOTO(st, FIRE_ONEDNN(dnnl_primitive_attr_set_post_ops(attr, sum)), out);
    st = make_reorder(FIRE_ONEDNN_REF(f->md), FIRE_ONEDNN_REF(f->plain), attr, &f->add);
out:
    if (sum != NULL) dnnl_post_ops_destroy(sum);
    dnnl_primitive_attr_destroy(attr);
    return st;
}

static void destroy(foreign_t *f)
{
    if (f->into_plain != NULL) dnnl_primitive_destroy(f->into_plain);
    if (f->from_plain != NULL) dnnl_primitive_destroy(f->from_plain);
    if (f->add != NULL) dnnl_primitive_destroy(f->add);
    fire_free(f);
}

static fire_status_t clone_md(fire_onednn_md_ref_t md, dnnl_memory_desc_t *md_p)
{
#if DNNL_VERSION_MAJOR >= 3
    return FIRE_ONEDNN(dnnl_memory_desc_clone(md_p, md));
#else
    *md_p = *md;
    return FIRE_OK;
#endif
}

/* A new opaque format with its conversions; the two back to plain may be missing. */
static fire_status_t make_foreign(const fire_onednn_array_t *a, fire_onednn_md_ref_t md,
                                  foreign_t **f_p)
{
    fire_onednn_array_t plain = *a;
    foreign_t          *f;
    fire_status_t       st;

    plain.dtype = FIRE_F32;
    FIRE_TRY(FIRE_NEW(&f, 1));
    f->array  = *a;
    f->opaque = (fire_opaque_t){.bytes      = dnnl_memory_desc_get_size(md),
                                .to_plain   = to_plain,
                                .from_plain = from_plain};
    FIRE_TRY_GOTO(st, clone_md(md, &f->md), err);
    FIRE_TRY_GOTO(st, fire_onednn_md_make(&plain, plain_tag(a->ndim), &f->plain), err);
    FIRE_TRY_GOTO(st,
                  make_reorder(FIRE_ONEDNN_REF(f->plain), FIRE_ONEDNN_REF(f->md), NULL,
                               &f->from_plain),
                  err);
    st = make_reorder(FIRE_ONEDNN_REF(f->md), FIRE_ONEDNN_REF(f->plain), NULL,
                      &f->into_plain);
    if (st == FIRE_OK) st = make_adder(f);
    if (st < 0 && st != FIRE_ERR_UNSUPPORTED) goto err;
    *f_p = f;
    return FIRE_OK;

err:
    destroy(f);
    return st;
}

/* All formats ever asked for in this process; never freed. There are few, and equal
 * formats must be equal pointers in all nets. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static foreign_t      *known;

/* The known format of md, or a new one. Called with the lock held. */
static fire_status_t intern(const fire_onednn_array_t *a, fire_onednn_md_ref_t md,
                            foreign_t **f_p)
{
    for (foreign_t *f = known; f != NULL; f = f->next)
        if (dnnl_memory_desc_equal(FIRE_ONEDNN_REF(f->md), md)) {
            *f_p = f;
            return FIRE_OK;
        }
    FIRE_TRY(make_foreign(a, md, f_p));
    (*f_p)->next = known;
    known        = *f_p;
    return FIRE_OK;
}

fire_status_t fire_onednn_format(const fire_onednn_array_t *a, fire_onednn_md_ref_t md,
                                 fire_format_t *format_p)
{
    foreign_t    *f = NULL;
    fire_status_t st;
    bool          is;

    FIRE_TRY(is_tag(a, plain_tag(a->ndim), md, &is));
    if (is) {
        *format_p = (fire_format_t){.place = FIRE_CPU, .dtype = a->dtype};
        return FIRE_OK;
    }
    for (int block = 8; block <= 16; block += 8) {
        if (blocked_tag(a->ndim, block) == dnnl_format_tag_undef) continue;
        FIRE_TRY(is_tag(a, blocked_tag(a->ndim, block), md, &is));
        if (is) return fire_blocked_format(a->dtype, block, a->ndim, a->dim, format_p);
    }
    pthread_mutex_lock(&lock);
    st = intern(a, md, &f);
    pthread_mutex_unlock(&lock);
    FIRE_TRY(st);
    *format_p = (fire_format_t){FIRE_CPU, a->dtype, FIRE_OPAQUE, &f->opaque};
    return FIRE_OK;
}
