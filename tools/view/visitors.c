/* visitors.c - connections of the web server, each with the time since when it does what
 * it does. The library closes a socket only after it has told so: none is hung up on
 * that is another's by then. */
#include "view/visitors.h"

#include <stddef.h>
#include <sys/socket.h>

#include "base/clock.h"

/* Within which a request must be sent, and its answer be taken. */
static const double ASK_SECONDS = 5, READ_SECONDS = 60;

static void enter(visitor_t *one, visitor_phase_t phase)
{
    one->phase = phase;
    one->since = fire_clock_now();
}

/* Its thread then finds that the peer is gone. */
static void hang_up(visitor_t *one)
{
    shutdown(one->socket, SHUT_RDWR);
}

visitor_t *visitors_come(visitors_t *v, int socket)
{
    visitor_t *place = NULL, *slowest = NULL;
    int        taken = 0;

    pthread_mutex_lock(&v->lock);
    for (visitor_t *one = v->at; one < v->at + VISITORS; one++) {
        taken += one->phase != VISITOR_NONE;
        if (one->phase == VISITOR_NONE) place = one;
        if (one->phase == VISITOR_ASKING &&
            (slowest == NULL || one->since < slowest->since))
            slowest = one;
    }
    if (taken >= VISITORS / 2 && slowest != NULL) hang_up(slowest);
    if (place != NULL) {
        place->socket = socket;
        enter(place, VISITOR_ASKING);
    }
    pthread_mutex_unlock(&v->lock);
    return place;
}

bool visitors_set(visitors_t *v, visitor_t *one, visitor_phase_t phase)
{
    int  streams = 0;
    bool full;

    if (one == NULL) return false;
    pthread_mutex_lock(&v->lock);
    for (int i = 0; i < VISITORS; i++)
        streams += v->at[i].phase == VISITOR_STREAMING;
    full = phase == VISITOR_STREAMING && streams >= VISITORS / 2;
    enter(one, full ? VISITOR_READING : phase);
    pthread_mutex_unlock(&v->lock);
    return !full;
}

void visitors_hurry(visitors_t *v)
{
    double now = fire_clock_now();

    pthread_mutex_lock(&v->lock);
    for (visitor_t *one = v->at; one < v->at + VISITORS; one++)
        if ((one->phase == VISITOR_ASKING && now - one->since > ASK_SECONDS) ||
            (one->phase == VISITOR_READING && now - one->since > READ_SECONDS))
            hang_up(one);
    pthread_mutex_unlock(&v->lock);
}
