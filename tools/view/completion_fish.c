/* completion_fish.c - writes the script for fish: one `complete` for every command and
 * flag, with the words before as its condition. */
#include "view/completion.h"

#include <string.h>

static const char beginning[] =
    "# Completes firecaffe in fish. Written by `firecaffe manual`.\n"
    "function __firecaffe_is --description 'Do these words follow the program name?'\n"
    "    set -l words (commandline -opc)\n"
    "    set -e words[1]\n"
    "    test (count $words) -ge (count $argv); or return 1\n"
    "    for i in (seq (count $argv))\n"
    "        test \"$words[$i]\" = \"$argv[$i]\"; or return 1\n"
    "    end\n"
    "end\n"
    "function __firecaffe_words --description 'Is this the number of words before?'\n"
    "    test (count (commandline -opc)) -eq $argv[1]\n"
    "end\n"
    "complete -c firecaffe -f\n";

static fire_status_t add(fire_str_t *out, const char *text)
{
    return fire_str_add(out, text, strlen(text));
}

static fire_status_t add_description(fire_str_t *out, const char *text)
{
    FIRE_TRY(add(out, " -d '"));
    FIRE_TRY(completion_escape(out, text, "\\'"));
    return add(out, "'\n");
}

static fire_status_t add_names(fire_str_t *out, int i)
{
    const command_t *c      = command_at(i);
    int              n      = (int)completion_first_word(c);
    bool             family = completion_has_family(c);

    if (completion_is_first(i)) {
        FIRE_TRY(fire_str_printf(
            out, "complete -c firecaffe -n '__firecaffe_words 1' -a %.*s", n, c->name));
        FIRE_TRY(add_description(out, family ? "takes a second word" : c->summary));
    }
    if (!family) return FIRE_OK;
    FIRE_TRY(fire_str_printf(out,
                             "complete -c firecaffe -n '__firecaffe_words 2; and "
                             "__firecaffe_is %.*s' -a %s",
                             n, c->name, c->name + n + 1));
    return add_description(out, c->summary);
}

/* -x: needs a value and completes no other files. */
static fire_status_t add_flag(fire_str_t *out, const command_t *c,
                              const fire_option_t *o)
{
    completion_value_t value = completion_value(o);
    const char        *help  = o->help;
    char               extension[EXTENSION_MAX];
    int                n = 0;

    FIRE_TRY(fire_str_printf(out, "complete -c firecaffe -n '__firecaffe_is %s' -l %s",
                             c->name, o->name));
    if (value == COMPLETE_TEXT) FIRE_TRY(add(out, " -x"));
    if (value == COMPLETE_DIRECTORY)
        FIRE_TRY(add(out, " -x -a '(__fish_complete_directories)'"));
    if (value == COMPLETE_WORDS)
        FIRE_TRY(fire_str_printf(out, " -x -a '%s'", o->words));
    if (value == COMPLETE_FILE) {
        for (; completion_extension(&help, extension); n++)
            FIRE_TRY(fire_str_printf(out, "%s(__fish_complete_suffix %s)",
                                     n > 0 ? " " : " -x -a '", extension));
        FIRE_TRY(add(out, n > 0 ? "'" : " -r -F"));
    }
    return add_description(out, o->help);
}

static fire_status_t add_command(fire_str_t *out, const command_t *c)
{
    fire_option_group_t groups[ALL_GROUPS];

    command_groups(c, groups);
    if (c->max_args != 0)
        FIRE_TRY(fire_str_printf(
            out, "complete -c firecaffe -n '__firecaffe_is %s' -F\n", c->name));
    for (const fire_option_group_t *g = groups; g->options != NULL; g++)
        for (const fire_option_t *o = g->options; g->title && o->name != NULL; o++)
            FIRE_TRY(add_flag(out, c, o));
    return FIRE_OK;
}

fire_status_t completion_fish(fire_str_t *out)
{
    FIRE_TRY(add(out, beginning));
    for (int i = 0; command_at(i) != NULL; i++)
        FIRE_TRY(add_names(out, i));
    for (int i = 0; command_at(i) != NULL; i++)
        FIRE_TRY(add_command(out, command_at(i)));
    return FIRE_OK;
}
