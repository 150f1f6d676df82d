/* spread.c - reads a file on one worker, sends it in pieces, writes it on those that lack
 * it. */
#include "train/snapshot/spread.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "train/snapshot/memory.h"

enum { PIECE = 8 << 20, OWN_MODE = 0600 };

typedef struct transfer {
    fire_trainer_t     *trainer;
    int                 owner;
    bool                lacks;
    FILE               *from; /* of the owner */
    fire_file_writer_t *to;   /* of those that lack the file */
    char               *piece;
} transfer_t;

static fire_status_t open_ends(transfer_t *x, const char *path, int64_t *bytes_p)
{
    struct stat info;

    if (fire_trainer_rank(x->trainer) == x->owner) {
        x->from = fopen(path, "rbe");
        if (x->from == NULL || fstat(fileno(x->from), &info) != 0)
            return FIRE_FAIL(FIRE_ERR_IO, "cannot open \"%s\": %s", path,
                             strerror(errno));
        *bytes_p = info.st_size;
    }
    if (x->lacks) FIRE_TRY(fire_file_writer_open(path, &x->to));
    return FIRE_NEW(&x->piece, PIECE);
}

/* After a failure a worker keeps taking part, since the others do. */
static fire_status_t send_pieces(transfer_t *x, const char *path, int64_t bytes)
{
    fire_comm_t  *comm = x->trainer->options.comm;
    fire_status_t st   = FIRE_OK;

    for (int64_t at = 0; at < bytes; at += PIECE) {
        size_t n = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;

        if (x->from != NULL && fread(x->piece, 1, n, x->from) != n && st >= 0)
            st = FIRE_FAIL(FIRE_ERR_IO, "cannot read \"%s\"", path);
        FIRE_TRY(fire_comm_broadcast(comm, x->owner, x->piece, n));
        if (x->to != NULL && st >= 0) st = fire_file_writer_write(x->to, x->piece, n);
    }
    return st;
}

static fire_status_t spread_file(transfer_t *x, const char *path)
{
    int64_t       bytes = 0;
    fire_status_t st;

    st = fire_trainer_agree(x->trainer, open_ends(x, path, &bytes));
    if (st >= 0)
        st = fire_comm_broadcast(x->trainer->options.comm, x->owner, &bytes,
                                 sizeof(bytes));
    if (st >= 0) st = fire_trainer_agree(x->trainer, send_pieces(x, path, bytes));
    if (x->from != NULL) fclose(x->from);
    if (x->to != NULL && st >= 0)
        st = fire_file_writer_commit(x->to);
    else
        fire_file_writer_abort(x->to);
    if (x->lacks && st >= 0) chmod(path, OWN_MODE);
    fire_free(x->piece);
    x->from  = NULL;
    x->to    = NULL;
    x->piece = NULL;
    return fire_trainer_agree(x->trainer, st);
}

/* Does some worker lack it? */
static fire_status_t ask(fire_trainer_t *t, bool lacks, bool *some_p)
{
    bool         *all;
    fire_status_t st;

    *some_p = false;
    FIRE_TRY(FIRE_NEW(&all, fire_trainer_size(t)));
    st = fire_comm_allgather(t->options.comm, &lacks, sizeof(lacks), all);
    for (int r = 0; r < fire_trainer_size(t); r++)
        *some_p |= all[r];
    fire_free(all);
    return st;
}

static fire_status_t spread(fire_trainer_t *t, int owner, const char *path, bool lacks)
{
    static const char state[] = "solverstate", model[] = "caffemodel";
    const char       *at = strstr(strrchr(path, '/'), state);
    transfer_t        x  = {.trainer = t, .owner = owner, .lacks = lacks};
    char              dir[PATH_MAX], weights[PATH_MAX + sizeof(model)];
    fire_status_t     st = FIRE_OK;
    bool              some;

    FIRE_TRY(ask(t, lacks, &some));
    if (!some) return FIRE_OK;
    snprintf(dir, sizeof(dir), "%s", path);
    snprintf(weights, sizeof(weights), "%.*s%s%s", (int)(at - path), path, model,
             at + strlen(state));
    if (lacks) st = fire_memory_make_dir(dirname(dir));
    FIRE_TRY(fire_trainer_agree(t, st));
    FIRE_TRY(spread_file(&x, weights));
    return spread_file(&x, path);
}

/* First the nodes, then those that have another /dev/shm than the worker that writes for
 * their node, as in containers. */
fire_status_t fire_spread_snapshot(fire_trainer_t *t, int owner, const char *path,
                                   bool lacks)
{
    if (t->options.comm == NULL) return FIRE_OK;
    FIRE_TRY(spread(t, owner, path, lacks));
    return spread(t, owner, path, access(path, R_OK) != 0);
}
