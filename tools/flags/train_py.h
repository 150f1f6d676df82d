/* train_py.h - translates the command line of Caffe's train.py to that of `train`. */
#ifndef FIRE_TOOLS_FLAGS_TRAIN_PY_H
#define FIRE_TOOLS_FLAGS_TRAIN_PY_H
#include "base/text/text.h"

/* Replace --gpus 0 1 2 (separate words) by --gpu 0,1,2 in argv. `gpus` owns that text:
 * end it when argv is no longer used. */
fire_status_t train_py_words(int *argc, const char **argv, fire_str_t *gpus);
#endif
