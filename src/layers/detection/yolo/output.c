/* output.c - see output.h. */
#include "layers/detection/yolo/output.h"

enum { ROW = 7 };

fire_status_t fire_yolo_output_add(fire_yolo_output_t *s, fire_yolo_found_t f)
{
    FIRE_TRY(fire_grow(&s->found, &s->cfound, s->n + 1, sizeof(*s->found)));
    s->found[s->n++] = f;
    return FIRE_OK;
}

fire_status_t fire_yolo_output_reshape(fire_layer_t *l)
{
    return fire_blob_reshape(l->top[0], 4, (int64_t[]){1, 1, 1, ROW});
}

void fire_yolo_output_teardown(fire_layer_t *l)
{
    fire_yolo_output_t *s = l->state;

    fire_free(s->found);
    fire_free(s->list);
    fire_free(s->work);
}

/* The list of those to keep, best first; returns their number. */
static int64_t suppress(fire_yolo_output_t *s, float threshold)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < s->n; i++)
        s->list[i] = (fire_ranked_t){s->found[i].score, i};
    fire_rank(s->list, s->n);
    for (int64_t i = 0; i < s->n; i++) {
        const fire_yolo_found_t *f    = &s->found[s->list[i].index];
        bool                     keep = true;

        for (int64_t k = 0; k < kept && keep; k++) {
            const fire_yolo_found_t *better = &s->found[s->list[k].index];

            keep = better->image != f->image ||
                   fire_yolo_iou(better->box, f->box) < threshold;
        }
        if (keep) s->list[kept++] = s->list[i];
    }
    return kept;
}

fire_status_t fire_yolo_output_write(fire_layer_t *l, int64_t images, float threshold)
{
    fire_yolo_output_t *s = l->state;
    int64_t             kept;
    float              *y;

    FIRE_TRY(fire_grow(&s->list, &s->clist, s->n, sizeof(*s->list)));
    kept = suppress(s, threshold);
    FIRE_TRY(fire_blob_reshape(l->top[0], 4,
                               (int64_t[]){1, 1, kept > 0 ? kept : images, ROW}));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    for (int64_t i = 0; i < images * ROW && kept == 0; i++)
        y[i] = i % ROW == 0 ? (float)(i / ROW) : -1.0f;
    for (int64_t i = 0; i < kept; i++, y += ROW) {
        const fire_yolo_found_t *f = &s->found[s->list[i].index];

        y[0] = (float)f->image;
        y[1] = (float)f->label + 1.0f;
        y[2] = f->score;
        y[3] = f->box.x - f->box.w / 2.0f;
        y[4] = f->box.y - f->box.h / 2.0f;
        y[5] = f->box.x + f->box.w / 2.0f;
        y[6] = f->box.y + f->box.h / 2.0f;
    }
    return FIRE_OK;
}
