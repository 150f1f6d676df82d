/* host_list.h - hosts that workers can run on, and what is known of them, inside of
 * src/launch/. */
#ifndef FIRE_LAUNCH_HOST_LIST_H
#define FIRE_LAUNCH_HOST_LIST_H
#include "base/text/text.h"

enum { FIRE_HOST_NAME = 256 };

typedef struct fire_host {
    char   name[FIRE_HOST_NAME];
    int    slots;     /* workers that it can run */
    bool   listed;    /* in the list that was read last */
    bool   used;      /* by the training that runs */
    int    failures;  /* in a row */
    double out_until; /* left out until then, by fire_clock_now() */
} fire_host_t;

/* {0} is empty. */
typedef struct fire_host_list {
    fire_host_t *host; /* [n] in the order in which they were first read */
    int64_t      n, cap;
} fire_host_list_t;

/* Read a list: a host per line or between commas, as "name", "name:4", "name 4" or "name
 * slots=4"; further words of a line are ignored, '#' begins a comment. Hosts that it does
 * not have are no longer listed; what is known of the others stays. */
fire_status_t fire_host_list_read(fire_host_list_t *l, const char *text);
void          fire_host_list_fini(fire_host_list_t *l);

/* Can it be used now? */
bool fire_host_is_good(const fire_host_t *h, double now);
/* Workers that good hosts can run. */
int64_t fire_host_list_slots(const fire_host_list_t *l, double now);
/* Put so many workers on good hosts, in order; sets `used`. Append "a:4,b:2", or "a,b"
 * without `numbers`; *nhost_p: hosts. */
fire_status_t fire_host_list_fill(fire_host_list_t *l, double now, int64_t workers,
                                  bool numbers, fire_str_t *text, int *nhost_p);
/* It did not answer: leave it out for `pause` seconds, each time in a row for twice as
 * long, up to ten times `pause`. */
void fire_host_leave_out(fire_host_t *h, double now, double pause);
#endif
