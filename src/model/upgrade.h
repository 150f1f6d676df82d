/* upgrade.h - nets and solvers in the formats of older Caffe versions become
 * today's, in place. `file` is named in messages. Says in the log what it did.
 * After a failure the message can only be freed. */
#ifndef FIRE_MODEL_UPGRADE_H
#define FIRE_MODEL_UPGRADE_H
#include "caffe.pb-c.h"
#include "base/error.h"

/* V0 layers (with padding layers) and V1 layers; transformation settings inside
 * of data_param and the like; input fields; BatchNorm with three params. */
fire_status_t fire_net_param_upgrade(Caffe__NetParameter *net, const char *file);

/* solver_type becomes type; nets written inside the solver are upgraded too. */
fire_status_t fire_solver_param_upgrade(Caffe__SolverParameter *solver,
                                        const char             *file);

/* Single steps, in this order; none does harm where it is not needed. */
bool          fire_net_param_is_v0(const Caffe__NetParameter *net);
fire_status_t fire_net_param_upgrade_v0(Caffe__NetParameter *net, const char *file);
fire_status_t fire_net_param_upgrade_v1(Caffe__NetParameter *net, const char *file);
#endif
