/* exec.h - runs one rank's schedule over a transport, a little at each call. One thread
 * at a time uses an executor. */
#ifndef FIRE_COMM_EXEC_H
#define FIRE_COMM_EXEC_H
#include "comm/codec/codec.h"
#include "comm/sched.h"
#include "comm/transport/transport.h"

typedef struct fire_exec fire_exec_t;

typedef struct fire_exec_setup {
    fire_transport_t   *tp;
    const fire_sched_t *sched; /* must outlive the executor */
    float              *buf;   /* the collective's buffer */
    size_t     stride;  /* floats from one array to the next (fire_step_t.slot) */
    const int *node;    /* rank -> node; zero-copy only inside a node */
    int        tag;     /* first of ncolor tags that nobody else uses */
    double     timeout; /* seconds without progress; 0: wait for ever */
    int        window;  /* messages in flight per channel; 0: the least */
    /* (optional) Write a rank's name for messages into text and return it. */
    const char *(*name)(const void *who, int rank, char *text, size_t size);
    const void         *who;    /* first argument of name() */
    bool               *warned; /* (optional) several executors warn only once */
    const fire_codec_t *codec;  /* NULL: float32 on the wire */
    float               codec_arg;
    float              *residual; /* what quantizing in FINAL loses; may be NULL */
} fire_exec_setup_t;

/* All memory is allocated here, none while the schedule runs. */
fire_status_t fire_exec_create(const fire_exec_setup_t *setup, fire_exec_t **exec_p);
/* May be called while a run is under way; the buffer's contents are then undefined. */
void fire_exec_destroy(fire_exec_t *x);

fire_status_t fire_exec_start(fire_exec_t *x);
/* Poll the transport and work on what has arrived. FIRE_IN_PROGRESS until this rank's
 * steps are done. Never blocks. Fails with FIRE_ERR_TIMEOUT, naming the ranks that it
 * waits for, or with FIRE_ERR_PEER if another rank has failed. */
fire_status_t fire_exec_progress(fire_exec_t *x);
/* The same without polling the transport, for a caller that has just done so. */
fire_status_t fire_exec_advance(fire_exec_t *x);
/* Did the last call of these two change anything? */
bool fire_exec_moved(const fire_exec_t *x);

/* The ranks whose messages are outstanding: up to `most`, ascending; returns how
 * many. */
int fire_exec_waits_for(const fire_exec_t *x, int *rank, int most);

int64_t fire_exec_bytes(const fire_exec_t *x); /* sent, all runs */
#endif
