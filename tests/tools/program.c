/* program.c - starts the program with its output in memory. */
#include "program.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

outcome_t ran;

static char *slurp(const char *path)
{
    FILE  *f    = fopen(path, "rb");
    char  *text = NULL;
    size_t n    = 0, got;

    if (f == NULL) test_fail(__FILE__, __LINE__, "cannot read %s", path);
    do {
        text = realloc(text, n + 65536);
        got  = fread(text + n, 1, 65535, f);
        n += got;
    } while (got > 0);
    text[n] = '\0';
    fclose(f);
    return text;
}

int sh(const char *format, ...)
{
    char    command[8192], script[8192 + 2048];
    va_list ap;
    int     status;

    va_start(ap, format);
    vsnprintf(command, sizeof(command), format, ap);
    va_end(ap);
    /* Open MPI's mpirun may hang in its own clean-up: it must not take us with it. And
     * its plug-ins leak, and are gone when the leak checker asks for their names. */
    snprintf(script, sizeof(script),
             "cd '%s' && exec >.out 2>.err </dev/null; "
             "PATH='%s':'%s/tools':$PATH SRC='%s'; export PATH SRC; "
             "mpirun() { ASAN_OPTIONS=detect_leaks=0 timeout -k 5 200 mpirun \"$@\"; "
             "}\n%s\n",
             test_tmpdir(), FIRE_BUILD_DIR, FIRE_BUILD_DIR, FIRE_SOURCE_DIR, command);
    status = system(script);
    free(ran.out);
    free(ran.err);
    ran.out  = slurp(test_path(".out"));
    ran.err  = slurp(test_path(".err"));
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ran.code;
}

bool can_mpirun(void)
{
    return sh("kind=MPICH; mpirun --version 2>&1 | grep -q 'Open MPI' && kind='Open "
              "MPI'; "
              "command -v mpirun && firecaffe version | grep \"modules for.*$kind\"") ==
           0;
}

void check_one_error(const char *file, int line, const char *text)
{
    static const char head[] = "firecaffe: error: ";
    const char       *first  = strstr(ran.err, head);

    if (ran.code != 1)
        test_fail(file, line, "exit status %d, not 1\n%s", ran.code, ran.err);
    if (first == NULL || (first != ran.err && first[-1] != '\n'))
        test_fail(file, line, "no error line in:\n%s", ran.err);
    if (strchr(first, '\n') != first + strlen(first) - 1)
        test_fail(file, line, "more than one line:\n%s", first);
    if (strstr(first, text) == NULL)
        test_fail(file, line, "\"%s\" is not in:\n%s", text, first);
}

void write_file(const char *name, const char *text)
{
    FILE *f = fopen(test_path(name), "wb");

    CHECK(f != NULL);
    CHECK(fwrite(text, 1, strlen(text), f) == strlen(text));
    CHECK(fclose(f) == 0);
}

char *read_file(const char *name)
{
    static char *kept[8];
    static int   turn;
    char       **slot = &kept[turn++ % 8];

    free(*slot);
    *slot = slurp(test_path(name));
    return *slot;
}

bool file_exists(const char *name)
{
    return access(test_path(name), F_OK) == 0;
}
