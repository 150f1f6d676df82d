/* hdf5.h - Caffe's HDF5 models and solver states. The HDF5 library may be used by one
 * thread at a time: functions here wait for a lock, and other users of the library must
 * hold it, between fire_hdf5_lock() and fire_hdf5_unlock(). */
#ifndef FIRE_MODEL_HDF5_H
#define FIRE_MODEL_HDF5_H
#include "caffe.pb-c.h"
#include "base/error.h"

/* Load and save the files of load.h. In a build without HDF5 all return
 * FIRE_ERR_UNSUPPORTED.
 *
 * A model is /data/LAYER/INDEX, with gradients also /diff/LAYER/INDEX; a layer name
 * with slashes makes groups inside of groups. A solver state is iter, learned_net,
 * current_step and history/INDEX. */
fire_status_t fire_net_param_load_hdf5(const char *path, Caffe__NetParameter **net_p);
fire_status_t fire_net_param_save_hdf5(const char                *path,
                                       const Caffe__NetParameter *net);
fire_status_t fire_solver_state_load_hdf5(const char          *path,
                                          Caffe__SolverState **state_p);
fire_status_t fire_solver_state_save_hdf5(const char               *path,
                                          const Caffe__SolverState *state);

void fire_hdf5_lock(void); /* also stops the library from printing errors */
void fire_hdf5_unlock(void);
#endif
