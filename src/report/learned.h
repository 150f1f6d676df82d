/* learned.h - what a snapshot shows: the filters of the first layer as pictures, and
 * which classes the net mixes up. Each becomes one JSON value for the page. */
#ifndef FIRE_REPORT_LEARNED_H
#define FIRE_REPORT_LEARNED_H
#include "base/text/json.h"
#include "caffe.pb-c.h"

/* {"layer", "n", "height", "width", "pixels"}: the first layer of a model file that
 * looks at images. Nothing is written if there is none: *found_p tells. */
fire_status_t fire_filters_write(fire_json_writer_t *w, const char *model,
                                 bool *found_p);

/* {"classes", "images", "counts"}: what the solver's first test net, with the weights
 * of a model file, says to its test set; stops after so many seconds. Nothing is
 * written if the net has no Accuracy layer over classes. */
fire_status_t fire_confusion_write(fire_json_writer_t           *w,
                                   const Caffe__SolverParameter *solver,
                                   const char *model, double seconds, bool *found_p);
#endif
