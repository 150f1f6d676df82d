/* serve_microhttpd.c - serves the page with libmicrohttpd: / is the page, /data.json
 * its data, /events a stream of server-sent events, one for each change of the data. */
#include "view/serve.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "base/alloc.h"
#include "report/page.h"
#include "report/runs.h"
#include "stop.h"
#include "view/visitors.h"

enum { TOKEN_BYTES = 16, PING_SECONDS = 10, IDLE_SECONDS = 60 };
enum { POLL_MICROSECONDS = 500000 };

typedef struct server {
    fire_report_t  *report; /* used by the main thread only */
    pthread_mutex_t lock;   /* protects all members below */
    pthread_cond_t  news;
    char           *data;
    uint64_t        version;
    bool            quit;

    visitors_t visitors;  /* has a lock of its own */
    char       token[64]; /* "": none is needed */
} server_t;

/* ---- data ---- */

static fire_status_t refresh(server_t *s)
{
    fire_json_writer_t w = {0};
    char              *data;

    FIRE_TRY(fire_report_draw_nets(s->report));
    fire_report_write(&w, s->report);
    if (w.status < 0) {
        fire_json_writer_fini(&w);
        return w.status;
    }
    FIRE_TRY(fire_str_take(&w.out, &data));
    pthread_mutex_lock(&s->lock);
    fire_free(s->data);
    s->data = data;
    s->version++;
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    return FIRE_OK;
}

/* ---- who is connected ---- */

static void on_connection(void *arg, struct MHD_Connection *c, void **visitor,
                          enum MHD_ConnectionNotificationCode what)
{
    server_t                       *s = arg;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *visitor = visitors_come(&s->visitors, info->connect_fd);
    else
        visitors_set(&s->visitors, *visitor, VISITOR_NONE);
}

/* Says whether a request may be answered. */
static bool begin_answer(server_t *s, struct MHD_Connection *c, visitor_phase_t phase)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return visitors_set(&s->visitors, info->socket_context, phase);
}

/* After an answer the same connection may ask again. */
static void on_answered(void *arg, struct MHD_Connection *c, void **state,
                        enum MHD_RequestTerminationCode how)
{
    (void)state, (void)how;
    begin_answer(arg, c, VISITOR_ASKING);
}

/* While a run restarts its files may be missing for a moment: keep the old data. The
 * page shows the time, so the data are also written again at intervals. */
static fire_status_t follow(server_t *s)
{
    time_t last = 0;

    while (!stop_asked) {
        bool any = time(NULL) - last >= PING_SECONDS, news;

        for (int i = 0; i < s->report->nrun; i++)
            if (fire_run_poll(s->report->run[i], &news) >= 0) any |= news;
        if (any) {
            FIRE_TRY(refresh(s));
            last = time(NULL);
        }
        visitors_hurry(&s->visitors);
        usleep(POLL_MICROSECONDS);
    }
    return FIRE_OK;
}

/* ---- answers ---- */

static const struct {
    const char *name, *value;
} headers[] = {
    {"Cache-Control", "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Content-Security-Policy",
     "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
     "img-src data:; connect-src 'self'; frame-ancestors 'none'"},
};

static enum MHD_Result answer(struct MHD_Connection *c, unsigned code, const char *type,
                              struct MHD_Response *r)
{
    enum MHD_Result done;

    if (r == NULL) return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        MHD_add_response_header(r, headers[i].name, headers[i].value);
    done = MHD_queue_response(c, code, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned code,
                                   const char *text)
{
    return answer(c, code, "text/plain; charset=utf-8",
                  MHD_create_response_from_buffer(strlen(text), (void *)text,
                                                  MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result answer_page(server_t *s, struct MHD_Connection *c)
{
    char         *page;
    size_t        n;
    fire_status_t st;

    pthread_mutex_lock(&s->lock);
    st = fire_page_fill(s->data, &page, &n);
    pthread_mutex_unlock(&s->lock);
    if (st < 0)
        return answer_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, fire_last_error());
    return answer(
        c, MHD_HTTP_OK, "text/html; charset=utf-8",
        MHD_create_response_from_buffer_with_free_callback(n, page, fire_free));
}

static enum MHD_Result answer_data(server_t *s, struct MHD_Connection *c)
{
    struct MHD_Response *r;

    pthread_mutex_lock(&s->lock);
    r = MHD_create_response_from_buffer(strlen(s->data), s->data,
                                        MHD_RESPMEM_MUST_COPY);
    pthread_mutex_unlock(&s->lock);
    return answer(c, MHD_HTTP_OK, "application/json", r);
}

/* ---- the stream of events; each has a thread, which sleeps here ---- */

typedef struct stream {
    server_t *server;
    uint64_t  seen;
} stream_t;

static ssize_t next_event(void *arg, uint64_t at, char *out, size_t most)
{
    stream_t       *e = arg;
    server_t       *s = e->server;
    struct timespec until;
    bool            quit;
    int             n;

    (void)at;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PING_SECONDS;
    pthread_mutex_lock(&s->lock);
    while (!s->quit && s->version == e->seen &&
           pthread_cond_timedwait(&s->news, &s->lock, &until) == 0)
        continue;
    if (s->version != e->seen)
        n = snprintf(out, most, "event: news\ndata: %llu\n\n",
                     (unsigned long long)s->version);
    else
        n = snprintf(out, most, ": still here\n\n");
    e->seen = s->version;
    quit    = s->quit;
    pthread_mutex_unlock(&s->lock);
    return quit ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static enum MHD_Result answer_events(server_t *s, struct MHD_Connection *c)
{
    stream_t *e;

    if (!begin_answer(s, c, VISITOR_STREAMING))
        return answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE,
                           "Too many pages follow this run already.\n");
    if (FIRE_NEW(&e, 1) < 0) return MHD_NO;
    e->server = s;
    return answer(c, MHD_HTTP_OK, "text/event-stream",
                  MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, next_event,
                                                    e, fire_free));
}

/* ---- who may ask ---- */

/* Compare in constant time, so that the time of an answer tells nothing about the
 * token. */
static bool same_secret(const char *a, const char *b)
{
    size_t        n    = strlen(a);
    unsigned char diff = 0;

    if (strlen(b) != n) return false;
    for (size_t i = 0; i < n; i++)
        diff |= (unsigned char)(a[i] ^ b[i]);
    return diff == 0;
}

/* Without a token only browsers of this machine are served. Refuse other host names: a
 * page from elsewhere could make a browser connect here by a name of its own (DNS
 * rebinding). */
static bool is_own_name(const char *host)
{
    static const char *const own[] = {"127.0.0.1", "localhost", "[::1]"};

    for (size_t i = 0; host != NULL && i < 3; i++) {
        size_t n = strlen(own[i]);

        if (strncmp(host, own[i], n) == 0 && (host[n] == '\0' || host[n] == ':'))
            return true;
    }
    return false;
}

static bool may_ask(const server_t *s, struct MHD_Connection *c)
{
    const char *token = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");

    if (s->token[0] != '\0') return token != NULL && same_secret(s->token, token);
    return is_own_name(MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host"));
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version,
                                  const char *upload, size_t *upload_size, void **state)
{
    server_t *s = arg;

    (void)version, (void)upload, (void)upload_size, (void)state;
    if (!begin_answer(s, c, VISITOR_READING)) return MHD_NO;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED,
                           "This is for reading only.\n");
    if (!may_ask(s, c))
        return answer_text(c, MHD_HTTP_FORBIDDEN,
                           "Open the address that firecaffe watch printed, with its "
                           "token.\n");
    if (strcmp(url, "/") == 0) return answer_page(s, c);
    if (strcmp(url, "/data.json") == 0) return answer_data(s, c);
    if (strcmp(url, "/events") == 0) return answer_events(s, c);
    return answer_text(c, MHD_HTTP_NOT_FOUND, "There is only one page here: /\n");
}

/* ---- addresses ---- */

/* "8080", "0.0.0.0:8080", "[::1]:8080" to host and port; host "" if left out. */
static fire_status_t split_address(const char *text, char host[256], char port[16])
{
    const char *colon = strrchr(text, ':'), *name = text;
    size_t      n = colon != NULL ? (size_t)(colon - text) : 0;
    char       *end;
    long        number;

    if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
        name++;
        n -= 2;
    }
    snprintf(host, 256, "%.*s", (int)(n < 255 ? n : 255), name);
    snprintf(port, 16, "%s", colon != NULL ? colon + 1 : text);
    number = strtol(port, &end, 10);
    if (end == port || *end != '\0' || number < 0 || number > 65535)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--serve %s: write PORT or ADDRESS:PORT",
                         text);
    return FIRE_OK;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static fire_status_t find_address(const char *text, char host[256],
                                  struct addrinfo **found_p)
{
    struct addrinfo want = {.ai_flags    = AI_PASSIVE | AI_NUMERICSERV,
                            .ai_socktype = SOCK_STREAM};
    char            port[16];
    int             err;

    FIRE_TRY(split_address(text, host, port));
    if (host[0] == '\0') strcpy(host, "127.0.0.1");
    err = getaddrinfo(host, port, &want, found_p);
    if (err != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--serve %s: %s", text, gai_strerror(err));
    return FIRE_OK;
}

static fire_status_t make_token(server_t *s, const char *given)
{
    uint8_t random[TOKEN_BYTES];

    if (strlen(given) >= sizeof(s->token))
        return FIRE_FAIL(FIRE_ERR_INVALID, "--token: at most %zu characters",
                         sizeof(s->token) - 1);
    if (given[0] != '\0') {
        strcpy(s->token, given);
        return FIRE_OK;
    }
    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        return FIRE_FAIL(FIRE_ERR_IO, "no random numbers for a token: %s",
                         strerror(errno));
    for (int i = 0; i < TOKEN_BYTES; i++)
        snprintf(s->token + 2 * i, 3, "%02x", random[i]);
    return FIRE_OK;
}

static fire_status_t start(server_t *s, const serve_options_t *o,
                           struct MHD_Daemon **daemon_p)
{
    struct addrinfo            *a;
    char                        host[256];
    const union MHD_DaemonInfo *info;
    struct MHD_Daemon          *d;
    unsigned flags   = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(find_address(o->address, host, &a));
    if (a->ai_family == AF_INET6) flags |= MHD_USE_IPv6;
    if (!is_loopback(a->ai_addr) || o->token[0] != '\0') st = make_token(s, o->token);
    if (st < 0) {
        freeaddrinfo(a);
        return st;
    }
    d = MHD_start_daemon(flags, 0, NULL, NULL, on_request, s, MHD_OPTION_SOCK_ADDR,
                         a->ai_addr, MHD_OPTION_CONNECTION_LIMIT, VISITORS,
                         MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                         MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
                         MHD_OPTION_NOTIFY_COMPLETED, on_answered, s, MHD_OPTION_END);
    freeaddrinfo(a);
    if (d == NULL)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot serve on %s: %s; is the port taken?",
                         o->address, strerror(errno));
    info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT);
    printf("Open http://%s%s%s:%u/%s%s\n", strchr(host, ':') ? "[" : "", host,
           strchr(host, ':') ? "]" : "", info != NULL ? info->port : 0,
           s->token[0] != '\0' ? "?token=" : "", s->token);
    fflush(stdout);
    *daemon_p = d;
    return FIRE_OK;
}

fire_status_t serve_report(fire_report_t *report, const serve_options_t *options)
{
    server_t           s = {.report   = report,
                            .lock     = PTHREAD_MUTEX_INITIALIZER,
                            .news     = PTHREAD_COND_INITIALIZER,
                            .visitors = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    struct MHD_Daemon *daemon;
    fire_status_t      st;

    report->live = true;
    FIRE_TRY(refresh(&s));
    st = start(&s, options, &daemon);
    if (st >= 0) {
        st = follow(&s);
        pthread_mutex_lock(&s.lock);
        s.quit = true;
        pthread_cond_broadcast(&s.news);
        pthread_mutex_unlock(&s.lock);
        MHD_stop_daemon(daemon);
    }
    fire_free(s.data);
    return st;
}
