/* select.h - chooses the algorithm of a collective and the length of its messages.
 *
 *   --comm NAME    that algorithm, or an error if it cannot do what is asked
 *   --comm auto    1. the tuning table's line for this number of ranks and bytes: its
 *                     first algorithm that can do what is asked
 *                  2. else the algorithm with the least fire_algo_t.cost() on typical
 *                     machines
 *
 * What is asked: the operation, canonical sums, a codec. A tuning table is a text, made
 * of measurements by `firecaffe bench allreduce --tune`:
 *
 *     # firecaffe tuning 1
 *     RANKS FROM_BYTES NAME[:colors=K][:piece=BYTES] NAME ...
 *
 * with the fastest algorithm first. Of the lines with this number of ranks, the one
 * with the greatest FROM_BYTES that is not more than the buffer's bytes is used. '#'
 * starts a comment. */
#ifndef FIRE_COMM_SELECT_H
#define FIRE_COMM_SELECT_H
#include "comm/comm_state.h"

/* All ranks call it; rank 0 reads the file and sends it to the others. path NULL:
 * *tuning_p becomes NULL. */
fire_status_t fire_tuning_read(fire_comm_t *c, const char *path,
                               fire_tuning_t **tuning_p);
/* `path` is for messages only. */
fire_status_t fire_tuning_parse(const char *path, const char *text,
                                fire_tuning_t **tuning_p);
void          fire_tuning_destroy(fire_tuning_t *t);

typedef struct fire_choice {
    const fire_algo_t *algo;
    int                colors; /* 0: not given */
    size_t             piece;  /* bytes; 0: not given */
} fire_choice_t;

/* Parse NAME[:colors=K][:piece=BYTES]. */
fire_status_t fire_choice_parse(const char *text, fire_choice_t *choice_p);

/* The i-th choice of the line for so many ranks and bytes; false past the last one. */
bool fire_tuning_at(const fire_tuning_t *t, int ranks, size_t bytes, int i,
                    fire_choice_t *choice_p);

/* The length of messages in bytes that gives as many chains as the algorithm wants,
 * between 64 KB and 1 MB: short messages cost too many waits. Inside a node, where a
 * message is only an address, four times as long. */
size_t fire_piece_of(const fire_algo_t *algo, const fire_coll_t *d);

/* Choose for the request *d: sets *algo_p, d->piece, and d->ncolor if the table gives a
 * number of colors and `o` does not. */
fire_status_t fire_select(const fire_comm_t *c, const fire_collective_options_t *o,
                          const fire_codec_t *codec, fire_coll_t *d,
                          const fire_algo_t **algo_p);
#endif
