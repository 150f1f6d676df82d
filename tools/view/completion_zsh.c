/* completion_zsh.c - writes the script for zsh, to be put into a folder of $fpath as
 * _firecaffe. It leaves flags to _arguments, with a list for every command. */
#include "view/completion.h"

#include <string.h>

static const char beginning[] =
    "#compdef firecaffe caffe\n"
    "# Completes firecaffe in zsh. Written by `firecaffe manual`.\n"
    "_firecaffe() {\n"
    "  local command=$words[2]\n"
    "  local -a names\n"
    "  if (( CURRENT == 2 )); then\n";

static fire_status_t add(fire_str_t *out, const char *text)
{
    return fire_str_add(out, text, strlen(text));
}

/* An item of _describe's list: 'NAME:summary'. */
static fire_status_t add_name(fire_str_t *out, const char *name, size_t n,
                              const char *summary)
{
    FIRE_TRY(fire_str_printf(out, "      '%.*s:", (int)n, name));
    FIRE_TRY(completion_escape(out, summary, "\\:"));
    return add(out, "'\n");
}

static fire_status_t add_first_words(fire_str_t *out)
{
    FIRE_TRY(add(out, "    names=(\n"));
    for (int i = 0; command_at(i) != NULL; i++) {
        const command_t *c = command_at(i);

        if (!completion_is_first(i)) continue;
        FIRE_TRY(
            add_name(out, c->name, completion_first_word(c),
                     completion_has_family(c) ? "takes a second word" : c->summary));
    }
    return add(out, "    )\n    _describe command names\n    return\n  fi\n");
}

static fire_status_t add_second_words(fire_str_t *out)
{
    FIRE_TRY(add(out, "  case $command in\n"));
    for (int i = 0; command_at(i) != NULL; i++) {
        const command_t *c = command_at(i);
        size_t           n = completion_first_word(c);

        if (!completion_has_family(c) || !completion_is_first(i)) continue;
        FIRE_TRY(fire_str_printf(out, "    (%.*s)\n      names=(\n", (int)n, c->name));
        for (int k = i; command_at(k) != NULL; k++) {
            const command_t *same = command_at(k);

            if (completion_same_family(c, same))
                FIRE_TRY(add_name(out, same->name + n + 1, strlen(same->name + n + 1),
                                  same->summary));
        }
        FIRE_TRY(add(out, "      )\n"
                          "      if (( CURRENT == 3 )); then\n"
                          "        _describe command names\n"
                          "        return\n"
                          "      fi\n"
                          "      command=\"$command $words[3]\"\n"
                          "      shift words\n"
                          "      (( CURRENT-- ))\n"
                          "      ;;\n"));
    }
    return add(out, "  esac\n  shift words\n  (( CURRENT-- ))\n");
}

/* The pattern for _files: "*.a", or "*(.a|.b)"; none if the help names no extension. */
static fire_status_t add_pattern(fire_str_t *out, const char *help)
{
    char first[EXTENSION_MAX], more[EXTENSION_MAX];

    if (!completion_extension(&help, first)) return FIRE_OK;
    if (!completion_extension(&help, more))
        return fire_str_printf(out, " -g \"*%s\"", first);
    FIRE_TRY(fire_str_printf(out, " -g \"*(%s", first));
    do
        FIRE_TRY(fire_str_printf(out, "|%s", more));
    while (completion_extension(&help, more));
    return add(out, ")\"");
}

/* One specification of _arguments: '--flag=[help]:VALUE:action'. */
static fire_status_t add_flag(fire_str_t *out, const fire_option_t *o)
{
    completion_value_t value = completion_value(o);

    FIRE_TRY(fire_str_printf(out, " \\\n        '--%s%s[", o->name,
                             value != COMPLETE_NOTHING ? "=" : ""));
    FIRE_TRY(completion_escape(out, o->help, "\\[]:"));
    FIRE_TRY(add(out, "]"));
    if (value != COMPLETE_NOTHING) FIRE_TRY(fire_str_printf(out, ":%s:", o->arg));
    if (value == COMPLETE_TEXT) FIRE_TRY(add(out, " "));
    if (value == COMPLETE_DIRECTORY) FIRE_TRY(add(out, "_files -/"));
    if (value == COMPLETE_WORDS) FIRE_TRY(fire_str_printf(out, "(%s)", o->words));
    if (value == COMPLETE_FILE) {
        FIRE_TRY(add(out, "_files"));
        FIRE_TRY(add_pattern(out, o->help));
    }
    return add(out, "'");
}

static fire_status_t add_command(fire_str_t *out, const command_t *c)
{
    fire_option_group_t groups[ALL_GROUPS];

    command_groups(c, groups);
    FIRE_TRY(fire_str_printf(out, "    ('%s')\n      _arguments", c->name));
    for (const fire_option_group_t *g = groups; g->options != NULL; g++)
        for (const fire_option_t *o = g->options; g->title && o->name != NULL; o++)
            FIRE_TRY(add_flag(out, o));
    if (c->max_args != 0) FIRE_TRY(add(out, " \\\n        '*:file:_files'"));
    return add(out, "\n      ;;\n");
}

fire_status_t completion_zsh(fire_str_t *out)
{
    FIRE_TRY(add(out, beginning));
    FIRE_TRY(add_first_words(out));
    FIRE_TRY(add_second_words(out));
    FIRE_TRY(add(out, "  case $command in\n"));
    for (int i = 0; command_at(i) != NULL; i++)
        FIRE_TRY(add_command(out, command_at(i)));
    return add(out, "  esac\n}\n_firecaffe \"$@\"\n");
}
