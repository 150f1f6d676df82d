/* firecaffe upgrade - converts old prototxt and caffemodel files to today's format. */
#include <string.h>
#include "base/log.h"
#include "command.h"
#include "model/load.h"

typedef struct upgrade_kind {
    const char *name;
    fire_status_t (*run)(const char *in, const char *out);
} upgrade_kind_t;

static fire_status_t net_text(const char *in, const char *out)
{
    Caffe__NetParameter *net;
    fire_status_t        st;

    FIRE_TRY(fire_net_param_load_text(in, &net));
    st = fire_net_param_save_text(out, net);
    fire_message_free(net);
    return st;
}

static fire_status_t net_binary(const char *in, const char *out)
{
    Caffe__NetParameter *net;
    fire_status_t        st;

    FIRE_TRY(fire_net_param_load_binary(in, &net));
    st = fire_net_param_save_binary(out, net);
    fire_message_free(net);
    return st;
}

static fire_status_t solver_text(const char *in, const char *out)
{
    Caffe__SolverParameter *solver;
    fire_status_t           st;

    FIRE_TRY(fire_solver_param_load(in, &solver));
    st = fire_message_save_text(out, solver);
    fire_message_free(solver);
    return st;
}

static const upgrade_kind_t kinds[] = {
    {"net_proto_text", net_text},
    {"net_proto_binary", net_binary},
    {"solver_proto_text", solver_text},
};

static fire_status_t run(int narg, const char *const *arg)
{
    (void)narg;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(arg[0], kinds[i].name) != 0) continue;
        FIRE_TRY(kinds[i].run(arg[1], arg[2]));
        FIRE_LOG(INFO, "Wrote upgraded file to %s", arg[2]);
        return FIRE_OK;
    }
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "cannot upgrade a '%s': write net_proto_text, net_proto_binary or "
                     "solver_proto_text",
                     arg[0]);
}

const command_t command_upgrade = {
    .name      = "upgrade",
    .arguments = "KIND IN OUT",
    .summary   = "convert an old net or solver file to today's format",
    .help      = "Reads a file of any version of Caffe and writes it in the format of\n"
                 "Caffe 1.0. Every command upgrades what it reads by itself; use this\n"
                 "one to keep the result. KIND is net_proto_text (a net's .prototxt),\n"
                 "net_proto_binary (a .caffemodel) or solver_proto_text (a solver's\n"
                 ".prototxt).\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe upgrade net_proto_text old.prototxt new.prototxt\n"
                 "  firecaffe upgrade net_proto_binary old.caffemodel new.caffemodel\n",
    .min_args  = 3,
    .max_args  = 3,
    .run       = run,
};
