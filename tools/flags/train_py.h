/* train_py.h - the command line of Caffe's train.py in the words of `train`. */
#ifndef FIRE_TOOLS_FLAGS_TRAIN_PY_H
#define FIRE_TOOLS_FLAGS_TRAIN_PY_H
#include "base/text/text.h"

/* --gpus 0 1 2, numbers apart from each other, becomes --gpu 0,1,2, in place. `gpus`
 * keeps that text: end it when the words are no longer used. */
fire_status_t train_py_words(int *argc, const char **argv, fire_str_t *gpus);
#endif
