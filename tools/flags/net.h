/* net.h - the flags of every command that runs a net, and the net they
 * describe. Names are Caffe's where it has them. */
#ifndef FIRE_TOOLS_FLAGS_NET_H
#define FIRE_TOOLS_FLAGS_NET_H
#include "base/text/options.h"
#include "net/net.h"

typedef struct net_flags {
    const char *model, *weights, *phase, *stage, *gpu, *kernel, *precision;
    int64_t     level, threads;
    bool        exact, recompute;
    bool        lean; /* set by commands that look at nothing but the net's outputs */
} net_flags_t;

extern net_flags_t         net_flags;
extern const fire_option_t net_options[];   /* all of them */
extern const fire_option_t place_options[]; /* gpu, kernel, threads, level, stage */
extern const fire_option_t how_options[];   /* these without gpu */

/* How kernels run, from --kernel and --threads; flags/gpu.h says where. */
fire_status_t net_flags_ctx(fire_ctx_t *ctx_p);
/* --stage cut at its commas; as in Caffe an empty text is one empty stage. End
 * with fire_free(stages[0]), then fire_free(stages). */
fire_status_t net_flags_stages(int *n_p, const char ***stages_p);
void          net_flags_free_stages(const char **stages);

/* Build the net of --model in --phase, or in `otherwise` if that is left out, and
 * load --weights (a comma list). `edit` (or NULL) may change the message first. */
typedef fire_status_t (*net_edit_t)(void *arg, Caffe__NetParameter *param);
fire_status_t net_flags_open(Caffe__Phase otherwise, net_edit_t edit, void *arg,
                             fire_net_t **net_p);
/* For `edit`: take shapes from --shape (`list`) and another batch size. */
typedef struct net_shapes {
    const fire_option_list_t *list;  /* BLOB=N,C,H,W each */
    int64_t                   batch; /* 0: as it is */
} net_shapes_t;

fire_status_t net_flags_set_shapes(void *shapes, Caffe__NetParameter *param);
/* End that net, and what it ran on. NULL is allowed. */
void net_flags_close(fire_net_t *net);
#endif
