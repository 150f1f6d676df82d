/* question.h - a command whose output is awaited beside other work, inside of
 * src/launch/. */
#ifndef FIRE_LAUNCH_QUESTION_H
#define FIRE_LAUNCH_QUESTION_H
#include <sys/types.h>
#include "base/text/text.h"

/* {0} is one that was not asked. */
typedef struct fire_question {
    pid_t      pid; /* 0: not under way */
    int        fd;
    double     until; /* fire_clock_now() at which it is given up */
    fire_str_t text;  /* what it has written so far */
    int        code;  /* its exit status as a shell gives it; 124: given up */
} fire_question_t;

/* Run argv for so many seconds at most. Ends what is under way. */
fire_status_t fire_question_ask(fire_question_t *q, char *const *argv, double seconds);
/* Has it ended? Never blocks. */
bool fire_question_is_answered(fire_question_t *q);
void fire_question_fini(fire_question_t *q);
#endif
