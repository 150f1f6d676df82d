#include "draw.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "net/describe.h"
#include "report/graph.h"

extern char **environ;

/* ---- Graphviz ---- */

/* Start `dot -Tplain` with a pipe to it and one from it. */
static bool start_dot(pid_t *pid_p, int *to_p, int *from_p)
{
    char *const                argv[] = {"dot", "-Tplain", NULL};
    posix_spawn_file_actions_t actions;
    int                        in[2], out[2];
    bool                       ok;

    if (pipe2(in, O_CLOEXEC) != 0) return false;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]), close(in[1]);
        return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    ok = posix_spawnp(pid_p, "dot", &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]), close(out[1]);
    if (!ok) close(in[1]), close(out[0]);
    *to_p   = in[1];
    *from_p = out[0];
    return ok;
}

/* dot reads all before it answers, so writing first and reading then cannot block. */
static bool talk(int to, int from, const fire_str_t *question, fire_str_t *answer)
{
    char    buffer[4096];
    int64_t done = 0;
    ssize_t n;

    while (done < question->n) {
        n = write(to, question->text + done, (size_t)(question->n - done));
        if (n <= 0) break;
        done += n;
    }
    close(to);
    while ((n = read(from, buffer, sizeof(buffer))) > 0)
        if (fire_str_add(answer, buffer, (size_t)n) < 0) break;
    close(from);
    return done == question->n && answer->n > 0;
}

static bool ask_dot(const fire_str_t *question, fire_str_t *answer)
{
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    pid_t pid;
    int   to, from, status = -1;
    bool  ok = start_dot(&pid, &to, &from);

    if (ok) {
        ok = talk(to, from, question, answer);
        waitpid(pid, &status, 0);
        ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    signal(SIGPIPE, old);
    return ok;
}

static fire_status_t lay_out(fire_graph_t *g)
{
    fire_str_t    question = {0}, answer = {0};
    fire_status_t st = fire_graph_dot(g, &question);

    if (st >= 0 && ask_dot(&question, &answer))
        st = fire_graph_placed(g, answer.text);
    else if (st >= 0)
        st = fire_graph_layout(g);
    fire_str_fini(&question);
    fire_str_fini(&answer);
    return st;
}

/* ---- pictures ---- */

fire_status_t draw_layers(const fire_json_t *layers, bool alone, fire_str_t *out)
{
    fire_graph_t *g;
    fire_status_t st;

    FIRE_TRY(fire_graph_create(layers, &g));
    st = lay_out(g);
    if (st >= 0) st = fire_graph_svg(g, alone, out);
    fire_graph_destroy(g);
    return st;
}

static fire_status_t draw_page(const fire_json_t *layers, const char *path)
{
    bool          html = fire_path_has_suffix(path, ".html");
    fire_str_t    out  = {0};
    fire_status_t st   = FIRE_OK;

    if (html)
        st = fire_str_printf(
            &out,
            "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<meta name=\"color-scheme\" content=\"light dark\">"
            "<title>Net</title><body style=\"text-align:center;margin:0;background:"
            "light-dark(#faf8f5,#15171a)\">\n");
    if (st >= 0) st = draw_layers(layers, true, &out);
    if (st >= 0) st = fire_file_write(path, out.text, (size_t)out.n);
    fire_str_fini(&out);
    return st;
}

fire_status_t draw_net(const fire_net_t *net, const char *path)
{
    fire_json_writer_t w      = {0};
    fire_json_t       *layers = NULL;
    fire_status_t      st;

    if (!fire_path_has_suffix(path, ".svg") && !fire_path_has_suffix(path, ".html"))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--draw %s: the name must end in .svg or .html", path);
    fire_net_describe(&w, NULL, net);
    st = w.status;
    if (st >= 0) st = fire_json_parse(w.out.text, (size_t)w.out.n, "net", &layers);
    if (st >= 0) st = draw_page(layers, path);
    fire_json_free(layers);
    fire_json_writer_fini(&w);
    return st;
}
