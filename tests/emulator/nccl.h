/* nccl.h - the part of NCCL that this program uses, for the emulator. */
#ifndef EMULATOR_NCCL_H
#define EMULATOR_NCCL_H
#include "cuda_runtime_api.h"

typedef struct emulated_comm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;

typedef enum { ncclSuccess, ncclSystemError = 2, ncclInvalidArgument = 4 } ncclResult_t;
typedef enum { ncclFloat = 7 } ncclDataType_t;
typedef enum { ncclSum } ncclRedOp_t;

ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclAllReduce(const void *src, void *dst, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream);
const char  *ncclGetErrorString(ncclResult_t rc);
#endif
