/* settings.h - checks a solver file before anything is opened. */
#ifndef FIRE_TRAIN_SETTINGS_H
#define FIRE_TRAIN_SETTINGS_H
#include "base/error.h"
#include "caffe.pb-c.h"

/* Are the words and numbers of fire { } known and in range? NULL: the solver has
 * none. */
fire_status_t fire_settings_check(const Caffe__FireParameter *fire);

/* Check all of a solver file, and that the nets it names exist. Messages begin with
 * `file`. */
fire_status_t fire_settings_check_file(const Caffe__SolverParameter *param,
                                       const char                   *file);
#endif
