/* manpage.c - writes man pages for groff and mandoc. A command's text becomes
 * DESCRIPTION and EXAMPLES, its tables of flags become OPTIONS. The pages have no date:
 * the same program writes the same bytes. */
#include "view/manpage.h"

#include <string.h>

/* ---- roff ---- */

/* What one character is in roff; NULL: itself. An unescaped - is a hyphen, which cannot
 * be copied into a shell. */
static const char *roff_escape(char c)
{
    switch (c) {
    case '\\':
        return "\\(rs";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '`':
        return "\\(ga";
    case '"':
        return "\\(dq";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

/* Append text[n]. A dot that begins a line would be a request. */
static fire_status_t add_text(fire_str_t *out, const char *text, size_t n)
{
    if (n > 0 && text[0] == '.') FIRE_TRY(fire_str_printf(out, "\\&"));
    for (size_t i = 0; i < n; i++) {
        const char *escape = roff_escape(text[i]);

        FIRE_TRY(escape != NULL ? fire_str_add(out, escape, strlen(escape))
                                : fire_str_add(out, text + i, 1));
    }
    return FIRE_OK;
}

static fire_status_t add(fire_str_t *out, const char *text)
{
    return add_text(out, text, strlen(text));
}

static fire_status_t title(fire_str_t *out, const char *page)
{
    FIRE_TRY(fire_str_printf(out, ".TH \""));
    FIRE_TRY(add(out, page));
    return fire_str_printf(out, "\" 1 \"\" \"FireCaffe " FIRE_VERSION
                                "\" \"FireCaffe\"\n.SH NAME\n");
}

/* ---- text ---- */

typedef enum block { NO_BLOCK, PROSE, VERBATIM } block_t;

static fire_status_t open_block(fire_str_t *out, block_t next, block_t *block)
{
    if (*block == next) return FIRE_OK;
    if (*block == VERBATIM) FIRE_TRY(fire_str_printf(out, ".EE\n.RE\n"));
    if (next == PROSE) FIRE_TRY(fire_str_printf(out, ".PP\n"));
    if (next == VERBATIM) FIRE_TRY(fire_str_printf(out, ".PP\n.RS 4\n.EX\n"));
    *block = next;
    return FIRE_OK;
}

static bool is_line(const char *line, size_t n, const char *text)
{
    return n == strlen(text) && strncmp(line, text, n) == 0;
}

/* A command's help: paragraphs with empty lines between them, indented lines that keep
 * their breaks, and a heading "Example:" or "Examples:". */
static fire_status_t add_help(fire_str_t *out, const char *help)
{
    block_t block = NO_BLOCK;

    for (size_t n; *help != '\0'; help += n + (help[n] == '\n')) {
        n = strcspn(help, "\n");
        if (n == 0) {
            FIRE_TRY(open_block(out, NO_BLOCK, &block));
        } else if (is_line(help, n, "Example:") || is_line(help, n, "Examples:")) {
            FIRE_TRY(open_block(out, NO_BLOCK, &block));
            FIRE_TRY(fire_str_printf(out, ".SH EXAMPLES\n"));
        } else {
            size_t indent = strspn(help, " ");

            FIRE_TRY(open_block(out, indent > 0 ? VERBATIM : PROSE, &block));
            indent = indent < 2 ? indent : 2;
            FIRE_TRY(add_text(out, help + indent, n - indent));
            FIRE_TRY(fire_str_printf(out, "\n"));
        }
    }
    return open_block(out, NO_BLOCK, &block);
}

/* ---- flags ---- */

static bool has_default(const fire_option_t *o)
{
    return o->preset != NULL && o->preset[0] != '\0' &&
           (o->type != FIRE_OPTION_BOOL || strcmp(o->preset, "true") == 0);
}

static fire_status_t add_flag(fire_str_t *out, const fire_option_t *o)
{
    FIRE_TRY(fire_str_printf(out, ".TP\n\\fB\\-\\-"));
    FIRE_TRY(add(out, o->name));
    FIRE_TRY(fire_str_printf(out, "\\fR"));
    if (o->arg != NULL) {
        FIRE_TRY(fire_str_printf(out, " \\fI"));
        FIRE_TRY(add(out, o->arg));
        FIRE_TRY(fire_str_printf(out, "\\fR"));
    }
    FIRE_TRY(fire_str_printf(out, "\n"));
    FIRE_TRY(add(out, o->help));
    if (has_default(o)) {
        FIRE_TRY(fire_str_printf(out, " (default: "));
        FIRE_TRY(add(out, o->preset));
        FIRE_TRY(fire_str_printf(out, ")"));
    }
    return fire_str_printf(out, "\n");
}

static fire_status_t add_flags(fire_str_t *out, const command_t *c)
{
    fire_option_group_t groups[ALL_GROUPS];

    command_groups(c, groups);
    FIRE_TRY(fire_str_printf(out, ".SH OPTIONS\n"));
    for (const fire_option_group_t *g = groups; g->options != NULL; g++) {
        if (g->title == NULL) continue;
        FIRE_TRY(fire_str_printf(out, ".SS \""));
        FIRE_TRY(add(out, g->title));
        FIRE_TRY(fire_str_printf(out, "\"\n"));
        for (const fire_option_t *o = g->options; o->name != NULL; o++)
            FIRE_TRY(add_flag(out, o));
    }
    return FIRE_OK;
}

/* ---- pages ---- */

fire_status_t manpage_name(const command_t *c, fire_str_t *out)
{
    FIRE_TRY(fire_str_printf(out, "firecaffe-"));
    for (const char *p = c->name; *p != '\0'; p++)
        FIRE_TRY(fire_str_add(out, *p == ' ' ? "-" : p, 1));
    return FIRE_OK;
}

static fire_status_t add_reference(fire_str_t *out, const command_t *c, const char *end)
{
    fire_str_t    name = {0};
    fire_status_t st   = manpage_name(c, &name);

    if (st >= 0) st = fire_str_printf(out, ".BR ");
    if (st >= 0) st = add(out, name.text);
    if (st >= 0) st = fire_str_printf(out, " (1)%s\n", end);
    fire_str_fini(&name);
    return st;
}

static fire_status_t add_synopsis(fire_str_t *out, const command_t *c)
{
    FIRE_TRY(fire_str_printf(out, ".SH SYNOPSIS\n.B firecaffe "));
    FIRE_TRY(add(out, c->name));
    FIRE_TRY(fire_str_printf(out, "\n"));
    if (c->arguments[0] != '\0') {
        FIRE_TRY(add(out, c->arguments));
        FIRE_TRY(fire_str_printf(out, "\n"));
    }
    return fire_str_printf(out, "[flags]\n");
}

fire_status_t manpage_of_command(const command_t *c, fire_str_t *out)
{
    fire_str_t    name = {0};
    fire_status_t st   = manpage_name(c, &name);

    if (st >= 0) st = title(out, name.text);
    if (st >= 0) st = add(out, name.text);
    if (st >= 0) st = fire_str_printf(out, " \\- ");
    fire_str_fini(&name);
    FIRE_TRY(st);
    FIRE_TRY(add(out, c->summary));
    FIRE_TRY(fire_str_printf(out, "\n"));
    FIRE_TRY(add_synopsis(out, c));
    FIRE_TRY(fire_str_printf(out, ".SH DESCRIPTION\n"));
    FIRE_TRY(add_help(out, c->help));
    FIRE_TRY(add_flags(out, c));
    return fire_str_printf(out, ".SH SEE ALSO\n.BR firecaffe (1)\n");
}

/* The command that a tool's words begin with; NULL for the whole program. */
static const command_t *command_of(const tool_name_t *t)
{
    for (int i = 0; command_at(i) != NULL; i++) {
        const char *name = command_at(i)->name, *second = strchr(name, ' ');
        size_t      n = strcspn(name, " ");

        if (strlen(t->word[0]) != n || strncmp(t->word[0], name, n) != 0) continue;
        if (second == NULL || strcmp(t->word[1], second + 1) == 0) return command_at(i);
    }
    return NULL;
}

fire_status_t manpage_of_tool(const tool_name_t *t, fire_str_t *out)
{
    const command_t *c = command_of(t);

    FIRE_TRY(fire_str_printf(out, ".so man1/"));
    FIRE_TRY(c != NULL ? manpage_name(c, out) : fire_str_printf(out, "firecaffe"));
    return fire_str_printf(out, ".1\n");
}

/* What firecaffe(1) says after the list of commands. */
static const char about_flags[] =
    ".SH OPTIONS\n"
    "Each command has flags of its own, on its page. They are written as gflags does,\n"
    "before or after other arguments; \\- and _ in names are the same.\n"
    ".TP\n\\fB\\-\\-flag\\fR \\fIVALUE\\fR, \\fB\\-\\-flag=\\fIVALUE\\fR\n"
    "set a flag; one \\- does as well\n"
    ".TP\n\\fB\\-\\-flag\\fR, \\fB\\-\\-noflag\\fR\n"
    "switch a flag without value on or off\n"
    ".TP\n\\fB\\-\\-flagfile=\\fIFILE\\fR\n"
    "read flags from a file, one \\-\\-flag=value in each line\n"
    ".TP\n\\fB\\-\\-fromenv=\\fINAMES\\fR\n"
    "set the flag A from the variable FLAGS_A, for each of the names;\n"
    "\\-\\-tryfromenv where it is set\n"
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBGLOG_minloglevel\\fR, \\fBGLOG_log_dir\\fR, \\fBGLOG_logtostderr\\fR, "
    "\\fBGLOG_v\\fR\n"
    "set the flags of these names\n"
    ".TP\n\\fBNO_COLOR\\fR\nprint no colours\n"
    ".SH EXIT STATUS\n"
    ".TP\n\\fB0\\fR\nthe command did what was asked\n"
    ".TP\n\\fB1\\fR\nit failed; the last line on stderr says why\n"
    ".TP\n\\fB75\\fR\n"
    "it failed, but another try may succeed: a worker was lost or did not answer\n"
    ".SH EXAMPLES\n"
    ".RS 4\n.EX\n"
    "firecaffe convert mnist images.gz labels.gz mnist_train_lmdb\n"
    "firecaffe train \\-\\-solver models/lenet/solver.prototxt\n"
    "firecaffe help train\n"
    ".EE\n.RE\n"
    ".SH SEE ALSO\n";

fire_status_t manpage_of_program(fire_str_t *out)
{
    FIRE_TRY(title(out, "firecaffe"));
    FIRE_TRY(fire_str_printf(
        out,
        "firecaffe \\- train neural nets in Caffe\\(aqs formats\n"
        ".SH SYNOPSIS\n.B firecaffe\n.I COMMAND\n[flags]\n.br\n"
        ".B firecaffe help\n.I COMMAND\n"
        ".SH DESCRIPTION\n"
        "FireCaffe trains neural nets in Caffe\\(aqs formats, on one machine or\n"
        "many. Called by the name of one of Caffe\\(aqs tools, the program acts as\n"
        "that tool.\n"
        ".SH COMMANDS\n"));
    for (int i = 0; command_at(i) != NULL; i++) {
        FIRE_TRY(fire_str_printf(out, ".TP\n.B "));
        FIRE_TRY(add(out, command_at(i)->name));
        FIRE_TRY(fire_str_printf(out, "\n"));
        FIRE_TRY(add(out, command_at(i)->summary));
        FIRE_TRY(fire_str_printf(out, "\n"));
    }
    FIRE_TRY(fire_str_add(out, about_flags, strlen(about_flags)));
    for (int i = 0; command_at(i) != NULL; i++)
        FIRE_TRY(add_reference(out, command_at(i), command_at(i + 1) ? "," : ""));
    return FIRE_OK;
}
