/* train.c - trains a net with libfire, and shows what happens meanwhile.
 *
 *     train SOLVER.prototxt [STATE.solverstate]
 *
 * Ctrl-C writes a snapshot and stops; STATE continues from one. */
#include <fire/fire.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static fire_trainer_t *trainer; /* for the signal handler */

static void on_interrupt(int number)
{
    (void)number;
    fire_trainer_request(trainer, FIRE_STOP);
}

static void print_message(void *arg, fire_log_level_t level, const char *file, int line,
                          const char *message)
{
    (void)arg, (void)level, (void)file, (void)line;
    fprintf(stderr, "%s\n", message);
}

static void on_event(void *arg, const fire_train_event_t *e)
{
    (void)arg;
    switch (e->kind) {
    case FIRE_TRAIN_START:
        printf("training from iteration %lld to %lld\n", (long long)e->iter,
               (long long)e->max_iter);
        break;
    case FIRE_TRAIN_DISPLAY:
        printf("iteration %lld: loss %.4g, learning rate %g\n", (long long)e->iter,
               e->loss, e->lr);
        break;
    case FIRE_TRAIN_TEST:
        printf("iteration %lld: test net %d: %s %.4g\n", (long long)e->iter,
               e->test_net, e->name, e->value);
        break;
    case FIRE_TRAIN_SNAPSHOT:
        printf("iteration %lld: wrote %s\n", (long long)e->iter, e->name);
        break;
    case FIRE_TRAIN_ITERATION:
    case FIRE_TRAIN_DONE:
        break;
    }
}

static fire_status_t train(const char *state)
{
    fire_trainer_hooks_t hooks = FIRE_TRAINER_HOOKS_INIT;
    fire_status_t        st;

    hooks.event = on_event;
    st          = fire_trainer_set_hooks(trainer, &hooks);
    if (st >= 0 && state != NULL) st = fire_trainer_restore(trainer, state);
    return st >= 0 ? fire_trainer_solve(trainer) : st;
}

int main(int argc, char **argv)
{
    fire_status_t st;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: train SOLVER.prototxt [STATE.solverstate]\n");
        return 2;
    }
    fire_log_set_sink(print_message, NULL, FIRE_WARNING);
    st = fire_trainer_from_file(argv[1], NULL, &trainer);
    if (st >= 0) {
        signal(SIGINT, on_interrupt);
        st = train(argc > 2 ? argv[2] : NULL);
        if (st >= 0 && fire_trainer_stopped(trainer)) printf("stopped\n");
        signal(SIGINT, SIG_DFL);
        fire_trainer_destroy(trainer);
    }
    if (st < 0) fprintf(stderr, "error: %s\n", fire_last_error());
    return st < 0;
}
