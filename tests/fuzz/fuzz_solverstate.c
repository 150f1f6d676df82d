/* fuzz_solverstate.c - binary solver states, with a checksum that is right and one that
 * is not. */
#include <string.h>

#include "base/alloc.h"
#include "base/seal.h"
#include "base/sha256.h"
#include "fuzz_file.h"
#include "model/load.h"

static void load(const char *path)
{
    Caffe__SolverState *state;

    if (fire_solver_state_load(path, &state) == FIRE_OK) fire_message_free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static fuzz_file_t file;
    uint8_t           *sealed;

    load(fuzz_file_write(&file, data, n));
    MUST(FIRE_NEW(&sealed, n + FIRE_SEAL_SIZE) == FIRE_OK);
    if (n > 0) memcpy(sealed, data, n);
    fire_seal_make(fire_crc32c(0, data, n), sealed + n);
    load(fuzz_file_write(&file, sealed, n + FIRE_SEAL_SIZE));
    fire_free(sealed);
    return 0;
}
