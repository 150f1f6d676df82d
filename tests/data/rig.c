/* rig.c - makes a layer as a net would, and runs it. */
#include "rig.h"

#include <stdarg.h>
#include <stdlib.h>

#include "data/datum.h"
#include "model/message.h"
#include "model/text.h"

fire_status_t rig_open(rig_t *r, const char *text, Caffe__Phase phase)
{
    return rig_open_on(r, test_ctx(), text, phase);
}

fire_status_t rig_open_on(rig_t *r, fire_ctx_t ctx, const char *text,
                          Caffe__Phase phase)
{
    fire_layer_t *l = &r->layer;

    *r = (rig_t){.ctx = ctx, .moment = FIRE_MOMENT_INIT};
    FIRE_TRY(fire_text_parse(text, strlen(text), "test",
                             &caffe__layer_parameter__descriptor,
                             (ProtobufCMessage **)&r->param));
    FIRE_TRY(fire_layer_find(r->param->type, &l->ops));
    l->param  = r->param;
    l->ctx    = &r->ctx;
    l->moment = &r->moment;
    l->phase  = phase;
    l->top    = r->top;
    l->ntop   = (int)r->param->n_top;
    for (int i = 0; i < l->ntop; i++)
        FIRE_TRY(fire_blob_create(&r->top[i]));
    FIRE_TRY(fire_alloc(1, l->ops->state_size, "state", &l->state));
    if (l->ops->setup != NULL) FIRE_TRY(l->ops->setup(l));
    FIRE_TRY(l->ops->reshape(l));
    return fire_kernel_select(l, NULL, NULL);
}

fire_status_t rig_forward(rig_t *r)
{
    FIRE_TRY(r->layer.ops->reshape(&r->layer));
    return r->layer.kernel->forward(&r->layer);
}

const float *rig_top(rig_t *r, int i)
{
    const float *p;

    CHECK_OK(fire_blob_read(r->top[i], FIRE_DATA, FIRE_CPU, &p));
    return p;
}

void rig_close(rig_t *r)
{
    fire_layer_fini(&r->layer);
    for (int i = 0; i < r->layer.ntop; i++)
        fire_blob_destroy(r->top[i]);
    fire_message_free(r->param);
}

static char *next_text(void)
{
    static char text[64][4096];
    static int  turn;

    return text[turn++ % 64];
}

const char *tmp_path(const char *name)
{
    char *path = next_text();

    snprintf(path, 4096, "%s/%s", test_tmpdir(), name);
    return path;
}

const char *format(const char *text, ...)
{
    char   *out = next_text();
    va_list ap;

    va_start(ap, text);
    vsnprintf(out, 4096, text, ap);
    va_end(ap);
    return out;
}

void put_raw(fire_writer_t *w, const char *key, int i, int channels, int height,
             int width, int label)
{
    int          n      = channels * height * width;
    uint8_t     *pixels = malloc((size_t)n);
    fire_str_t   record = {0};
    fire_datum_t d      = {.channels = channels,
                           .height   = height,
                           .width    = width,
                           .label    = label,
                           .data     = pixels,
                           .ndata    = (size_t)n};

    for (int k = 0; k < n; k++)
        pixels[k] = (uint8_t)(i * 7 + k);
    CHECK_OK(fire_datum_write(&d, NULL, &record));
    CHECK_OK(fire_writer_put(w, key, record.text, (size_t)record.n));
    fire_str_fini(&record);
    free(pixels);
}

const char *make_db(const char *backend, const char *name, int n, int channels,
                    int height, int width)
{
    const char    *path = tmp_path(name);
    fire_writer_t *w;

    CHECK_OK(fire_writer_open(backend, path, &w));
    for (int i = 0; i < n; i++) {
        char key[16];

        snprintf(key, sizeof(key), "%08d", i);
        put_raw(w, key, i, channels, height, width, i);
    }
    CHECK_OK(fire_writer_commit(w));
    return path;
}
