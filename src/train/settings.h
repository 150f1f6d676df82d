/* settings.h - checks a solver file before anything is opened. */
#ifndef FIRE_TRAIN_SETTINGS_H
#define FIRE_TRAIN_SETTINGS_H
#include "base/error.h"
#include "caffe.pb-c.h"

/* Are the words and numbers of fire { } known and in range? NULL: the solver has
 * none. */
fire_status_t fire_settings_check(const Caffe__FireParameter *fire);

/* Threads of a worker's CPU, of which the user wants `wanted`; 0: as many as it may
 * use. Their number changes the last bits of results, so with lanes, which make results
 * the same for any number of workers, it is one unless the user says otherwise. */
int fire_settings_threads(const Caffe__FireParameter *fire, int wanted);

/* Check all of a solver file, and that the nets it names exist. Messages begin with
 * `file`. */
fire_status_t fire_settings_check_file(const Caffe__SolverParameter *param,
                                       const char                   *file);
#endif
