/* test_watch.c - the page of `watch --serve`: who gets it, and who cannot keep others
 * from it. Tests tools/view/serve_microhttpd.c and tools/view/visitors.c. */
#include "../program.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLOW = 64 };

/* Start a server; its port is in out, its process in pid. */
static int serve(const char *flags)
{
    const char *at;

    write_file("run.jsonl", "{\"type\":\"run\"}\n");
    SH_OK("firecaffe watch run.jsonl --serve 127.0.0.1:0 %s >out 2>err & echo $! >pid; "
          "for i in $(seq 500); do grep -q http out && break; grep -q libmicrohttpd "
          "err && break; sleep 0.02; done",
          flags);
    if (strstr(read_file("err"), "libmicrohttpd") != NULL)
        test_skip("no libmicrohttpd");
    at = strstr(read_file("out"), "127.0.0.1:");
    CHECK(at != NULL);
    return atoi(at + strlen("127.0.0.1:"));
}

static void stop_serving(void)
{
    SH_OK("kill -TERM $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do sleep 0.02; "
          "done");
}

static int connect_to(int port)
{
    struct sockaddr_in to = {.sin_family      = AF_INET,
                             .sin_port        = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int                fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK(fd >= 0);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
    return fd;
}

static void say(int fd, const char *text)
{
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0) return; /* hung up on */
}

/* The first bytes of the answer; "" if none comes within the time. */
static const char *answer(int fd, int seconds)
{
    static char   text[256];
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    ssize_t       n =
        poll(&wait, 1, 1000 * seconds) == 1 ? recv(fd, text, sizeof(text) - 1, 0) : 0;

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void check_answer(int port, const char *path, const char *want)
{
    char request[256];
    int  fd = connect_to(port);

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
             path);
    say(fd, request);
    CHECK_HAS(answer(fd, 30), want);
    close(fd);
}

TEST(slow_connections_do_not_block_the_page)
{
    int port = serve(""), slow[SLOW];

    for (int i = 0; i < SLOW; i++) {
        slow[i] = connect_to(port);
        say(slow[i], "GET / HT");
    }
    check_answer(port, "/", "HTTP/1.1 200");
    for (int i = 0; i < SLOW; i++)
        close(slow[i]);
    stop_serving();
}

TEST(who_sends_no_request_is_hung_up_on)
{
    int           port = serve(""), fd = connect_to(port);
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    say(fd, "GET / HT");
    CHECK_EQ(poll(&wait, 1, 20000), 1);
    CHECK_STR(answer(fd, 0), "");
    close(fd);
    stop_serving();
}

TEST(streams_leave_room_for_others)
{
    int port = serve(""), stream[SLOW];

    for (int i = 0; i < SLOW / 2 + 4; i++) {
        stream[i] = connect_to(port);
        say(stream[i], "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        CHECK_HAS(answer(stream[i], 30),
                  i < SLOW / 2 ? "HTTP/1.1 200" : "HTTP/1.1 503");
    }
    check_answer(port, "/", "HTTP/1.1 200");
    for (int i = 0; i < SLOW / 2 + 4; i++)
        close(stream[i]);
    stop_serving();
}

TEST(a_token_that_was_given_is_asked_for_on_loopback_too)
{
    int port = serve("--token secret");

    CHECK_HAS(read_file("out"), "/?token=secret");
    check_answer(port, "/", "HTTP/1.1 403");
    check_answer(port, "/?token=wrong", "HTTP/1.1 403");
    check_answer(port, "/?token=secret", "HTTP/1.1 200");
    stop_serving();
}
