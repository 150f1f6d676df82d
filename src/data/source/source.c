/* source.c - opens a database by the name of its kind, with the table of
 * sources.def. */
#include "data/source/source.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

#define FIRE_SOURCE(file) extern const fire_source_ops_t fire_source_##file;
#include "data/source/sources.def"
#undef FIRE_SOURCE

#define FIRE_SOURCE(file) &fire_source_##file,
static const fire_source_ops_t *const table[] = {
#include "data/source/sources.def"
};
#undef FIRE_SOURCE

enum { NKINDS = sizeof(table) / sizeof(table[0]) };

void fire_buffer_fini(fire_buffer_t *b)
{
    fire_free(b->bytes);
    *b = (fire_buffer_t){0};
}

/* Does the directory hold the file that marks databases of this kind? */
static bool has_mark(const char *path, const fire_source_ops_t *ops)
{
    char file[4096];

    snprintf(file, sizeof(file), "%s/%s", path, ops->mark);
    return access(file, F_OK) == 0;
}

/* Check that the directory is of the kind asked for. Caffe's default backend is
 * LevelDB, so a forgotten `backend: LMDB` is the usual reason why a database does not
 * open. */
static fire_status_t check_kind(const char *path, const fire_source_ops_t *ops)
{
    if (has_mark(path, ops)) return FIRE_OK;
    for (int i = 0; i < NKINDS; i++)
        if (table[i] != ops && has_mark(path, table[i]))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "\"%s\" is not %s but %s: set `backend: %s`", path,
                             ops->name, table[i]->name, table[i]->name);
    return FIRE_OK;
}

fire_status_t fire_source_open(const char *backend, const char *path,
                               fire_source_t **source_p)
{
    fire_source_t *s;

    for (int i = 0; i < NKINDS; i++) {
        if (strcasecmp(table[i]->name, backend) != 0) continue;
        FIRE_TRY(check_kind(path, table[i]));
        FIRE_TRY(table[i]->open(path, &s));
        FIRE_LOG(INFO, "Opened %s %s, %lld records", table[i]->name, path,
                 (long long)s->count);
        *source_p = s;
        return FIRE_OK;
    }
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "cannot open \"%s\": this build has no %s; build with it, or "
                     "convert the data set to LMDB",
                     path, backend);
}

void fire_source_close(fire_source_t *s)
{
    if (s != NULL) s->ops->close(s);
}

fire_status_t fire_source_read(fire_source_t *s, int64_t i, fire_buffer_t *b,
                               fire_record_t *record_p)
{
    return s->ops->read(s, i, b, record_p);
}

fire_status_t fire_source_error_prefix(const fire_source_t *s, int64_t i,
                                       fire_status_t st)
{
    char key[FIRE_KEY_TEXT];

    s->ops->key(s, i, key);
    return fire_error_prefix(st, "%s, record \"%s\"", s->path, key);
}

void fire_key_text(const void *key, size_t n, char text[FIRE_KEY_TEXT])
{
    size_t k = n < FIRE_KEY_TEXT - 1 ? n : FIRE_KEY_TEXT - 1;

    for (size_t i = 0; i < k; i++) {
        char c  = ((const char *)key)[i];
        text[i] = isprint((unsigned char)c) ? c : '?';
    }
    text[k] = '\0';
}
