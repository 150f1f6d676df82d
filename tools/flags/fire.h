/* fire.h - a flag for every setting of FireParameter, the message that holds
 * what Caffe does not know. A flag wins over the solver file. */
#ifndef FIRE_TOOLS_FLAGS_FIRE_H
#define FIRE_TOOLS_FLAGS_FIRE_H
#include "base/text/options.h"
#include "caffe.pb-c.h"

typedef struct fire_flags fire_flags_t;

extern fire_flags_t        fire_flags;
extern const fire_option_t fire_flag_options[];

/* Load a solver file and put the flags that were given into its `fire` message; both
 * have been checked. End *solver_p with fire_message_free(). */
fire_status_t fire_flags_load_solver(const char              *path,
                                     Caffe__SolverParameter **solver_p);
#endif
