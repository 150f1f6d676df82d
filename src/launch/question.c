/* question.c - runs a command in a group of processes of its own and reads what it
 * writes, a little at each call. */
#include "launch/question.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { GIVEN_UP = 124, NOT_STARTED = 127, LONGEST = 1 << 20 };

static void become(char *const *argv, int out)
{
    sigset_t none;
    int      nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execvp(argv[0], argv);
    _exit(NOT_STARTED);
}

/* Its group may hold others than the one that was started. */
static void end(fire_question_t *q, int code)
{
    kill(-q->pid, SIGKILL);
    kill(q->pid, SIGKILL);
    waitpid(q->pid, NULL, 0);
    close(q->fd);
    q->pid  = 0;
    q->code = code;
}

fire_status_t fire_question_ask(fire_question_t *q, char *const *argv, double seconds)
{
    int ends[2], error;

    if (q->pid > 0) end(q, GIVEN_UP);
    fire_str_fini(&q->text);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return FIRE_FAIL(FIRE_ERR_NOMEM, "cannot make a pipe: %s", strerror(errno));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    q->pid = fork();
    if (q->pid == 0) become(argv, ends[1]);
    error = errno;
    close(ends[1]);
    q->fd    = ends[0];
    q->until = fire_clock_now() + seconds;
    if (q->pid > 0) return FIRE_OK;
    close(q->fd);
    q->pid = 0;
    return FIRE_FAIL(FIRE_ERR_NOMEM, "cannot start a process: %s", strerror(error));
}

static void read_more(fire_question_t *q)
{
    char    bytes[4096];
    ssize_t n;

    while ((n = read(q->fd, bytes, sizeof(bytes))) > 0)
        if (q->text.n < LONGEST && fire_str_add(&q->text, bytes, (size_t)n) < 0) return;
}

bool fire_question_is_answered(fire_question_t *q)
{
    siginfo_t info = {0};

    if (q->pid == 0) return true;
    read_more(q);
    if (waitid(P_PID, (id_t)q->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == q->pid) {
        read_more(q);
        end(q, info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status);
    } else if (fire_clock_now() > q->until) {
        end(q, GIVEN_UP);
    }
    return q->pid == 0;
}

void fire_question_fini(fire_question_t *q)
{
    if (q->pid > 0) end(q, GIVEN_UP);
    fire_str_fini(&q->text);
    *q = (fire_question_t){0};
}
