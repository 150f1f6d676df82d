/* hdf5.h - Caffe's .h5 models and solver states, and single arrays. The HDF5
 * library serves one thread at a time: everything here waits for its turn, and
 * so must other users of it, between fire_hdf5_lock() and fire_hdf5_unlock(). */
#ifndef FIRE_MODEL_HDF5_H
#define FIRE_MODEL_HDF5_H
#include "caffe.pb-c.h"
#include "base/error.h"

/* The files of load.h; without HDF5 in the build they end in ERR_UNSUPPORTED.
 * A model is /data/<layer>/<index>, with gradients also /diff/...; a layer name
 * with slashes makes groups inside of groups. A state is iter, learned_net,
 * current_step and history/<index>. */
fire_status_t fire_net_param_load_hdf5(const char *path, Caffe__NetParameter **net_p);
fire_status_t fire_net_param_save_hdf5(const char                *path,
                                       const Caffe__NetParameter *net);
fire_status_t fire_solver_state_load_hdf5(const char          *path,
                                          Caffe__SolverState **state_p);
fire_status_t fire_solver_state_save_hdf5(const char               *path,
                                          const Caffe__SolverState *state);

void fire_hdf5_lock(void); /* also keeps the library from printing errors */
void fire_hdf5_unlock(void);
#endif
