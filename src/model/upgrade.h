/* upgrade.h - upgrades nets and solvers of older Caffe versions to today's format, in
 * place. `file` is the name in messages; each upgrade is logged. After a failure the
 * message can only be freed. */
#ifndef FIRE_MODEL_UPGRADE_H
#define FIRE_MODEL_UPGRADE_H
#include "caffe.pb-c.h"
#include "base/error.h"

/* Upgrade V0 layers (with padding layers) and V1 layers, transformation settings inside
 * of data_param and others, input fields, and BatchNorm with three params. */
fire_status_t fire_net_param_upgrade(Caffe__NetParameter *net, const char *file);

/* solver_type becomes type; settings of forks that we have under another name become
 * these; nets inside of the solver are upgraded too. */
fire_status_t fire_solver_param_upgrade(Caffe__SolverParameter *solver,
                                        const char             *file);

/* The steps of the first, in this order. A net that does not need a step is
 * unchanged. */
bool          fire_net_param_is_v0(const Caffe__NetParameter *net);
fire_status_t fire_net_param_upgrade_v0(Caffe__NetParameter *net, const char *file);
fire_status_t fire_net_param_upgrade_v1(Caffe__NetParameter *net, const char *file);
#endif
