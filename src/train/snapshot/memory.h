/* memory.h - the newest state of a training in the shared memory of each node, where it
 * outlives the processes: a restart loses iterations, not hours.
 *
 * It consists of the files of a snapshot, with their checksums, in a directory that only
 * their user can read: /dev/shm/firecaffe.UID.KEY, KEY being made of the path of the
 * snapshots. The last ones go when new ones are complete. PREFIX.memory, beside the
 * snapshots, says which job they are of, so that none of an older job is taken. */
#ifndef FIRE_TRAIN_SNAPSHOT_MEMORY_H
#define FIRE_TRAIN_SNAPSHOT_MEMORY_H
#include "train/snapshot/saver.h"

enum { FIRE_MEMORY_ID = 17, FIRE_MEMORY_AUTO = -1 };

/* Begins as {0}. */
typedef struct fire_memory {
    char         id[FIRE_MEMORY_ID]; /* of the job; "": it keeps nothing */
    char        *dir, *prefix;       /* prefix: of the files, DIR/ID */
    bool         leads;              /* this worker writes for its node */
    bool         warned;             /* that there is not enough memory */
    bool         wanted, asked; /* automatic: rank 0 wants a copy ... and all know */
    double       due;           /* automatic: when, by fire_clock_now() */
    double       took;          /* seconds that the last copy took this worker */
    fire_saver_t saver;
} fire_memory_t;

/* Before the first iteration: settle where the job keeps its state, if it is to, and
 * remove what others have left there. */
fire_status_t fire_memory_begin(fire_trainer_t *trainer);
/* Before an iteration: does rank 0 want a copy (automatic)? After one that ends with so
 * many done: take a copy if it is time to. */
bool          fire_memory_is_wanted(fire_trainer_t *trainer);
bool          fire_memory_is_due(const fire_trainer_t *trainer);
fire_status_t fire_memory_save(fire_trainer_t *trainer);
/* The job has ended as it should: remove everything. */
void fire_memory_finish(fire_trainer_t *trainer);
void fire_memory_end(fire_memory_t *memory); /* of the trainer; files stay */

/* Continue from the newest state that some node has complete, if its iteration is above
 * `above`: it is copied to the nodes that lack it. *found_p: there was one. */
fire_status_t fire_memory_recover(fire_trainer_t *trainer, int64_t above,
                                  bool *found_p);

/* The iteration of the newest state on this node, -1: none. It is not read. */
int64_t fire_memory_newest(const char *prefix);

/* ---- memory_files.c ---- */

/* Where the state of a job with such snapshots is. */
fire_status_t fire_memory_dir(const char *prefix, char **dir_p);
/* Make the directory; fails if there is one that another user can write to. */
fire_status_t fire_memory_make_dir(const char *dir);
/* Remove files in a directory that do not begin with `id` (NULL: all), and then the
 * directory if it is empty. */
void fire_memory_clean(const char *dir, const char *id);
/* Remove directories of this user that nobody has written to for a day. */
void fire_memory_clean_old(void);
/* Is it a directory of this user alone, and no link to one? */
bool fire_memory_is_own(const char *dir);
/* Is there room for so many bytes, leaving as many free? MPI libraries need some. */
bool fire_memory_has_room(int64_t bytes);
/* Read the job of PREFIX.memory, "" if there is none; write it. */
void          fire_memory_read_id(const char *prefix, char id[FIRE_MEMORY_ID]);
fire_status_t fire_memory_make_id(const char *prefix, char id[FIRE_MEMORY_ID]);
void          fire_memory_drop_id(const char *prefix);
#endif
