/* plan.h - what `firecaffe plan` prints: a table, JSON, or a list of layers. */
#ifndef FIRE_TOOLS_VIEW_PLAN_H
#define FIRE_TOOLS_VIEW_PLAN_H
#include "base/text/json.h"
#include "plan/plan.h"

/* `model` is the net's file as the user named it; `advice` is printed at the end. */
void plan_view_tables(const fire_plan_t *p, const char *model, const char *advice);
fire_status_t plan_view_json(const fire_plan_t *p, const char *model,
                             const char *advice);
/* For each layer: bytes of gradients, seconds forward and backward for the batch of the
 * first row, and its name. bench/sim reads it. */
void plan_view_layers(const fire_plan_t *p);

/* The members of a JSON object that holds a row, and the baseline if there is one; for
 * run.jsonl as well. */
void plan_view_add_row(fire_json_writer_t *w, const fire_plan_row_t *r);
void plan_view_add_baseline(fire_json_writer_t *w, const fire_plan_t *p);
#endif
