#include "model/load.h"

fire_status_t fire_net_param_load_text(const char *path, Caffe__NetParameter **net_p)
{
    return fire_message_load_text(path, &caffe__net_parameter__descriptor,
                                  (ProtobufCMessage **)net_p);
}

fire_status_t fire_net_param_load_binary(const char *path, Caffe__NetParameter **net_p)
{
    return fire_message_load_binary(path, &caffe__net_parameter__descriptor,
                                    (ProtobufCMessage **)net_p);
}

fire_status_t fire_solver_param_load(const char              *path,
                                     Caffe__SolverParameter **solver_p)
{
    return fire_message_load_text(path, &caffe__solver_parameter__descriptor,
                                  (ProtobufCMessage **)solver_p);
}
