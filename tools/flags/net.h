/* net.h - flags of the commands that run a net, and the net that they describe. Flags
 * that Caffe has keep their names. */
#ifndef FIRE_TOOLS_FLAGS_NET_H
#define FIRE_TOOLS_FLAGS_NET_H
#include "base/text/options.h"
#include "net/net.h"

typedef struct net_flags {
    const char        *model, *weights, *phase, *stage, *gpu, *kernel, *precision;
    fire_option_list_t plugin;
    int64_t            level, threads;
    bool               exact, recompute;
    /* Set by commands: nothing but the net's outputs is read, which saves memory; no
     * parameter is read, so they need no values. */
    bool lean, unfilled;
} net_flags_t;

extern net_flags_t         net_flags;
extern const fire_option_t net_options[];   /* all of them */
extern const fire_option_t place_options[]; /* gpu, kernel, threads, level, stage */
extern const fire_option_t how_options[];   /* all of these but gpu */

/* Load the plug-ins of FIRE_PLUGINS and --plugin. The next function does it too. */
fire_status_t net_flags_load_plugins(void);
/* A context from --kernel, --threads, --exact and --recompute; flags/gpu.h adds the
 * GPU. */
fire_status_t net_flags_ctx(fire_ctx_t *ctx_p);
/* --stage, cut at its commas; an empty text is one empty stage, as in Caffe. End with
 * net_flags_free_stages(). */
fire_status_t net_flags_stages(int *n_p, const char ***stages_p);
void          net_flags_free_stages(const char **stages);

/* Build the net of --model in --phase, or without that flag in `otherwise`, and load
 * --weights. `edit` (or NULL) may change the message first. End with net_flags_close().
 * */
typedef fire_status_t (*net_edit_t)(void *arg, Caffe__NetParameter *param);
fire_status_t net_flags_open(Caffe__Phase otherwise, net_edit_t edit, void *arg,
                             fire_net_t **net_p);
/* Argument of net_flags_set_shapes(), which is an `edit`: shapes of --shape, and a
 * batch size. */
typedef struct net_shapes {
    const fire_option_list_t *list;  /* BLOB=N,C,H,W each */
    int64_t                   batch; /* 0: as it is */
} net_shapes_t;

fire_status_t net_flags_set_shapes(void *shapes, Caffe__NetParameter *param);
/* Destroy the net, then close its GPU. NULL is allowed. */
void net_flags_close(fire_net_t *net);
#endif
