/* caffe.h - flags that Caffe's tools accept and that do nothing here, so that
 * existing scripts run. They are not in any help text. */
#ifndef FIRE_TOOLS_FLAGS_CAFFE_H
#define FIRE_TOOLS_FLAGS_CAFFE_H
#include "base/text/options.h"

/* gflags' other ways to ask for help, and what glog understands. */
fire_option_group_t glog_flags(void);
bool                glog_flags_want_help(void);

/* `caffe` takes all of its flags with each of its commands. */
fire_option_group_t caffe_flags(void);
#endif
