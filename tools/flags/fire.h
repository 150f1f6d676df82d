/* fire.h - a flag for every field of FireParameter, the message with the settings that
 * Caffe does not have. A flag overrides the solver file. */
#ifndef FIRE_TOOLS_FLAGS_FIRE_H
#define FIRE_TOOLS_FLAGS_FIRE_H
#include "base/text/options.h"
#include "caffe.pb-c.h"

typedef struct fire_flags fire_flags_t;

extern fire_flags_t        fire_flags;
extern const fire_option_t fire_flag_options[];

/* Load a solver file, put the flags that were given into its `fire` message and check
 * both. End *solver_p with fire_message_free(). */
fire_status_t fire_flags_load_solver(const char              *path,
                                     Caffe__SolverParameter **solver_p);
#endif
