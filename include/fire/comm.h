/* comm.h - workers that know each other: the threads of this process, or the processes
 * of an MPI job. A communicator is what one worker, its rank, holds of them; give it to
 * a trainer (trainer.h), and use it for small exchanges of your own.
 *
 *     fire_comm_run_threads(4, NULL, work, arg);   work() runs on 4 threads
 *
 *     fire_comm_join_job(NULL, &comm);             in every process of mpirun -n 4
 *     ...
 *     fire_comm_close(comm);
 *
 * One thread at a time uses a communicator. Calls marked "all ranks" are made by every
 * rank, in the same order: each returns when the others have made theirs. If one rank
 * fails or ends, such a call fails on the others, with FIRE_ERR_PEER and the message of
 * that rank, or with FIRE_ERR_TIMEOUT after the deadline. */
#ifndef FIRE_COMM_H
#define FIRE_COMM_H
#include <fire/status.h>

FIRE_BEGIN_C
typedef struct fire_comm fire_comm_t;

/* How ranks are connected. Begin with
 *     fire_comm_config_t config = FIRE_COMM_CONFIG_INIT;
 * and change what should differ; the same on all ranks. It is read only during the
 * call. */
typedef struct fire_comm_config {
    size_t      size;     /* sizeof(fire_comm_config_t); set by the macro */
    double      deadline; /* seconds without a sign of life before a wait fails; 0:
                             never */
    int         threads;  /* of the CPU, per rank; 0: a fair share of its host's cores,
                             unless OMP_NUM_THREADS is set */
    int         ranks_per_node; /* 0: ask the system; else assume so many per host */
    bool        onesided;       /* join_job: one-sided MPI instead of messages */
    const char *tuning; /* file of `firecaffe bench allreduce --tune`, or NULL */
} fire_comm_config_t;

#define FIRE_COMM_CONFIG_INIT                              \
    {                                                      \
        sizeof(fire_comm_config_t), 120, 0, 0, false, NULL \
    }

/* What a rank runs; comm ends when it returns. Returning a failure ends the waits of
 * the other ranks. */
typedef fire_status_t (*fire_comm_work_t)(void *arg, fire_comm_t *comm);

/* Run work(arg, comm) on n threads (1 ... 1024), as ranks 0 ... n - 1, and wait for all
 * of them; the calling thread is rank 0. All get the same arg. config NULL:
 * FIRE_COMM_CONFIG_INIT. Returns the failure of the rank where it arose, with its
 * number, or FIRE_OK if all succeeded. FIRE_ERR_INVALID: another n, or a config that
 * needs a newer library. */
FIRE_CALL fire_comm_run_threads(int n, const fire_comm_config_t *config,
                                fire_comm_work_t work, void *arg);

/* Become a rank of the MPI job that this process belongs to; all processes of the job
 * call it, once. A process that no launcher (mpirun, mpiexec, srun) started becomes the
 * only rank, without MPI. If the program has called MPI_Init, it must have asked for
 * MPI_THREAD_SERIALIZED at least, and calls MPI_Finalize itself; else closing does.
 *
 * Fails with FIRE_ERR_UNSUPPORTED where a job needs an MPI that is not there,
 * FIRE_ERR_COMM, FIRE_ERR_TIMEOUT, FIRE_ERR_INVALID (config). */
FIRE_CALL fire_comm_join_job(const fire_comm_config_t *config, fire_comm_t **comm_p);

/* End a communicator of fire_comm_join_job(), after all that uses it. NULL is
 * allowed. One of fire_comm_run_threads() is not the caller's to close. */
FIRE_API void fire_comm_close(fire_comm_t *comm);

FIRE_API int fire_comm_rank(const fire_comm_t *comm); /* 0 ... size - 1 */
FIRE_API int fire_comm_size(const fire_comm_t *comm); /* how many there are */
/* Threads of the CPU that this rank may compute with; 0: as many as there are. */
FIRE_API int fire_comm_threads(const fire_comm_t *comm);
/* The name of the host that a rank runs on; it belongs to the communicator. */
FIRE_API const char *fire_comm_host(const fire_comm_t *comm, int rank);

/* All ranks: return when all have come here. */
FIRE_CALL fire_comm_barrier(fire_comm_t *comm);

/* All ranks: copy `bytes` bytes of rank `root` to the others' data. FIRE_ERR_INVALID:
 * there is no such rank. */
FIRE_CALL fire_comm_broadcast(fire_comm_t *comm, int root, void *data, size_t bytes);

/* All ranks: replace data[count] by the sum over the ranks, the same bits on each.
 * `algo` is an algorithm as the solver's fire { comm } names it: "tree" adds in the
 * order of lanes, ((0+1)+(2+3))+..., "auto" (or NULL) chooses by size.
 * FIRE_ERR_INVALID: there is no such algorithm. */
FIRE_CALL fire_comm_allreduce(fire_comm_t *comm, const char *algo, float *data,
                              size_t count);

/* All ranks: tell every rank if one has failed. Each passes its own status. If all are
 * FIRE_OK, all get FIRE_OK. Else the lowest rank that failed gets its own status back
 * and the others get FIRE_ERR_PEER with its message, so that a failure is reported
 * once. */
FIRE_CALL fire_comm_agree(fire_comm_t *comm, fire_status_t mine);

/* Tell the other ranks that this one gives up, with the message of its last failure:
 * what they wait for fails with FIRE_ERR_PEER. A trainer that fails, and a rank of
 * fire_comm_run_threads() that returns a failure, have done so already. */
FIRE_API void fire_comm_fail(fire_comm_t *comm);
FIRE_END_C
#endif
