/* load.c - opens plug-ins and keeps the list of what was loaded.
 *
 * The list only grows, so that a net may keep pointers into it: a new plug-in is linked
 * to the end when it is complete, and readers take no lock. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "layers/plugin/plugin.h"

typedef struct loaded {
    char                    *path; /* absolute, without links */
    const fire_plugin_t     *plugin;
    fire_plugged_type_t    **type; /* [ntype] */
    int                      ntype;
    _Atomic(struct loaded *) next;
} loaded_t;

/* The process's plug-ins; `adding` is held while one is looked at and linked. */
static _Atomic(loaded_t *) first;
static pthread_mutex_t     adding = PTHREAD_MUTEX_INITIALIZER;

/* ---- the list ---- */

static const loaded_t *loaded_at(int i)
{
    const loaded_t *p = atomic_load(&first);

    while (p != NULL && i-- > 0)
        p = atomic_load(&p->next);
    return p;
}

int fire_plugin_count(void)
{
    int n = 0;

    while (loaded_at(n) != NULL)
        n++;
    return n;
}

const fire_plugin_t *fire_plugin_at(int i)
{
    return loaded_at(i)->plugin;
}

const char *fire_plugin_path(int i)
{
    return loaded_at(i)->path;
}

const fire_plugged_type_t *fire_plugin_type_at(int i)
{
    for (const loaded_t *p = atomic_load(&first); p != NULL;
         p                 = atomic_load(&p->next)) {
        if (i < p->ntype) return p->type[i];
        i -= p->ntype;
    }
    return NULL;
}

const char *fire_plugin_path_of(const fire_layer_ops_t *ops)
{
    for (const loaded_t *p = atomic_load(&first); p != NULL; p = atomic_load(&p->next))
        for (int i = 0; i < p->ntype; i++)
            if (&p->type[i]->ops == ops) return p->path;
    return NULL;
}

static bool is_loaded(const char *path)
{
    for (const loaded_t *p = atomic_load(&first); p != NULL; p = atomic_load(&p->next))
        if (strcmp(p->path, path) == 0) return true;
    return false;
}

static void append(loaded_t *p)
{
    _Atomic(loaded_t *) *end = &first;
    loaded_t            *at;

    while ((at = atomic_load(end)) != NULL)
        end = &at->next;
    atomic_store(end, p);
}

/* ---- opening ---- */

/* A plug-in finds our functions among the symbols that the process shows to all. The
 * program shows them; a libfire.so that another program has opened for itself alone, as
 * Python does, is made visible here. */
static void show_ourselves(void)
{
    Dl_info     self;
    const void *here = &first;

    if (dladdr(here, &self) != 0 && self.dli_fname != NULL) {
        void *lib = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);

        if (lib != NULL) dlclose(lib); /* it stays open, and visible */
    }
}

/* dlerror()'s text often begins with the path. */
static const char *reason_of(const char *path)
{
    const char *text = dlerror();
    size_t      n    = strlen(path);

    if (text == NULL) return "no reason given";
    return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2
                                                                          : text;
}

static fire_status_t find_entry(void *lib, const char *path, loaded_t *p)
{
    p->plugin = dlsym(lib, "fire_plugin");
    if (p->plugin == NULL)
        return FIRE_FAIL(
            FIRE_ERR_UNSUPPORTED,
            "plug-in %s: has no entry; it must define `const fire_plugin_t "
            "fire_plugin` (include/fire/layer.h)",
            path);
    return fire_plugin_adopt(p->plugin, path, &p->type, &p->ntype);
}

static fire_status_t open_file(const char *path, loaded_t *p)
{
    void         *lib;
    fire_status_t st;

    show_ourselves();
    lib = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);
    if (lib == NULL)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot load plug-in %s: %s", path,
                         reason_of(p->path));
    st = find_entry(lib, path, p);
    if (st < 0) dlclose(lib);
    return st;
}

static fire_status_t load_new(const char *path, const char *real)
{
    loaded_t     *p;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&p, 1));
    st = fire_strdup(real, &p->path);
    if (st >= 0) st = open_file(path, p);
    if (st < 0) {
        fire_free(p->path);
        fire_free(p);
        return st;
    }
    append(p);
    FIRE_LOG(INFO, "Plug-in %s: %s", p->plugin->name, p->path);
    return FIRE_OK;
}

fire_status_t fire_plugin_load(const char *path)
{
    char          real[PATH_MAX];
    fire_status_t st = FIRE_OK;

    if (path == NULL || path[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "the path of a plug-in is empty");
    if (realpath(path, real) == NULL)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot load plug-in %s: %s", path,
                         strerror(errno));
    pthread_mutex_lock(&adding);
    if (!is_loaded(real)) st = load_new(path, real);
    pthread_mutex_unlock(&adding);
    return st;
}

fire_status_t fire_plugin_load_list(const char *list)
{
    char         *copy, *path, *rest;
    fire_status_t st = FIRE_OK;

    if (list == NULL || list[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_strdup(list, &copy));
    for (path = strtok_r(copy, ":", &rest); path != NULL && st >= 0;
         path = strtok_r(NULL, ":", &rest))
        st = fire_plugin_load(path);
    fire_free(copy);
    return st;
}

fire_status_t fire_plugin_load_of(const Caffe__FireParameter *f)
{
    for (size_t i = 0; f != NULL && i < f->n_plugin; i++)
        FIRE_TRY(fire_plugin_load(f->plugin[i]));
    return FIRE_OK;
}

fire_status_t fire_plugin_load_environment(void)
{
    fire_status_t st = fire_plugin_load_list(secure_getenv("FIRE_PLUGINS"));

    return st < 0 ? fire_error_prefix(st, "FIRE_PLUGINS") : st;
}
