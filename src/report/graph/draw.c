/* draw.c - from the layers of a net to a file with a picture, with the help of Graphviz
 * where it is installed. */
#include "report/graph/draw.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "net/describe.h"
#include "report/graph/graph.h"

extern char **environ;

/* ---- Graphviz ---- */

/* Start `dot` with pipes to its input and from its output. */
static bool start_dot(const char *format, pid_t *pid_p, int *to_p, int *from_p)
{
    char                       option[64];
    char *const                argv[] = {"dot", option, NULL};
    posix_spawn_file_actions_t actions;
    int                        in[2], out[2];
    bool                       ok;

    snprintf(option, sizeof(option), "-T%s", format);
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

/* dot reads all of its input before it writes: writing first and reading afterwards
 * cannot block. */
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

/* Run `dot` on an input; false if it is not installed or fails. SIGPIPE is ignored
 * meanwhile, in case it ends early. */
static bool ask_dot(const char *format, const fire_str_t *question, fire_str_t *answer)
{
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    pid_t pid;
    int   to, from, status = -1;
    bool  ok = start_dot(format, &pid, &to, &from);

    if (ok) {
        ok = talk(to, from, question, answer);
        waitpid(pid, &status, 0);
        ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    signal(SIGPIPE, old);
    return ok;
}

/* Place boxes and edges: with Graphviz if it is installed, else with our layout. */
static fire_status_t place(fire_graph_t *g)
{
    fire_str_t    question = {0}, answer = {0};
    fire_status_t st = fire_graph_dot(g, &question);

    if (st >= 0 && ask_dot("plain", &question, &answer))
        st = fire_graph_placed(g, answer.text);
    else if (st >= 0)
        st = fire_graph_layout(g);
    fire_str_fini(&question);
    fire_str_fini(&answer);
    return st;
}

/* Our placing is downwards; other directions are made by transposing and mirroring. */
static fire_status_t lay_out(fire_graph_t *g, const char *rankdir)
{
    bool across = strcmp(rankdir, "LR") == 0 || strcmp(rankdir, "RL") == 0;

    if (across) fire_graph_transpose(g);
    FIRE_TRY(place(g));
    if (across) fire_graph_transpose(g);
    if (strcmp(rankdir, "BT") == 0 || strcmp(rankdir, "RL") == 0) fire_graph_mirror(g);
    return FIRE_OK;
}

/* ---- pictures ---- */

static fire_status_t draw_svg(const fire_json_t *layers, const char *rankdir,
                              bool alone, fire_str_t *out)
{
    fire_graph_t *g;
    fire_status_t st;

    FIRE_TRY(fire_graph_create(layers, &g));
    st = lay_out(g, rankdir);
    if (st >= 0) st = fire_graph_svg(g, alone, out);
    fire_graph_destroy(g);
    return st;
}

fire_status_t fire_draw_layers(const fire_json_t *layers, bool alone, fire_str_t *out)
{
    return draw_svg(layers, "TB", alone, out);
}

/* Write Graphviz's language, or let Graphviz draw another format. */
static fire_status_t draw_by_dot(const fire_json_t *layers, const char *rankdir,
                                 const char *format, fire_str_t *out)
{
    bool          text     = strcmp(format, "dot") == 0 || strcmp(format, "gv") == 0;
    fire_str_t    question = {0};
    fire_graph_t *g;
    fire_status_t st;

    FIRE_TRY(fire_graph_create(layers, &g));
    st = fire_graph_dot_drawing(g, rankdir, text ? out : &question);
    if (st >= 0 && !text && !ask_dot(format, &question, out))
        st =
            FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                      "drawing a .%s needs Graphviz, whose program `dot` is missing or "
                      "does not know the format; .svg, .html and .dot need nothing",
                      format);
    fire_graph_destroy(g);
    fire_str_fini(&question);
    return st;
}

/* The extension of the file name; "": it has none. */
static const char *format_of(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL && strchr(dot, '/') == NULL ? dot + 1 : "";
}

static fire_status_t draw_page(const fire_json_t *layers, const char *rankdir,
                               bool html, fire_str_t *out)
{
    if (html)
        FIRE_TRY(fire_str_printf(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<meta name=\"color-scheme\" content=\"light dark\">"
            "<title>Net</title><body style=\"text-align:center;margin:0;background:"
            "light-dark(#faf8f5,#15171a)\">\n"));
    return draw_svg(layers, rankdir, true, out);
}

fire_status_t fire_draw_file(const fire_json_writer_t *w, const char *rankdir,
                             const char *path)
{
    const char   *format = format_of(path);
    bool          html   = strcmp(format, "html") == 0;
    fire_str_t    out    = {0};
    fire_json_t  *layers;
    fire_status_t st;

    FIRE_TRY(w->status);
    if (format[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: the name must end in .svg, .html or .dot, or in what "
                         "Graphviz draws, as .png",
                         path);
    FIRE_TRY(fire_json_parse(w->out.text, (size_t)w->out.n, "net", &layers));
    if (html || strcmp(format, "svg") == 0)
        st = draw_page(layers, rankdir, html, &out);
    else
        st = draw_by_dot(layers, rankdir, format, &out);
    if (st >= 0) st = fire_file_write(path, out.text, (size_t)out.n);
    fire_json_free(layers);
    fire_str_fini(&out);
    return st;
}

fire_status_t fire_draw_net(const fire_net_t *net, const char *path)
{
    fire_json_writer_t w = {0};
    fire_status_t      st;

    if (!fire_path_has_suffix(path, ".svg") && !fire_path_has_suffix(path, ".html"))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--draw %s: the name must end in .svg or .html", path);
    fire_net_describe(&w, NULL, net);
    st = fire_draw_file(&w, "TB", path);
    fire_json_writer_fini(&w);
    return st;
}
