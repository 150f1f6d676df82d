/* load.h - loads and saves Caffe's files: .prototxt, .caffemodel, .solverstate, mean
 * files.
 *
 * Old formats are upgraded when loaded (upgrade.h). Files are written under a temporary
 * name and renamed when complete. A path that ends in .h5 is HDF5, weights in .safetensors
 * and .npz are named arrays (tensors/tensors.h), any other file is protobuf.
 * End what is loaded with fire_message_free(). */
#ifndef FIRE_MODEL_LOAD_H
#define FIRE_MODEL_LOAD_H
#include "caffe.pb-c.h"
#include "model/message.h"

/* Nets. fire_net_param_load_weights() reads a .caffemodel, .caffemodel.h5, .safetensors
 * or .npz. All but the first only have names and blobs of layers; in HDF5 an empty blob
 * stands for one that is shared with an earlier layer and stored there. */
fire_status_t fire_net_param_load_text(const char *path, Caffe__NetParameter **net_p);
fire_status_t fire_net_param_load_binary(const char *path, Caffe__NetParameter **net_p);
fire_status_t fire_net_param_load_weights(const char           *path,
                                          Caffe__NetParameter **net_p);
fire_status_t fire_net_param_save_text(const char                *path,
                                       const Caffe__NetParameter *net);
fire_status_t fire_net_param_save_binary(const char                *path,
                                         const Caffe__NetParameter *net);
fire_status_t fire_net_param_save_weights(const char                *path,
                                          const Caffe__NetParameter *net);

/* Solvers. Loading also completes snapshot_prefix as Caffe does: if it is missing, it
 * becomes the solver's path without extension; if it is a directory, the solver's file
 * name without extension is added. */
fire_status_t fire_solver_param_load(const char              *path,
                                     Caffe__SolverParameter **solver_p);

/* Solver states. Ours end with a checksum over all of the file; one that does not fit is
 * an error. Caffe's have none. */
fire_status_t fire_solver_state_load(const char *path, Caffe__SolverState **state_p);
fire_status_t fire_solver_state_save(const char *path, const Caffe__SolverState *state);

/* Any message, without upgrades: mean files (BlobProto), saved solver settings. */
fire_status_t fire_message_load_binary(const char                       *path,
                                       const ProtobufCMessageDescriptor *desc,
                                       ProtobufCMessage                **msg_p);
fire_status_t fire_message_load_text(const char                       *path,
                                     const ProtobufCMessageDescriptor *desc,
                                     ProtobufCMessage                **msg_p);
fire_status_t fire_message_save_binary(const char *path, const void *msg);
fire_status_t fire_message_save_sealed(const char *path, const void *msg);
fire_status_t fire_message_save_text(const char *path, const void *msg);
#endif
