/* writer.c - creates the temporary directory of a new database, and renames or deletes
 * it. */
#include "data/source/writer.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

#define FIRE_SOURCE(file) extern const fire_writer_ops_t fire_writer_##file;
#include "data/source/sources.def"
#undef FIRE_SOURCE

#define FIRE_SOURCE(file) &fire_writer_##file,
static const fire_writer_ops_t *const table[] = {
#include "data/source/sources.def"
};
#undef FIRE_SOURCE

enum { NKINDS = sizeof(table) / sizeof(table[0]) };

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    (void)st, (void)flag, (void)f;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Create the temporary directory next to `path`; *temp_p is its name. */
static fire_status_t make_directory(const char *path, char **temp_p)
{
    char         *temp;
    fire_status_t st;

    if (access(path, F_OK) == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "\"%s\" exists already; remove it first or choose another name", path);
    FIRE_TRY(fire_file_temp_name(path, &temp));
    st = fire_dir_make_for(temp);
    if (st >= 0 && mkdir(temp, 0777) != 0)
        st = FIRE_FAIL(FIRE_ERR_IO, "cannot create \"%s\": %s", path, strerror(errno));
    if (st < 0)
        fire_free(temp);
    else
        *temp_p = temp;
    return st;
}

/* "db/" means db. Without this, the temporary directory would be made inside of it. */
static void drop_last_slashes(char *path)
{
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
}

static fire_status_t open_kind(const fire_writer_ops_t *ops, const char *path,
                               fire_writer_t **writer_p)
{
    char          *temp = NULL, *copy;
    fire_writer_t *w;
    fire_status_t  st;

    FIRE_TRY(fire_strdup(path, &copy));
    drop_last_slashes(copy);
    FIRE_TRY_GOTO(st, make_directory(copy, &temp), err_copy);
    FIRE_TRY_GOTO(st, ops->open(temp, &w), err_directory);
    w->ops    = ops;
    w->path   = copy;
    w->temp   = temp;
    *writer_p = w;
    return FIRE_OK;

err_directory:
    remove_tree(temp);
    fire_free(temp);
err_copy:
    fire_free(copy);
    return st;
}

fire_status_t fire_writer_open(const char *backend, const char *path,
                               fire_writer_t **writer_p)
{
    for (int i = 0; i < NKINDS; i++)
        if (strcasecmp(table[i]->name, backend) == 0)
            return open_kind(table[i], path, writer_p);
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "cannot write \"%s\": this build has no backend \"%s\"; use lmdb",
                     path, backend);
}

fire_status_t fire_writer_put(fire_writer_t *w, const char *key, const void *value,
                              size_t nvalue)
{
    fire_status_t st = w->ops->put(w, key, strlen(key), value, nvalue);

    w->count++;
    return st < 0 ? fire_error_prefix(st, "%s", w->path) : FIRE_OK;
}

/* The database must be closed before its directory is renamed. close() frees w, so copy
 * what is needed first. */
fire_status_t fire_writer_commit(fire_writer_t *w)
{
    fire_status_t st   = w->ops->finish(w);
    char         *temp = w->temp, *path = w->path;

    w->ops->close(w);
    if (st < 0)
        fire_error_prefix(st, "%s", path);
    else if (rename(temp, path) != 0)
        st = FIRE_FAIL(FIRE_ERR_IO, "cannot create \"%s\": %s", path, strerror(errno));
    if (st < 0) remove_tree(temp);
    fire_free(temp);
    fire_free(path);
    return st;
}

void fire_writer_abort(fire_writer_t *w)
{
    char *temp;

    if (w == NULL) return;
    temp = w->temp;
    fire_free(w->path);
    w->ops->close(w);
    remove_tree(temp);
    fire_free(temp);
}
