/* firecaffe.c - the program: finds the sub-command by the program's own name or by the
 * first words, parses its flags, runs it, and turns its status into one line on stderr
 * and an exit code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/alloc.h"
#include "flags/caffe.h"
#include "flags/launch.h"
#include "command.h"
#include "view/console.h"
#include "flags/train_py.h"

typedef struct common_flags {
    bool help, version;
} common_flags_t;

static struct {
    int    argc;
    char **argv;
} typed;

static common_flags_t  common;
static console_flags_t console;

static const fire_option_t common_options[] = {
    FIRE_OPTION(common_flags_t, help, BOOL, "false", NULL, "show this text"),
    FIRE_OPTION(common_flags_t, version, BOOL, "false", NULL, "show the version"),
    {0},
};

void program_arguments(int *argc_p, const char *const **argv_p)
{
    *argc_p = typed.argc;
    *argv_p = (const char *const *)typed.argv;
}

/* ---- the tables ---- */

const command_t *command_at(int i)
{
    static const command_t *const all[] = {
#define COMMAND(name) &name,
#include "commands.def"
#undef COMMAND
        NULL,
    };
    return all[i];
}

void command_groups(const command_t *c, fire_option_group_t groups[ALL_GROUPS])
{
    int n = 0;

    memset(groups, 0, ALL_GROUPS * sizeof(*groups));
    for (; c->groups != NULL && c->groups[n].options != NULL; n++)
        groups[n] = c->groups[n];
    groups[n++] = (fire_option_group_t){"Output", console_options, &console};
    groups[n++] = (fire_option_group_t){"Common", common_options, &common};
    groups[n]   = glog_flags();
}

const tool_name_t *tool_name_at(int i)
{
    static const tool_name_t all[] = {
#define NAME(name, ...) {#name, {__VA_ARGS__}},
#include "names.def"
#undef NAME
        {0},
    };
    return all[i].name != NULL ? &all[i] : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Caffe's build makes each of its programs under a second name, caffe.bin. */
static bool is_named(const char *program, const char *name)
{
    size_t n = strlen(name);

    return strncmp(program, name, n) == 0 &&
           (program[n] == '\0' || strcmp(program + n, ".bin") == 0);
}

/* argv with the program's name replaced by the words it stands for. */
static fire_status_t expand_name(int argc, char **argv, int *argc_p,
                                 const char ***argv_p)
{
    const char  *program = base_name(argv[0]);
    const char **out;
    int          n = 0;

    FIRE_TRY(fire_alloc((size_t)argc + MAX_WORDS, sizeof(*out), "argv", (void **)&out));
    out[n++] = program;
    for (int i = 0; tool_name_at(i) != NULL; i++) {
        const tool_name_t *t = tool_name_at(i);

        for (int k = 0; is_named(program, t->name) && k < MAX_WORDS; k++)
            if (t->word[k] != NULL && t->word[k][0] != '\0') out[n++] = t->word[k];
    }
    for (int i = 1; i < argc; i++)
        out[n++] = argv[i];
    *argc_p = n;
    *argv_p = out;
    return FIRE_OK;
}

/* ---- finding the command ---- */

static const char *command_name_at(const void *list, int i)
{
    const command_t *c = command_at(i);

    (void)list;
    return c != NULL ? c->name : NULL;
}

/* How many words of argv, from i on, are the name of this command. */
static int words_matched(const char *name, int argc, const char *const *argv, int i)
{
    int words = 0;

    while (*name != '\0') {
        size_t n = strcspn(name, " ");

        if (i >= argc || strlen(argv[i]) != n || strncmp(argv[i], name, n) != 0)
            return 0;
        words++;
        i++;
        name += n + (name[n] == ' ');
    }
    return words;
}

/* Caffe allows flags before the command, so every word is looked at. Removes the
 * command's words from argv. */
static const command_t *take_command(int *argc, const char **argv)
{
    for (int i = 1; i < *argc; i++)
        for (int k = 0; command_at(k) != NULL; k++) {
            int n = words_matched(command_at(k)->name, *argc, argv, i);

            if (n == 0) continue;
            for (int j = i; j + n < *argc; j++)
                argv[j] = argv[j + n];
            *argc -= n;
            return command_at(k);
        }
    return NULL;
}

/* Is "convert mnist" one of the commands that begin with "convert"? */
static bool is_of_family(const command_t *c, const char *word)
{
    size_t n = strlen(word);

    return strncmp(c->name, word, n) == 0 && c->name[n] == ' ';
}

/* The second words of a family, for "convert" alone or with a wrong second word. */
static fire_status_t family_of(const char *word, fire_str_t *out)
{
    for (int k = 0; command_at(k) != NULL; k++)
        if (is_of_family(command_at(k), word))
            FIRE_TRY(fire_str_printf(out, "%s%s", out->n > 0 ? ", " : "",
                                     command_at(k)->name + strlen(word) + 1));
    return FIRE_OK;
}

static fire_status_t unknown_command(const char *word)
{
    const char   *near   = fire_name_nearest(word, command_name_at, NULL);
    fire_str_t    family = {0};
    fire_status_t st     = family_of(word, &family);

    if (st >= 0 && family.n > 0)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "%s needs a second word: %s", word,
                       family.text);
    else if (st >= 0 && near != NULL)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "unknown command '%s'; did you mean '%s'?",
                       word, near);
    else if (st >= 0)
        st = FIRE_FAIL(FIRE_ERR_INVALID,
                       "unknown command '%s'; firecaffe --help lists them", word);
    fire_str_fini(&family);
    return st;
}

/* ---- help ---- */

static void print_overview(void)
{
    printf("FireCaffe " FIRE_VERSION
           " trains neural nets in Caffe's formats, on one machine or many.\n\n"
           "usage: firecaffe COMMAND [flags]\n\n");
    for (int i = 0; command_at(i) != NULL; i++)
        printf("  %-17s %s\n", command_at(i)->name, command_at(i)->summary);
    printf(
        "\nfirecaffe COMMAND --help shows the flags of a command, with examples. "
        "Called by\n"
        "the name of one of Caffe's tools (links in build/tools), the program acts as\n"
        "that tool.\n");
}

/* Print the commands that begin with this word, for "convert --help"; false: none does.
 * */
static bool print_family(const char *word)
{
    bool found = false;

    for (int i = 0; command_at(i) != NULL; i++) {
        if (!is_of_family(command_at(i), word)) continue;
        printf("  %-17s %s\n", command_at(i)->name, command_at(i)->summary);
        found = true;
    }
    if (found) printf("\nAdd --help to one of these for its flags and examples.\n");
    return found;
}

static fire_status_t print_help(const command_t *c, const fire_option_group_t *groups)
{
    fire_str_t flags = {0};

    FIRE_TRY(fire_options_help(groups, &flags));
    printf("usage: firecaffe %s %s%s[flags]\n\n%s\n%s", c->name, c->arguments,
           c->arguments[0] != '\0' ? " " : "", c->help, flags.text);
    fire_str_fini(&flags);
    return FIRE_OK;
}

/* ---- running ---- */

static fire_status_t check_arguments(const command_t *c, const fire_options_t *o)
{
    if (c->max_args >= 0 && o->narg > c->max_args)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "\"%s\" is one argument too many; usage: firecaffe %s %s "
                         "(more: firecaffe %s --help)",
                         o->arg[c->max_args], c->name, c->arguments, c->name);
    if (o->narg >= c->min_args) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "%s needs more arguments; usage: firecaffe %s %s "
                     "(more: firecaffe %s --help)",
                     c->name, c->name, c->arguments, c->name);
}

static fire_status_t run_command(const command_t *c, int argc, const char *const *argv)
{
    fire_option_group_t groups[ALL_GROUPS];
    fire_options_t      options = {0};
    fire_status_t       st;
    int                 n = 0;

    command_groups(c, groups);
    while (groups[n].options != NULL)
        n++;
    if (strcmp(argv[0], "caffe") == 0) groups[n] = caffe_flags();
    FIRE_TRY_GOTO(st, fire_options_parse(groups, argc, argv, &options), done);
    if (common.help || glog_flags_want_help()) {
        st = print_help(c, groups);
        goto done;
    }
    FIRE_TRY_GOTO(st, check_arguments(c, &options), done);
    FIRE_TRY_GOTO(st, console_open(&console, argv[0]), done);
    st = c->run((int)options.narg, options.arg);
done:
    fire_options_fini(groups, &options);
    return st;
}

static bool wants(const char *word, const char *flag)
{
    word += strspn(word, "-");
    return strcmp(word, flag) == 0;
}

static bool wants_help(const char *word)
{
    return wants(word, "help") || wants(word, "h");
}

static fire_status_t dispatch(int argc, const char **argv)
{
    bool             help    = argc > 1 && strcmp(argv[1], "help") == 0;
    const command_t *command = take_command(&argc, argv);

    if (help && command != NULL)
        return run_command(command, 2, (const char *[]){argv[0], "--help"});
    if (command != NULL) return run_command(command, argc, argv);
    if (help && argc > 2)
        return print_family(argv[2]) ? FIRE_OK : unknown_command(argv[2]);
    if (argc < 2 || wants_help(argv[1])) {
        print_overview();
        return FIRE_OK;
    }
    if (argc > 2 && wants_help(argv[2]) && print_family(argv[1])) return FIRE_OK;
    if (wants(argv[1], "version")) return run_command(&command_version, 1, argv);
    return unknown_command(argv[1]);
}

/* Batch systems and --restarts look at the exit code: errors that another try may not
 * have (a lost worker, a timeout) end with EX_TEMPFAIL of <sysexits.h>, others with 1; or
 * with EX_CONFIG where a launcher is in between, whose own failures are 1. */
static int exit_code(fire_status_t st)
{
    enum { TRY_AGAIN = 75, MISTAKE = 78 };

    if (st >= 0) return EXIT_SUCCESS;
    if (st == FIRE_ERR_PEER || st == FIRE_ERR_COMM || st == FIRE_ERR_TIMEOUT)
        return TRY_AGAIN;
    return launch_flags.supervised ? MISTAKE : EXIT_FAILURE;
}

/* OpenBLAS starts threads of its own when it is loaded, which no one uses here, and each
 * takes 128 MB of addresses. Where these are limited (ulimit -v) and there are too few, it
 * tries for ever: begin again without such threads. */
static void leave_out_blas_threads(char **argv)
{
    static const char variable[] = "OPENBLAS_NUM_THREADS";
    struct rlimit     most;

    if (getenv(variable) != NULL || getrlimit(RLIMIT_AS, &most) != 0 ||
        most.rlim_cur == RLIM_INFINITY || setenv(variable, "1", 1) != 0)
        return;
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    const char  **words = NULL;
    int           n     = 0;
    fire_str_t    gpus  = {0};
    fire_status_t st;

    leave_out_blas_threads(argv);
    st         = expand_name(argc, argv, &n, &words);
    typed.argc = argc;
    typed.argv = argv;
    if (st >= 0 && strcmp(words[0], "train.py") == 0)
        st = train_py_words(&n, words, &gpus);
    if (st >= 0) st = dispatch(n, words);
    console_close();
    if (st >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
        st = FIRE_FAIL(FIRE_ERR_IO, "cannot write the output");
    if (st < 0) console_error(console.verbose);
    fire_free(words);
    fire_str_fini(&gpus);
    return exit_code(st);
}
