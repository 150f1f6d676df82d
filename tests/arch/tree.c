#include "tree.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

int tree_complaints;

void tree_complain(const char *path, int number, const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "    %s:%d: ", path, number);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    tree_complaints++;
}

static bool has_ext(const char *name, const char *exts)
{
    const char *dot = strrchr(name, '.');
    size_t      n;

    if (exts[0] == '\0') return true;
    if (dot == NULL) return false;
    n = strlen(dot + 1);
    for (const char *e = exts; *e != '\0'; e += strcspn(e, " "), e += *e == ' ')
        if (strcspn(e, " ") == n && strncmp(e, dot + 1, n) == 0) return true;
    return false;
}

static void file_lines(const char *path, line_fn_t each)
{
    FILE  *f    = fopen(test_source(path), "r");
    char  *line = NULL;
    size_t cap  = 0;

    CHECK(f != NULL);
    for (int number = 1; getline(&line, &cap, f) >= 0; number++)
        each(path, number, line);
    free(line);
    fclose(f);
}

/* What is made, not written: builds, and whatever starts with a dot. */
static bool is_made(const char *name)
{
    return name[0] == '.' || strncmp(name, "build", 5) == 0 ||
           strcmp(name, "dist") == 0 || strcmp(name, "__pycache__") == 0;
}

int tree_lines(const char *folder, const char *exts, line_fn_t each)
{
    DIR           *dir = opendir(test_source(folder));
    struct dirent *entry;
    int            files = 0;

    CHECK(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        char        path[1024];
        struct stat st;

        if (is_made(entry->d_name)) continue;
        snprintf(path, sizeof(path), "%s%s%s", strcmp(folder, ".") == 0 ? "" : folder,
                 strcmp(folder, ".") == 0 ? "" : "/", entry->d_name);
        CHECK(lstat(test_source(path), &st) == 0);
        if (S_ISDIR(st.st_mode)) {
            files += tree_lines(path, exts, each);
        } else if (S_ISREG(st.st_mode) && has_ext(entry->d_name, exts)) {
            file_lines(path, each);
            files++;
        }
    }
    closedir(dir);
    return files;
}
