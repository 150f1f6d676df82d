/* command.h - what a sub-command is. A file in cmd/ defines one or more, each with a
 * line in commands.def. The program (firecaffe.c) parses flags, prints help and errors.
 * */
#ifndef FIRE_TOOLS_COMMAND_H
#define FIRE_TOOLS_COMMAND_H
#include "base/error.h"
#include "base/text/options.h"

enum { MAX_GROUPS = 8, ALL_GROUPS = MAX_GROUPS + 5 };

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

/* The i-th command of commands.def; NULL after the last. */
const command_t *command_at(int i);

/* One of the names under which the program acts as one of Caffe's tools: "parse_log.sh",
 * and the words that it stands for, such as "log" and "--plain"; unused ones are NULL. */
enum { MAX_WORDS = 3 };
typedef struct tool_name {
    const char *name, *word[MAX_WORDS];
} tool_name_t;

/* The i-th name of names.def; NULL after the last. */
const tool_name_t *tool_name_at(int i);

/* All groups of flags that a command takes: its own, those of every command, and an
 * empty one, which ends the list. */
void command_groups(const command_t *c, fire_option_group_t groups[ALL_GROUPS]);

/* The command line as the user typed it. */
void program_arguments(int *argc_p, const char *const **argv_p);
#endif
