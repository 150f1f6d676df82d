#include "runs.h"

#include "base/alloc.h"
#include "draw.h"

fire_status_t runs_draw(fire_report_t *r)
{
    for (int i = 0; i < r->nrun; i++) {
        const fire_json_t *layers = fire_json_get(r->run[i]->net, "layers");
        fire_str_t         svg    = {0};

        if (layers == NULL || r->extra[i].graph != NULL) continue;
        FIRE_TRY(draw_layers(layers, false, &svg));
        FIRE_TRY(fire_str_take(&svg, &r->extra[i].graph));
    }
    return FIRE_OK;
}

fire_status_t runs_open(int n, const char *const *path, fire_report_t *report_p)
{
    fire_report_t r = {0};
    fire_status_t st;

    FIRE_TRY_GOTO(st, FIRE_NEW(&r.run, n), err_runs);
    FIRE_TRY_GOTO(st, FIRE_NEW(&r.extra, n), err_runs);
    for (; r.nrun < n; r.nrun++)
        FIRE_TRY_GOTO(st, fire_run_open(path[r.nrun], &r.run[r.nrun]), err_runs);
    FIRE_TRY_GOTO(st, runs_draw(&r), err_runs);
    *report_p = r;
    return FIRE_OK;

err_runs:
    runs_close(&r);
    return st;
}

void runs_close(fire_report_t *r)
{
    for (int i = 0; i < r->nrun; i++) {
        fire_run_close(r->run[i]);
        fire_free(r->extra[i].filters);
        fire_free(r->extra[i].confusion);
        fire_free(r->extra[i].graph);
    }
    fire_free(r->run);
    fire_free(r->extra);
    *r = (fire_report_t){0};
}
