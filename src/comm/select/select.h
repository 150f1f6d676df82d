/* select.h - which algorithm? The one asked for; for "auto" the first that a
 * tuning table lists and that fits, else the cheapest by the cost formulas.
 *
 * A tuning table is a text, written by `firecaffe bench allreduce --tune`:
 *
 *     # firecaffe tuning 1
 *     RANKS FROM_BYTES NAME[:colors=K][:piece=BYTES] NAME ...
 *
 * with the fastest algorithm first. Used is the line with this number of ranks
 * and the greatest FROM_BYTES that is not more than the message; of it, the first
 * algorithm that can do what is asked (canonical, compressed ...). '#' starts a
 * comment. */
#ifndef FIRE_COMM_SELECT_H
#define FIRE_COMM_SELECT_H
#include "comm/comm_state.h"

/* Rank 0 reads the file, all get it. No path: *tuning_p is NULL. */
fire_status_t fire_tuning_read(fire_comm_t *c, const char *path,
                               fire_tuning_t **tuning_p);
fire_status_t fire_tuning_parse(const char *path, const char *text,
                                fire_tuning_t **tuning_p);
void          fire_tuning_destroy(fire_tuning_t *t);

typedef struct fire_choice {
    const fire_algo_t *algo;
    int                colors; /* 0: no wish */
    size_t             piece;  /* bytes; 0: no wish */
} fire_choice_t;

/* NAME[:colors=K][:piece=BYTES] */
fire_status_t fire_choice_parse(const char *text, fire_choice_t *choice_p);

/* The i-th choice for so many ranks and bytes; false when there are no more. */
bool fire_tuning_at(const fire_tuning_t *t, int ranks, size_t bytes, int i,
                    fire_choice_t *choice_p);

/* A good length of messages in bytes: as many chains as the algorithm wants; but short
 * messages cost too many waits. Inside a node, where nothing flows, they are four times
 * as long. */
size_t fire_piece_of(const fire_algo_t *algo, const fire_coll_t *d);

/* Also sets d->piece, and d->ncolor if a table says so and `o` does not. */
fire_status_t fire_select(const fire_comm_t *c, const fire_collective_options_t *o,
                          const fire_codec_t *codec, fire_coll_t *d,
                          const fire_algo_t **algo_p);
#endif
