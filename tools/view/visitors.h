/* visitors.h - who is connected to the web server, and who is asked to leave: a
 * connection that sends a byte a second must not keep a browser out. */
#ifndef FIRE_TOOLS_VIEW_VISITORS_H
#define FIRE_TOOLS_VIEW_VISITORS_H
#include <pthread.h>
#include <stdbool.h>

enum { VISITORS = 64 }; /* connections at a time */

typedef enum visitor_phase {
    VISITOR_NONE,     /* nobody is there */
    VISITOR_ASKING,   /* has not sent all of a request */
    VISITOR_READING,  /* takes an answer */
    VISITOR_STREAMING /* follows events, for as long as it likes */
} visitor_phase_t;

typedef struct visitor {
    visitor_phase_t phase;
    int             socket;
    double          since; /* of the phase */
} visitor_t;

typedef struct visitors {
    pthread_mutex_t lock;
    visitor_t       at[VISITORS];
} visitors_t;

/* Somebody connects; NULL: there is no room. While half of the places or more are taken,
 * each new one makes the one leave that has been asking for longest. */
visitor_t *visitors_come(visitors_t *v, int socket);

/* Set the phase of one; NULL is allowed. false, and READING instead: half of the places
 * are taken by streams. */
bool visitors_set(visitors_t *v, visitor_t *one, visitor_phase_t phase);

/* Hang up on those who take too long. Call it often. */
void visitors_hurry(visitors_t *v);
#endif
