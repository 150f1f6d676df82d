/* firecaffe manual - writes man pages and completions for shells. */
#include <stdio.h>
#include "base/file.h"
#include "command.h"
#include "view/completion.h"
#include "view/manpage.h"

/* Write DIR/NAME, if the text was made without failure, and free the text. */
static fire_status_t save(fire_status_t st, const char *dir, const char *name,
                          fire_str_t *text)
{
    fire_str_t path = {0};

    if (st >= 0) st = fire_str_printf(&path, "%s/%s", dir, name);
    if (st >= 0) st = fire_dir_make_for(path.text);
    if (st >= 0) st = fire_file_write(path.text, text->text, (size_t)text->n);
    fire_str_fini(&path);
    fire_str_fini(text);
    return st;
}

static fire_status_t write_page(const char *dir, const command_t *c)
{
    fire_str_t    name = {0}, page = {0};
    fire_status_t st = fire_str_printf(&name, "man/");

    if (st >= 0) st = manpage_name(c, &name);
    if (st >= 0) st = fire_str_printf(&name, ".1");
    if (st >= 0) st = manpage_of_command(c, &page);
    st = save(st, dir, name.text, &page);
    fire_str_fini(&name);
    return st;
}

/* The page of a name such as convert_imageset. */
static fire_status_t write_alias(const char *dir, const tool_name_t *t)
{
    fire_str_t    name = {0}, page = {0};
    fire_status_t st = fire_str_printf(&name, "man/%s.1", t->name);

    if (st >= 0) st = manpage_of_tool(t, &page);
    st = save(st, dir, name.text, &page);
    fire_str_fini(&name);
    return st;
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_str_t text = {0};

    (void)narg;
    FIRE_TRY(save(manpage_of_program(&text), arg[0], "man/firecaffe.1", &text));
    for (int i = 0; command_at(i) != NULL; i++)
        FIRE_TRY(write_page(arg[0], command_at(i)));
    for (int i = 0; tool_name_at(i) != NULL; i++)
        FIRE_TRY(write_alias(arg[0], tool_name_at(i)));
    FIRE_TRY(save(completion_bash(&text), arg[0], "completions/bash/firecaffe", &text));
    FIRE_TRY(save(completion_zsh(&text), arg[0], "completions/zsh/_firecaffe", &text));
    FIRE_TRY(
        save(completion_fish(&text), arg[0], "completions/fish/firecaffe.fish", &text));
    printf("wrote %s/man and %s/completions\n", arg[0], arg[0]);
    return FIRE_OK;
}

const command_t command_manual = {
    .name      = "manual",
    .arguments = "DIR",
    .summary   = "write man pages and completions for shells",
    .help = "Writes a man page for every command and every name of Caffe's tools to\n"
            "DIR/man, and scripts by which bash, zsh and fish complete commands,\n"
            "flags, files and words to DIR/completions/SHELL. The build does this\n"
            "for its own folder.\n"
            "\n"
            "Examples:\n"
            "  firecaffe manual out\n"
            "  man -l out/man/firecaffe-train.1\n"
            "  source out/completions/bash/firecaffe\n",
    .min_args = 1,
    .max_args = 1,
    .run      = run,
};
