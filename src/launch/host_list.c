/* host_list.c - reads lists of hosts and shares workers out to them. */
#include "launch/host_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A name goes to a command line, so it must not look like a flag. */
static bool is_name(const char *name)
{
    if (!isalnum((unsigned char)name[0]) || strlen(name) >= FIRE_HOST_NAME)
        return false;
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && strchr("._-", *name) == NULL)
            return false;
    return true;
}

static fire_status_t add(fire_host_list_t *l, const char *name, int slots)
{
    fire_host_t *h = NULL;

    for (int64_t i = 0; i < l->n && h == NULL; i++)
        if (strcmp(l->host[i].name, name) == 0) h = &l->host[i];
    if (h == NULL) {
        FIRE_TRY(fire_grow(&l->host, &l->cap, l->n + 1, sizeof(*l->host)));
        h  = &l->host[l->n++];
        *h = (fire_host_t){0};
        memcpy(h->name, name, strlen(name) + 1);
    }
    h->slots  = h->listed ? h->slots + slots : slots; /* twice is two more workers */
    h->listed = true;
    return FIRE_OK;
}

/* "4" or "slots=4"; 0: none of both. */
static int slots_in(const char *word)
{
    char *end;
    long  n;

    if (strncmp(word, "slots=", 6) == 0) word += 6;
    n = strtol(word, &end, 10);
    return *word != '\0' && *end == '\0' && n > 0 && n < 1 << 20 ? (int)n : 0;
}

/* One host: its name and, in the same word or the next one, a number. */
static fire_status_t read_host(fire_host_list_t *l, char *text)
{
    char *rest, *name = strtok_r(text, " \t\r", &rest), *number, *colon;
    int   slots = 1;

    if (name == NULL) return FIRE_OK;
    colon  = strchr(name, ':');
    number = colon != NULL ? colon + 1 : strtok_r(NULL, " \t\r", &rest);
    if (colon != NULL) *colon = '\0';
    if (number != NULL && slots_in(number) > 0) slots = slots_in(number);
    if (!is_name(name) || (colon != NULL && slots_in(number) == 0))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "\"%s\" is no host: a name is expected, and a number of "
                         "workers as in \"node1 slots=4\"",
                         name);
    return add(l, name, slots);
}

fire_status_t fire_host_list_read(fire_host_list_t *l, const char *text)
{
    char         *copy, *rest, *line, *comment;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_strdup(text, &copy));
    for (int64_t i = 0; i < l->n; i++)
        l->host[i].listed = false;
    rest = copy;
    while (st >= 0 && (line = strsep(&rest, "\n")) != NULL) {
        char *host;

        comment = strchr(line, '#');
        if (comment != NULL) *comment = '\0';
        while (st >= 0 && (host = strsep(&line, ",")) != NULL)
            st = read_host(l, host);
    }
    fire_free(copy);
    return st;
}

void fire_host_list_fini(fire_host_list_t *l)
{
    fire_free(l->host);
    *l = (fire_host_list_t){0};
}

bool fire_host_is_good(const fire_host_t *h, double now)
{
    return h->listed && now >= h->out_until;
}

int64_t fire_host_list_slots(const fire_host_list_t *l, double now)
{
    int64_t n = 0;

    for (int64_t i = 0; i < l->n; i++)
        if (fire_host_is_good(&l->host[i], now)) n += l->host[i].slots;
    return n;
}

fire_status_t fire_host_list_fill(fire_host_list_t *l, double now, int64_t workers,
                                  bool numbers, fire_str_t *text, int *nhost_p)
{
    *nhost_p = 0;
    for (int64_t i = 0; i < l->n; i++) {
        fire_host_t *h = &l->host[i];
        int64_t      n = h->slots < workers ? h->slots : workers;

        h->used = n > 0 && fire_host_is_good(h, now);
        if (!h->used) continue;
        FIRE_TRY(fire_str_printf(text, "%s%s", (*nhost_p)++ > 0 ? "," : "", h->name));
        if (numbers) FIRE_TRY(fire_str_printf(text, ":%d", (int)n));
        workers -= n;
    }
    return FIRE_OK;
}

void fire_host_leave_out(fire_host_t *h, double now, double pause)
{
    double wait = pause;

    for (int i = 0; i < h->failures && wait < 10 * pause; i++)
        wait *= 2;
    h->failures++;
    h->out_until = now + (wait < 10 * pause ? wait : 10 * pause);
}
