/* lr_find.h - which learning rate: one short training during which the rate rises from far
 * too small to far too high (Smith, 2015). Where the loss falls fastest is a good rate;
 * where it begins to rise is too much. */
#ifndef FIRE_SWEEP_LR_FIND_H
#define FIRE_SWEEP_LR_FIND_H
#include "base/text/text.h"
#include "train/trainer.h"

typedef struct fire_lr_point {
    double rate, loss;
    double smooth; /* decaying mean of the losses up to here */
} fire_lr_point_t;

typedef struct fire_lr_find {
    double  from, to;   /* first and last rate; each is the same multiple of the last */
    int64_t iterations; /* rates to try */

    /* What came of it. */
    fire_lr_point_t
           *point; /* [npoint] fewer than iterations if the loss grew too high */
    int64_t npoint;
    int64_t steepest; /* where the mean falls fastest, -1 if it never falls */
    int64_t least;    /* where the mean is least */
    bool    diverged; /* the loss grew to four times its least mean */
} fire_lr_find_t;

fire_status_t fire_lr_find_check(const fire_lr_find_t *find);
/* Train with the trainer, whose weights are of no use afterwards. All workers call it. */
fire_status_t fire_lr_find_run(fire_lr_find_t *find, fire_trainer_t *trainer);
/* From the points. */
void fire_lr_find_judge(fire_lr_find_t *find);
void fire_lr_find_fini(fire_lr_find_t *find);
/* The curve as a page that needs nothing else. title: text, of the user. */
fire_status_t fire_lr_find_page(const fire_lr_find_t *find, const char *title,
                                fire_str_t *page);
#endif
