/* recorder.h - keeps what happens in a training, and shows it as the page of curves that
 * `firecaffe report` makes of a run. */
#ifndef FIRE_RECORDER_H
#define FIRE_RECORDER_H
#include <fire/trainer.h>

FIRE_BEGIN_C
typedef struct fire_recorder fire_recorder_t;

/* Create a recorder of a trainer, which must outlive it; with several workers, of rank
 * 0's. What it takes down stays in memory, about ten bytes for an iteration. Fails with
 * FIRE_ERR_IO, FIRE_ERR_NOMEM. */
FIRE_CALL     fire_recorder_create(const fire_trainer_t *trainer,
                                   fire_recorder_t     **recorder_p);
FIRE_API void fire_recorder_destroy(fire_recorder_t *recorder); /* NULL is allowed */

/* Take down an event that the trainer's `event` hook has got, from that hook. A record
 * that cannot be kept any more is given up, with a warning. */
FIRE_API void fire_recorder_event(fire_recorder_t          *recorder,
                                  const fire_train_event_t *event);

/* Write the page of all that has happened so far: one HTML file, which needs no other. No
 * event may come meanwhile. Fails with FIRE_ERR_IO, FIRE_ERR_NOMEM. */
FIRE_CALL fire_recorder_page(fire_recorder_t *recorder, const char *path);
FIRE_END_C
#endif
