/* hosts.h - on which hosts the next attempt runs, inside of src/launch/. Their list is
 * what the launcher's words name (--host, --hostfile), or what a command writes; it is
 * read again before each attempt and while one runs. Hosts that do not answer after a
 * failure are left out for a while. */
#ifndef FIRE_LAUNCH_HOSTS_H
#define FIRE_LAUNCH_HOSTS_H
#include "launch/attempt.h"
#include "launch/host_list.h"
#include "launch/question.h"

struct fire_hosts {
    const fire_launch_t *launch;
    fire_words_t         words; /* of the launcher, without its hosts */
    char                *file;  /* of --hostfile; or NULL */
    fire_host_list_t     list;
    fire_question_t      question;
    double               asked;   /* when the list was last read while a training ran */
    int                  differs; /* lists in a row that ask for another attempt */
    bool                 warned;  /* that there are too few */
};

/* *hosts_p is NULL if no hosts are known: then the launcher's words stay as they are.
 * Fails if the list cannot be read. */
fire_status_t fire_hosts_open(const fire_launch_t *launch, fire_hosts_t **hosts_p);
void          fire_hosts_close(fire_hosts_t *h);

/* Read the list anew; *workers_p: as many as its hosts can run now, `most` at most. Waits
 * until they are launch->least_workers, or a stop is asked for. */
fire_status_t fire_hosts_settle(fire_hosts_t *h, int64_t most, int *workers_p);
/* The launcher's words for so many workers. */
fire_status_t fire_hosts_add_words(fire_hosts_t *h, int workers, fire_words_t *w);
/* A training runs with so many workers: has the list become another, so that it should go
 * on with other hosts? Call it often; it asks now and then and never blocks. */
bool fire_hosts_have_changed(fire_hosts_t *h, int64_t most, int workers);
/* After a failure: start nothing on each host that was used, by the launcher, and leave
 * out those where that fails. */
void fire_hosts_try(fire_hosts_t *h);
/* The hosts have trained up to a new snapshot: earlier failures do not count. */
void fire_hosts_praise(fire_hosts_t *h);
#endif
