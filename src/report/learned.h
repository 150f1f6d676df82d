/* learned.h - what a snapshot has learned: the filters of the first layer as images,
 * and which classes the net confuses. Each is one JSON value for the page. */
#ifndef FIRE_REPORT_LEARNED_H
#define FIRE_REPORT_LEARNED_H
#include "base/text/json.h"
#include "caffe.pb-c.h"

/* Write {"layer", "n", "height", "width", "pixels"} of the first convolution in a model
 * file. *found_p is false, and nothing is written, if there is none. */
fire_status_t fire_filters_write(fire_json_writer_t *w, const char *model,
                                 bool *found_p);

/* Write {"classes", "images", "counts"}: a confusion matrix of the solver's first test
 * net with the weights of a model file. Stops after about `seconds`. *found_p is false,
 * and nothing is written, if the net has no Accuracy layer over classes. */
fire_status_t fire_confusion_write(fire_json_writer_t           *w,
                                   const Caffe__SolverParameter *solver,
                                   const char *model, double seconds, bool *found_p);
#endif
