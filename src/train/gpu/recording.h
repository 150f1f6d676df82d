/* recording.h - the kernels of an iteration, recorded as a GPU graph and launched again
 * as a whole.
 *
 * A graph contains addresses and reads blobs in certain formats (a blob may have copies
 * in several: fp32, bf16, channels last). It can run as long as no memory has moved and
 * all the copies it reads are valid. After it has run, the same copies are valid as
 * after the iteration that was recorded; the recording remembers which. */
#ifndef FIRE_TRAIN_GPU_RECORDING_H
#define FIRE_TRAIN_GPU_RECORDING_H
#include "device/gpu.h"
#include "net/net.h"
#include "solver/solver.h"

typedef struct fire_recording fire_recording_t;

/* Layers before number `first` are data layers, which are not recorded. */
fire_status_t fire_recording_create(fire_net_t *net, fire_solver_t *solver, int first,
                                    fire_recording_t **recording_p);
void          fire_recording_destroy(fire_recording_t *r); /* NULL is allowed */

/* Is there a graph that can run now? */
bool fire_recording_is_good(const fire_recording_t *r);
/* Discard the graph: an iteration has run without it, which may have changed
 * formats. */
void fire_recording_drop(fire_recording_t *r);
/* An iteration has just run without a graph: remember which copies it leaves valid. */
void fire_recording_note(fire_recording_t *r);

/* Between begin() and end(), work on the stream is recorded instead of executed. */
fire_status_t fire_recording_begin(fire_recording_t *r);
fire_status_t fire_recording_end(fire_recording_t *r);
fire_status_t fire_recording_run(fire_recording_t *r);
#endif
