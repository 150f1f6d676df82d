/* exec.h - runs one rank's schedule over a transport, a little at each call. */
#ifndef FIRE_COMM_EXEC_H
#define FIRE_COMM_EXEC_H
#include "comm/codec/codec.h"
#include "comm/sched.h"
#include "comm/transport/transport.h"

typedef struct fire_exec fire_exec_t;

typedef struct fire_exec_setup {
    fire_transport_t   *tp;
    const fire_sched_t *sched; /* must outlive the exec */
    float              *buf;
    const int          *node;    /* rank -> node: only inside one bytes are lent */
    int                 tag;     /* first of ncolor tags that are its own */
    double              timeout; /* seconds without any movement; 0: for ever */
    int                 window;  /* messages of a channel under way; 0: the least */
    /* (optional) what a person calls a rank */
    const char *(*name)(const void *who, int rank, char *text, size_t size);
    const void         *who;
    bool               *warned; /* (optional) shared by those who would all say it */
    const fire_codec_t *codec;  /* NULL: float32 on the wire */
    float               codec_arg;
    float              *residual; /* what FINAL's quantization lost; may be NULL */
} fire_exec_setup_t;

/* All memory is taken here; what follows allocates nothing. */
fire_status_t fire_exec_create(const fire_exec_setup_t *setup, fire_exec_t **exec_p);
/* Ends it, also half-way: then the buffer's contents are undefined. */
void fire_exec_destroy(fire_exec_t *x);

fire_status_t fire_exec_start(fire_exec_t *x);
/* FIRE_IN_PROGRESS until the rank's part is done. Never blocks. A failure is
 * FIRE_ERR_TIMEOUT, which names the ranks waited for, or what a peer reported. */
fire_status_t fire_exec_progress(fire_exec_t *x);
/* The same after somebody else has polled the transport. */
fire_status_t fire_exec_advance(fire_exec_t *x);
/* Did the last of these calls change anything? */
bool fire_exec_moved(const fire_exec_t *x);

/* The ranks this one is waiting for: up to `most`, sorted; returns how many. */
int fire_exec_waits_for(const fire_exec_t *x, int *rank, int most);

int64_t fire_exec_bytes(const fire_exec_t *x); /* sent since it was created */
#endif
