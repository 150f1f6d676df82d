/* memory.c - keeps the state of a training in the shared memory of each node, and takes
 * the newest one that any node has. */
#include "train/snapshot/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "train/snapshot/snapshot.h"
#include "train/snapshot/spread.h"
#include "train/snapshot/vigil.h"
#include "train/trainer_state.h"

/* A state of so few bytes is complete before training goes on, so that no more than the
 * interval is lost. Seconds between looks while a larger one is waited for. */
static const int64_t SMALL = 8 << 20;
static const double  LOOK  = 0.2;
/* Automatic: seconds before the first, and how many times its cost passes between two. */
static const double FIRST = 1, RARITY = 99;

static int every_of(const fire_trainer_t *t)
{
    return t->param->fire != NULL ? t->param->fire->memory_snapshot : 0;
}

static bool leads(const fire_trainer_t *t)
{
    const fire_comm_t *c = t->options.comm;

    for (int r = 0; r < fire_trainer_rank(t); r++)
        if (fire_comm_node(c, r) == fire_comm_node(c, fire_trainer_rank(t)))
            return false;
    return true;
}

/* ---- where ---- */

/* As rank 0 knows them; all workers get the same. */
typedef struct where {
    char id[FIRE_MEMORY_ID], dir[PATH_MAX];
} where_t;

static fire_status_t settle_where(fire_trainer_t *t, where_t *w)
{
    fire_memory_t *m = &t->memory;

    if (t->options.comm != NULL)
        FIRE_TRY(fire_comm_broadcast(t->options.comm, 0, w, sizeof(*w)));
    memcpy(m->id, w->id, sizeof(m->id));
    m->id[FIRE_MEMORY_ID - 1] = w->dir[PATH_MAX - 1] = '\0';
    fire_free(m->dir);
    fire_free(m->prefix);
    m->dir = m->prefix = NULL;
    if (m->id[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_strdup(w->dir, &m->dir));
    return fire_asprintf(&m->prefix, "%s/%s", m->dir, m->id);
}

/* old: the job of PREFIX.memory, if there is one; else a new one. Without a directory to
 * write to there is no job. */
static void find_where(const fire_trainer_t *t, bool old, where_t *w)
{
    const char   *prefix = fire_trainer_prefix(t);
    char         *dir    = NULL;
    fire_status_t st     = fire_memory_dir(prefix, &dir);

    if (st >= 0) snprintf(w->dir, sizeof(w->dir), "%s", dir);
    fire_free(dir);
    if (st >= 0 && old) fire_memory_read_id(prefix, w->id);
    if (st >= 0 && !old) st = fire_memory_make_id(prefix, w->id);
    if (st >= 0) return;
    if (!old) FIRE_LOG(WARNING, "no state is kept in memory: %s", fire_last_error());
    memset(w->id, 0, sizeof(w->id));
}

fire_status_t fire_memory_begin(fire_trainer_t *t)
{
    fire_memory_t *m = &t->memory;
    where_t        w = {0};

    if (every_of(t) == 0) return FIRE_OK;
    if (m->id[0] == '\0') {
        if (fire_trainer_rank(t) == 0) find_where(t, false, &w);
        FIRE_TRY(settle_where(t, &w));
    }
    if (m->id[0] == '\0') return FIRE_OK;
    m->leads = leads(t);
    m->due   = fire_clock_now() + FIRST;
    if (m->leads) {
        fire_memory_clean_old();
        fire_memory_clean(m->dir, m->id);
    }
    FIRE_TRY(fire_trainer_agree(t, FIRE_OK)); /* several may lead on one machine */
    if (m->leads && fire_memory_make_dir(m->dir) < 0) {
        FIRE_LOG(WARNING, "no state is kept in memory: %s", fire_last_error());
        m->leads = false;
    }
    return FIRE_OK;
}

/* ---- keeping ---- */

static void collect(fire_memory_t *m)
{
    fire_copy_t *copy;

    if (m->saver.copy == NULL) return;
    if (fire_saver_finish(&m->saver, &copy) < 0 && !m->warned) {
        FIRE_LOG(WARNING, "no state of iteration %lld is kept in memory: %s",
                 (long long)copy->iter, fire_last_error());
        m->warned = true;
    }
    fire_copy_free(copy);
    m->due = fire_clock_now() + RARITY * (m->took + m->saver.seconds);
}

bool fire_memory_is_wanted(fire_trainer_t *t)
{
    fire_memory_t *m = &t->memory;

    if (m->id[0] == '\0' || every_of(t) > 0 || fire_trainer_rank(t) > 0) return false;
    if (fire_saver_wait(&m->saver, 0)) collect(m);
    return m->saver.copy == NULL && fire_clock_now() >= m->due;
}

/* The last one first. */
static void make_room(fire_trainer_t *t)
{
    fire_saver_t *s = &t->memory.saver;
    fire_vigil_t  vigil;

    if (!fire_saver_wait(s, LOOK)) {
        fire_vigil_begin(t, &vigil);
        while (!fire_saver_wait(s, LOOK))
            continue;
        fire_vigil_end(&vigil);
    }
    collect(&t->memory);
}

/* Twice: the last state stays until the new one is complete. */
static bool has_room(fire_trainer_t *t)
{
    fire_memory_t *m     = &t->memory;
    int64_t        bytes = fire_copy_bytes(t);

    if (!m->leads || fire_memory_has_room(2 * bytes)) return m->leads;
    if (!m->warned)
        FIRE_LOG(
            WARNING,
            "no state is kept in memory: two times %.0f MB do not fit into half of "
            "what /dev/shm has free",
            (double)bytes / 1e6);
    m->warned = true;
    return false;
}

bool fire_memory_is_due(const fire_trainer_t *t)
{
    int every = every_of(t);

    if (t->memory.id[0] == '\0' || every == 0) return false;
    return every > 0 ? t->solver->iter % every == 0 : t->memory.asked;
}

fire_status_t fire_memory_save(fire_trainer_t *t)
{
    fire_memory_t    *m     = &t->memory;
    fire_copy_place_t place = {.prefix = m->prefix, .keep = 1, .in_memory = true};
    fire_copy_t      *copy  = NULL;
    double            began = fire_clock_now();

    if (!fire_memory_is_due(t)) return FIRE_OK;
    m->asked = false;
    FIRE_TRY(fire_trainer_wait(t));
    make_room(t);
    FIRE_TRY(fire_copy_take(t, &place, has_room(t), &copy));
    if (copy != NULL) fire_saver_start(&m->saver, copy);
    if (copy != NULL && copy->bytes < SMALL) make_room(t);
    m->took = fire_clock_now() - began;
    if (copy == NULL) m->due = fire_clock_now() + RARITY * m->took;
    return FIRE_OK;
}

/* ---- the end ---- */

void fire_memory_finish(fire_trainer_t *t)
{
    fire_memory_t *m = &t->memory;

    if (m->id[0] == '\0') return;
    make_room(t);
    if (leads(t)) fire_memory_clean(m->dir, NULL);
    if (fire_trainer_rank(t) == 0) fire_memory_drop_id(fire_trainer_prefix(t));
    m->id[0] = '\0';
}

void fire_memory_end(fire_memory_t *m)
{
    fire_saver_end(&m->saver);
    fire_free(m->dir);
    fire_free(m->prefix);
}

/* ---- going on ---- */

/* Of this node, as its leader sees it; -1: none. */
static fire_status_t find_own(fire_trainer_t *t, int64_t below, char path[PATH_MAX],
                              int64_t *iter_p)
{
    const fire_memory_t *m     = &t->memory;
    char                *found = NULL;
    fire_vigil_t         vigil;
    fire_status_t        st = FIRE_OK;

    memset(path, 0, PATH_MAX);
    fire_vigil_begin(t, &vigil);
    if (leads(t) && fire_memory_is_own(m->dir))
        st = fire_snapshot_find_below(m->prefix, 0, below, &found);
    fire_vigil_end(&vigil);
    *iter_p = found != NULL ? fire_snapshot_iteration(found) : -1;
    if (found != NULL) snprintf(path, PATH_MAX, "%s", found);
    fire_free(found);
    return fire_trainer_agree(t, st);
}

/* Rank and iteration of the newest one anywhere. */
static fire_status_t find_best(fire_trainer_t *t, int64_t own, int *rank_p,
                               int64_t *iter_p)
{
    int           size = fire_trainer_size(t);
    int64_t      *all;
    fire_status_t st;

    *rank_p = 0;
    *iter_p = own;
    if (t->options.comm == NULL) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&all, size));
    st = fire_comm_allgather(t->options.comm, &own, sizeof(own), all);
    for (int r = 0; r < size; r++)
        if (r == 0 || all[r] > *iter_p) {
            *iter_p = all[r];
            *rank_p = r;
        }
    fire_free(all);
    return st;
}

/* *more_p: there was one, and it could not be used; try one below *below. */
static fire_status_t recover_once(fire_trainer_t *t, int64_t above, int64_t *below,
                                  bool *found_p, bool *more_p)
{
    char          path[PATH_MAX];
    int64_t       own, best;
    int           owner;
    fire_status_t st;

    *more_p = false;
    FIRE_TRY(find_own(t, *below, path, &own));
    FIRE_TRY(find_best(t, own, &owner, &best));
    if (best <= above) return FIRE_OK;
    if (t->options.comm != NULL)
        FIRE_TRY(fire_comm_broadcast(t->options.comm, owner, path, PATH_MAX));
    path[PATH_MAX - 1] = '\0';
    st                 = fire_spread_snapshot(t, owner, path, leads(t) && own != best);
    if (st >= 0) st = fire_trainer_restore(t, path);
    *found_p = st >= 0;
    if (st >= 0 || st == FIRE_ERR_PEER || st == FIRE_ERR_NOMEM) return st;
    if (fire_trainer_rank(t) == 0)
        FIRE_LOG(WARNING, "not going on from memory: %s", fire_last_error());
    *below  = best;
    *more_p = true;
    return FIRE_OK;
}

fire_status_t fire_memory_recover(fire_trainer_t *t, int64_t above, bool *found_p)
{
    where_t w     = {0};
    int64_t below = INT64_MAX;
    bool    more  = true;

    *found_p = false;
    if (fire_trainer_rank(t) == 0) find_where(t, true, &w);
    FIRE_TRY(settle_where(t, &w));
    while (t->memory.id[0] != '\0' && more && !*found_p)
        FIRE_TRY(recover_once(t, above, &below, found_p, &more));
    return FIRE_OK;
}

int64_t fire_memory_newest(const char *prefix)
{
    char    id[FIRE_MEMORY_ID], *dir, *files;
    glob_t  found;
    int64_t newest = -1;

    fire_memory_read_id(prefix, id);
    if (id[0] == '\0' || fire_memory_dir(prefix, &dir) < 0) return -1;
    if (fire_asprintf(&files, "%s/%s", dir, id) >= 0) {
        if (fire_path_glob(files, "_iter_*.solverstate*", &found) >= 0) {
            for (size_t i = 0; i < found.gl_pathc; i++) {
                int64_t n = fire_snapshot_iteration(found.gl_pathv[i]);

                if (n > newest) newest = n;
            }
            globfree(&found);
        }
        fire_free(files);
    }
    fire_free(dir);
    return newest;
}
