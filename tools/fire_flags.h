/* fire_flags.h - a flag for every setting of FireParameter, the message that holds
 * what Caffe does not know. A flag wins over the solver file. */
#ifndef FIRE_TOOLS_FIRE_FLAGS_H
#define FIRE_TOOLS_FIRE_FLAGS_H
#include "base/options.h"
#include "caffe.pb-c.h"

typedef struct fire_flags fire_flags_t;

extern fire_flags_t        fire_flags;
extern const fire_option_t fire_flag_options[];

/* Put the flags that were given into the solver's `fire` message. */
fire_status_t fire_flags_apply(Caffe__SolverParameter *solver);
#endif
