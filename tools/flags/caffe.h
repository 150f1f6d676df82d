/* caffe.h - flags that Caffe's tools accept and that do nothing here, so that
 * existing scripts run. They are not in any help text. */
#ifndef FIRE_TOOLS_FLAGS_CAFFE_H
#define FIRE_TOOLS_FLAGS_CAFFE_H
#include "base/text/options.h"

/* Flags of gflags that ask for help in other words, and flags of glog. */
fire_option_group_t glog_flags(void);
bool                glog_flags_want_help(void);

/* Flags of `caffe`, which accepts every flag with every command. */
fire_option_group_t caffe_flags(void);
#endif
