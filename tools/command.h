/* command.h - what a sub-command is. A file of cmd/ defines one or more, each
 * has one line in commands.def; flags, help and errors are the program's. */
#ifndef FIRE_TOOLS_COMMAND_H
#define FIRE_TOOLS_COMMAND_H
#include "base/error.h"
#include "base/text/options.h"

enum { MAX_GROUPS = 8 };

typedef struct command {
    const char                *name;      /* as typed: "train", "convert mnist" */
    const char                *arguments; /* in the usage line, "" for none */
    const char                *summary;   /* one line, in `firecaffe --help` */
    const char                *help;      /* what it does, then examples */
    const fire_option_group_t *groups;    /* of flags, MAX_GROUPS at most; or NULL */
    int                        min_args, max_args;
    fire_status_t (*run)(int narg, const char *const *arg);
} command_t;

#define COMMAND(name) extern const command_t name;
#include "commands.def"
#undef COMMAND

/* Stands for all commands where one is looked up: NULL behind the last. */
const command_t *command_at(int i);

/* The command line as it was typed. */
void program_arguments(int *argc_p, const char *const **argv_p);
#endif
