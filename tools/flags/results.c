/* results.c - adds what only the program knows to the head of a log. */
#include "flags/results.h"

#include "command.h"
#include "train/log.h"

fire_status_t results_open(const char *run_dir, const fire_results_head_t *head,
                           fire_results_t **results_p)
{
    fire_results_head_t h = *head;

    program_arguments(&h.argc, &h.argv);
    h.write_environment = fire_train_log_environment;
    return fire_results_open(run_dir, &h, results_p);
}
