/* host.c - opens libfire.so for itself alone (RTLD_LOCAL), as an extension of Python does,
 * loads a plug-in and creates a net with its layer. The plug-in must find the library's
 * functions. Usage: host LIBFIRE PLUGIN */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fire/fire.h>
#include <fire/layer.h>
#include <stdio.h>
#include <string.h>

static const char text[] =
    "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }"
    "layer { name: 'y' type: 'RMSNorm' bottom: 'x' top: 'y' }";

static struct functions {
    fire_status_t (*fire_plugin_load)(const char *);
    fire_status_t (*fire_net_from_text)(const char *, size_t, const fire_net_config_t *,
                                        fire_net_t **);
    fire_status_t (*fire_net_forward)(fire_net_t *, int, int, float *);
    void (*fire_net_destroy)(fire_net_t *);
    const char *(*fire_last_error)(void);
} f;

static int find(void *lib)
{
#define FIND(name)                                                \
    do {                                                          \
        void *at = dlsym(lib, #name);                             \
        if (at == NULL) return fprintf(stderr, "no " #name "\n"); \
        memcpy(&f.name, &at, sizeof(at));                         \
    } while (0)
    FIND(fire_plugin_load);
    FIND(fire_net_from_text);
    FIND(fire_net_forward);
    FIND(fire_net_destroy);
    FIND(fire_last_error);
    return 0;
}

int main(int argc, char **argv)
{
    fire_net_t *net;
    void       *lib = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

    if (lib == NULL) return fprintf(stderr, "usage: host LIBFIRE PLUGIN\n"), 2;
    if (find(lib) != 0) return 2;
    if (dlsym(RTLD_DEFAULT, "fire_blob_read") != NULL)
        return fprintf(stderr, "the library is visible already\n"), 2;
    if (f.fire_plugin_load(argv[2]) < 0 ||
        f.fire_net_from_text(text, strlen(text), NULL, &net) < 0 ||
        f.fire_net_forward(net, 0, -1, NULL) < 0)
        return fprintf(stderr, "%s\n", f.fire_last_error()), 1;
    f.fire_net_destroy(net);
    return 0;
}
