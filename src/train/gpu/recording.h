/* recording.h - an iteration's work on a GPU, recorded once and run again and again
 * without the host taking part.
 *
 * A recording holds addresses, so it is good only as long as memory stays where it was,
 * and as long as blobs are held in the formats in which it found them. What it leaves is
 * what the iteration left that was recorded: this remembers in which formats. */
#ifndef FIRE_TRAIN_GPU_RECORDING_H
#define FIRE_TRAIN_GPU_RECORDING_H
#include "device/gpu.h"
#include "net/net.h"
#include "solver/solver.h"

typedef struct fire_recording fire_recording_t;

/* Layers before `first` bring data and are not recorded. */
fire_status_t fire_recording_create(fire_net_t *net, fire_solver_t *solver, int first,
                                    fire_recording_t **recording_p);
void          fire_recording_destroy(fire_recording_t *r); /* NULL is allowed */

/* Can it run now? */
bool fire_recording_is_good(const fire_recording_t *r);
/* Forget it: something else has run meanwhile. */
void fire_recording_drop(fire_recording_t *r);
/* An iteration has just run by hand: remember what it leaves. */
void fire_recording_note(fire_recording_t *r);

/* Between these two, work is recorded instead of done. */
fire_status_t fire_recording_begin(fire_recording_t *r);
fire_status_t fire_recording_end(fire_recording_t *r);
fire_status_t fire_recording_run(fire_recording_t *r);
#endif
