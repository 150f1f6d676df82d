/* settings.h - is what a solver file says possible? */
#ifndef FIRE_TRAIN_SETTINGS_H
#define FIRE_TRAIN_SETTINGS_H
#include "base/error.h"
#include "caffe.pb-c.h"

/* Words and numbers of fire { }; NULL: none were given. */
fire_status_t fire_settings_check(const Caffe__FireParameter *fire);

/* The whole of a solver file, and are the nets there that it names? `file` begins the
 * message. */
fire_status_t fire_settings_check_file(const Caffe__SolverParameter *param,
                                       const char                   *file);
#endif
