/* completion_bash.c - writes the script for bash: one function, with a case for every
 * command, in it one for every flag that takes a value. Needs bash 4, and no
 * bash-completion. */
#include "view/completion.h"

#include <string.h>

/* _firecaffe_files WORD [EXTENSION...]: files with one of the extensions, or all, and
 * directories to go into. */
static const char helpers[] =
    "# Completes firecaffe in bash. Written by `firecaffe manual`.\n"
    "_firecaffe_files()\n"
    "{\n"
    "    local word=$1 end file\n"
    "    shift\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r file; do\n"
    "        if [[ $# == 0 || -d $file ]]; then\n"
    "            COMPREPLY+=(\"$file\")\n"
    "            continue\n"
    "        fi\n"
    "        for end in \"$@\"; do\n"
    "            if [[ $file == *\"$end\" ]]; then\n"
    "                COMPREPLY+=(\"$file\")\n"
    "                break\n"
    "            fi\n"
    "        done\n"
    "    done < <(compgen -f -- \"$word\")\n"
    "}\n"
    "\n"
    "_firecaffe_directories()\n"
    "{\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -d -- \"$1\")\n"
    "}\n"
    "\n"
    "_firecaffe_words()\n"
    "{\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$2\" -- \"$1\")\n"
    "}\n"
    "\n";

/* Bash splits --flag=value into three words. gflags takes -flag too. */
static const char beginning[] =
    "_firecaffe()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command=${COMP_WORDS[1]} flag=\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n"
    "    if [[ $cur == -[!-]* ]]; then cur=-$cur; fi\n"
    "    if [[ $prev == -* ]]; then\n"
    "        flag=${prev#-}\n"
    "        flag=${flag#-}\n"
    "        flag=${flag//-/_}\n"
    "    fi\n";

static fire_status_t add(fire_str_t *out, const char *text)
{
    return fire_str_add(out, text, strlen(text));
}

static fire_status_t add_first_words(fire_str_t *out)
{
    FIRE_TRY(add(out, "    if ((COMP_CWORD == 1)); then\n"
                      "        _firecaffe_words \"$cur\" \"help"));
    for (int i = 0; command_at(i) != NULL; i++)
        if (completion_is_first(i))
            FIRE_TRY(fire_str_printf(out, " %.*s",
                                     (int)completion_first_word(command_at(i)),
                                     command_at(i)->name));
    return add(out, " --help --version\"\n        return\n    fi\n");
}

/* The second words of commands such as "convert mnist". */
static fire_status_t add_second_words(fire_str_t *out)
{
    FIRE_TRY(add(out, "    case $command in\n"));
    for (int i = 0; command_at(i) != NULL; i++) {
        const command_t *c = command_at(i);
        size_t           n = completion_first_word(c);

        if (!completion_has_family(c) || !completion_is_first(i)) continue;
        FIRE_TRY(fire_str_printf(out,
                                 "    %.*s)\n"
                                 "        if ((COMP_CWORD == 2)); then\n"
                                 "            _firecaffe_words \"$cur\" \"",
                                 (int)n, c->name));
        for (int k = i; command_at(k) != NULL; k++)
            if (completion_same_family(c, command_at(k)))
                FIRE_TRY(fire_str_printf(out, "%s%s", k > i ? " " : "",
                                         command_at(k)->name + n + 1));
        FIRE_TRY(add(out, "\"\n            return\n        fi\n"
                          "        command+=\" ${COMP_WORDS[2]}\"\n        ;;\n"));
    }
    return add(out, "    esac\n");
}

static fire_status_t add_value(fire_str_t *out, const fire_option_t *o)
{
    completion_value_t value = completion_value(o);
    const char        *help  = o->help;
    char               extension[EXTENSION_MAX];

    if (value == COMPLETE_NOTHING) return FIRE_OK;
    FIRE_TRY(fire_str_printf(out, "        %s) ", o->name));
    if (value == COMPLETE_DIRECTORY)
        FIRE_TRY(add(out, "_firecaffe_directories \"$cur\"; "));
    if (value == COMPLETE_WORDS)
        FIRE_TRY(fire_str_printf(out, "_firecaffe_words \"$cur\" \"%s\"; ", o->words));
    if (value == COMPLETE_FILE) {
        FIRE_TRY(add(out, "_firecaffe_files \"$cur\""));
        while (completion_extension(&help, extension))
            FIRE_TRY(fire_str_printf(out, " %s", extension));
        FIRE_TRY(add(out, "; "));
    }
    return add(out, "return ;;\n");
}

static fire_status_t add_command(fire_str_t *out, const command_t *c)
{
    fire_option_group_t groups[ALL_GROUPS];

    command_groups(c, groups);
    FIRE_TRY(fire_str_printf(out, "    \"%s\")\n        case $flag in\n", c->name));
    for (const fire_option_group_t *g = groups; g->options != NULL; g++)
        for (const fire_option_t *o = g->options; g->title && o->name != NULL; o++)
            FIRE_TRY(add_value(out, o));
    FIRE_TRY(add(out, "        esac\n"
                      "        if [[ $cur == -* ]]; then\n"
                      "            _firecaffe_words \"$cur\" \""));
    for (const fire_option_group_t *g = groups; g->options != NULL; g++)
        for (const fire_option_t *o = g->options; g->title && o->name != NULL; o++)
            FIRE_TRY(fire_str_printf(out, "--%s ", o->name));
    FIRE_TRY(add(out, "\"\n"));
    if (c->max_args != 0)
        FIRE_TRY(add(out, "        else\n            _firecaffe_files \"$cur\"\n"));
    return add(out, "        fi\n        ;;\n");
}

fire_status_t completion_bash(fire_str_t *out)
{
    FIRE_TRY(add(out, helpers));
    FIRE_TRY(add(out, beginning));
    FIRE_TRY(add_first_words(out));
    FIRE_TRY(add_second_words(out));
    FIRE_TRY(add(out, "    case $command in\n"));
    for (int i = 0; command_at(i) != NULL; i++)
        FIRE_TRY(add_command(out, command_at(i)));
    return add(out, "    esac\n}\ncomplete -F _firecaffe firecaffe caffe\n");
}
