/* fuzz_hdf5_weights.c - models and solver states in HDF5. */
#include "fuzz_file.h"
#include "model/hdf5.h"
#include "model/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz_file_t   file;
    const char          *path = fuzz_file_write(&file, data, n);
    Caffe__NetParameter *net;
    Caffe__SolverState  *state;

    if (fire_net_param_load_hdf5(path, &net) == FIRE_OK) fire_message_free(net);
    if (fire_solver_state_load_hdf5(path, &state) == FIRE_OK) fire_message_free(state);
    return 0;
}
