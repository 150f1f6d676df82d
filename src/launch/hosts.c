/* hosts.c - reads lists of hosts from the launcher's words, a file or a command, and
 * tries hosts after a failure. */
#include "launch/hosts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

/* ASK: seconds between two questions while training, for an answer, and for a host to
 * show that it works; all but the first are limits. LEFT_OUT: of a host that does not.
 * All but the limits count in pauses (fire_launch_t). */
static const double ASK_EVERY = 5, ANSWER_WITHIN = 20, SHOW_WITHIN = 20, LEFT_OUT = 60;
enum { POLL_MICROSECONDS = 10000, SURE = 2 /* lists that say the same */ };

/* ---- the launcher's words ---- */

static bool is_one_of(const char *word, const char *const *known)
{
    for (; *known != NULL; known++)
        if (strcmp(word, *known) == 0) return true;
    return false;
}

static bool names_hosts(const char *word)
{
    return is_one_of(word, (const char *const[]){"--host", "-host", "-H", "--hosts",
                                                 "-hosts", "--nodelist", "-w", NULL});
}

static bool names_file(const char *word)
{
    return is_one_of(word,
                     (const char *const[]){"--hostfile", "-hostfile", "-f",
                                           "--machinefile", "-machinefile", NULL});
}

/* Take the hosts out of the words; "--host=a" is one word. */
static fire_status_t take_hosts(fire_hosts_t *h, char *launcher)
{
    char *rest, *word;

    for (word = strtok_r(launcher, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        char *value = strchr(word, '=');

        if (value != NULL) *value = '\0';
        if (names_hosts(word) || names_file(word)) {
            bool file = names_file(word);

            value = value != NULL ? value + 1 : strtok_r(NULL, " \t", &rest);
            if (value == NULL) break;
            FIRE_TRY(file ? fire_strdup(value, &h->file)
                          : fire_host_list_read(&h->list, value));
        } else {
            if (value != NULL) *value = '=';
            FIRE_TRY(fire_words_add(&h->words, word));
        }
    }
    return FIRE_OK;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* ---- the list ---- */

/* Where it names fewer workers than are wanted, as "--host a,b", its hosts take equal
 * numbers of them. */
static void widen(fire_hosts_t *h)
{
    int64_t slots = 0, n = 0;

    for (int64_t i = 0; i < h->list.n; i++) {
        slots += h->list.host[i].listed ? h->list.host[i].slots : 0;
        n += h->list.host[i].listed;
    }
    if (h->launch->hosts_from != NULL || n == 0 || slots >= h->launch->workers) return;
    for (int64_t i = 0; i < h->list.n; i++)
        h->list.host[i].slots = (int)((h->launch->workers + n - 1) / n);
}

static fire_status_t read_file(fire_hosts_t *h)
{
    char         *text;
    fire_status_t st;

    if (h->file == NULL) return FIRE_OK;
    FIRE_TRY(fire_file_read_text(h->file, &text));
    st = fire_host_list_read(&h->list, text);
    fire_free(text);
    return st < 0 ? fire_error_prefix(st, "%s", h->file) : FIRE_OK;
}

static fire_status_t ask(fire_hosts_t *h)
{
    char *const argv[] = {"/bin/sh", "-c", (char *)h->launch->hosts_from, NULL};

    return fire_question_ask(&h->question, argv, ANSWER_WITHIN);
}

/* The command has ended. */
static fire_status_t take_answer(fire_hosts_t *h)
{
    const char   *text = h->question.text.text;
    fire_status_t st;

    if (h->question.code != 0)
        return FIRE_FAIL(
            FIRE_ERR_IO, "--hosts_from: the command ended with status %d%s",
            h->question.code, h->question.code == 124 ? ": it took too long" : "");
    st = fire_host_list_read(&h->list, text != NULL ? text : "");
    return st < 0 ? fire_error_prefix(st, "--hosts_from") : FIRE_OK;
}

static bool must_stop(void)
{
    return fire_launch_wishes.stops > 0;
}

static fire_status_t read_list(fire_hosts_t *h)
{
    fire_status_t st;

    if (h->launch->hosts_from == NULL) {
        st = read_file(h);
    } else {
        FIRE_TRY(ask(h));
        while (!fire_question_is_answered(&h->question) && !must_stop())
            usleep(POLL_MICROSECONDS);
        st = must_stop() ? FIRE_OK : take_answer(h);
    }
    if (st >= 0) widen(h);
    return st;
}

fire_status_t fire_hosts_open(const fire_launch_t *launch, fire_hosts_t **hosts_p)
{
    fire_hosts_t *h;
    char         *launcher;
    fire_status_t st;

    *hosts_p = NULL;
    if (launch->launcher[0] == '\0' || launch->least_workers == 0) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&h, 1));
    h->launch = launch;
    st        = fire_strdup(launch->launcher, &launcher);
    if (st >= 0) {
        st = take_hosts(h, launcher);
        fire_free(launcher);
    }
    if (st >= 0) st = read_list(h);
    if (st < 0 || (h->list.n == 0 && h->file == NULL && launch->hosts_from == NULL)) {
        fire_hosts_close(h);
        return st;
    }
    *hosts_p = h;
    return FIRE_OK;
}

void fire_hosts_close(fire_hosts_t *h)
{
    if (h == NULL) return;
    fire_words_fini(&h->words);
    fire_host_list_fini(&h->list);
    fire_question_fini(&h->question);
    fire_free(h->file);
    fire_free(h);
}

/* ---- before an attempt ---- */

static int workers_now(const fire_hosts_t *h, int64_t most)
{
    int64_t slots = fire_host_list_slots(&h->list, fire_clock_now());

    return (int)(slots < most ? slots : most);
}

fire_status_t fire_hosts_settle(fire_hosts_t *h, int64_t most, int *workers_p)
{
    int64_t least = h->launch->least_workers;

    h->warned  = false;
    h->differs = 0;
    for (;;) {
        double until = fire_clock_now() + h->launch->pause;

        if (read_list(h) < 0) FIRE_LOG(WARNING, "%s", fire_last_error());
        *workers_p = workers_now(h, most);
        if (*workers_p >= least || must_stop()) return FIRE_OK;
        if (!h->warned)
            FIRE_LOG(WARNING,
                     "Waiting for hosts: %d workers can run, and %lld are needed",
                     *workers_p, (long long)least);
        h->warned = true;
        while (fire_clock_now() < until && !must_stop())
            usleep(POLL_MICROSECONDS);
    }
}

/* How a launcher is told its hosts. Without its own flag, Open MPI's. */
static fire_status_t add_hosts(fire_hosts_t *h, int64_t workers, fire_words_t *w)
{
    const char *launcher = name_of(h->words.word[0]);
    bool        slurm    = strcmp(launcher, "srun") == 0;
    bool hydra = strstr(launcher, "hydra") != NULL || strstr(launcher, "mpich") != NULL;
    fire_str_t    text = {0};
    char          number[32];
    int           n;
    fire_status_t st =
        fire_host_list_fill(&h->list, fire_clock_now(), workers, !slurm, &text, &n);

    if (st >= 0)
        st = fire_words_add(w, slurm ? "--nodelist" : hydra ? "-hosts" : "--host");
    if (st >= 0) st = fire_words_add(w, text.text != NULL ? text.text : "");
    snprintf(number, sizeof(number), "--nodes=%d", n);
    if (st >= 0 && slurm) st = fire_words_add(w, number);
    fire_str_fini(&text);
    return st;
}

static fire_status_t add_launcher(const fire_hosts_t *h, fire_words_t *w)
{
    for (int64_t i = 0; i < h->words.n; i++)
        FIRE_TRY(fire_words_add(w, h->words.word[i]));
    return FIRE_OK;
}

fire_status_t fire_hosts_add_words(fire_hosts_t *h, int workers, fire_words_t *w)
{
    FIRE_TRY(add_launcher(h, w));
    return add_hosts(h, workers, w);
}

/* ---- while a training runs ---- */

static bool has_lost(const fire_hosts_t *h)
{
    for (int64_t i = 0; i < h->list.n; i++)
        if (h->list.host[i].used && !h->list.host[i].listed) return true;
    return false;
}

/* A list that was read: has it said for long enough that others should go on? */
static bool is_sure(fire_hosts_t *h, int64_t most, int workers)
{
    int now = workers_now(h, most);

    h->differs = now >= h->launch->least_workers && (now > workers || has_lost(h))
                     ? h->differs + 1
                     : 0;
    return h->differs >= SURE;
}

bool fire_hosts_have_changed(fire_hosts_t *h, int64_t most, int workers)
{
    double        now   = fire_clock_now();
    bool          asked = h->question.pid > 0;
    fire_status_t st    = FIRE_OK;

    if (!h->launch->elastic) return false;
    if (asked && !fire_question_is_answered(&h->question)) return false;
    if (asked) {
        st = take_answer(h);
    } else {
        if (now - h->asked < ASK_EVERY * h->launch->pause) return false;
        h->asked = now;
        if (h->launch->hosts_from != NULL) {
            (void)ask(h);
            return false;
        }
        st = read_file(h);
    }
    if (st < 0) FIRE_LOG(WARNING, "%s", fire_last_error());
    if (st >= 0) widen(h);
    return st >= 0 && is_sure(h, most, workers);
}

/* ---- after a failure ---- */

/* Start `true` on one host. */
static fire_status_t knock(fire_hosts_t *h, int64_t i, fire_question_t *q)
{
    fire_words_t     w     = {0};
    fire_host_list_t one   = {.host = &h->list.host[i], .n = 1};
    fire_hosts_t     alone = *h;
    fire_status_t    st;

    alone.list = one;
    st         = fire_hosts_add_words(&alone, 1, &w);
    if (st >= 0) st = fire_words_add(&w, "-n");
    if (st >= 0) st = fire_words_add(&w, "1");
    if (st >= 0) st = fire_words_add(&w, "true");
    if (st >= 0) st = fire_question_ask(q, w.word, SHOW_WITHIN);
    fire_words_fini(&w);
    return st;
}

static void wait_for_all(fire_question_t *q, int64_t n)
{
    for (bool more = true; more && !must_stop();) {
        more = false;
        for (int64_t i = 0; i < n; i++)
            more |= !fire_question_is_answered(&q[i]);
        if (more) usleep(POLL_MICROSECONDS);
    }
}

/* Where no host passes, the trial itself is to blame: none is left out. */
static void judge(fire_hosts_t *h, const fire_question_t *q, const bool *tried)
{
    double now = fire_clock_now(), pause = LEFT_OUT * h->launch->pause;
    bool   some = false;

    for (int64_t i = 0; i < h->list.n; i++)
        some |= tried[i] && q[i].code == 0;
    for (int64_t i = 0; i < h->list.n && some; i++) {
        fire_host_t *host = &h->list.host[i];

        if (!tried[i] || q[i].code == 0) continue;
        fire_host_leave_out(host, now, pause);
        FIRE_LOG(WARNING, "Host %s does not answer: left out for %.0f s", host->name,
                 host->out_until - now);
    }
}

void fire_hosts_try(fire_hosts_t *h)
{
    fire_question_t *q     = NULL;
    bool            *tried = NULL;

    if (FIRE_NEW(&q, h->list.n) >= 0 && FIRE_NEW(&tried, h->list.n) >= 0) {
        for (int64_t i = 0; i < h->list.n; i++)
            tried[i] = h->list.host[i].used && h->list.host[i].listed &&
                       knock(h, i, &q[i]) >= 0;
        wait_for_all(q, h->list.n);
        if (!must_stop()) judge(h, q, tried);
        for (int64_t i = 0; i < h->list.n; i++)
            fire_question_fini(&q[i]);
    }
    fire_free(q);
    fire_free(tried);
}

void fire_hosts_praise(fire_hosts_t *h)
{
    for (int64_t i = 0; i < h->list.n; i++)
        if (h->list.host[i].used) h->list.host[i].failures = 0;
}
