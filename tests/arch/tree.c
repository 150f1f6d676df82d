/* tree.c - files in the order in which folders list them. */
#include "tree.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Folders that are made, not written. */
static bool is_made(const char *folder)
{
    return strncmp(folder, "build", 5) == 0 || strcmp(folder, "dist") == 0 ||
           strcmp(folder, "__pycache__") == 0;
}

int tree_files(const char *folder, const char *exts, file_fn_t each)
{
    DIR           *dir = opendir(test_source(folder));
    struct dirent *entry;
    int            files = 0;

    CHECK(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        char        path[1024];
        struct stat st;

        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof(path), "%s%s%s", strcmp(folder, ".") == 0 ? "" : folder,
                 strcmp(folder, ".") == 0 ? "" : "/", entry->d_name);
        CHECK(lstat(test_source(path), &st) == 0);
        if (S_ISDIR(st.st_mode)) {
            if (is_made(entry->d_name)) continue;
            files += tree_files(path, exts, each);
        } else if (S_ISREG(st.st_mode) && has_ext(entry->d_name, exts)) {
            each(path);
            files++;
        }
    }
    closedir(dir);
    return files;
}

char *tree_read(const char *path)
{
    FILE  *f    = fopen(test_source(path), "r");
    char  *text = NULL;
    size_t cap  = 0;

    CHECK(f != NULL);
    if (getdelim(&text, &cap, '\0', f) < 0) {
        text = realloc(text, 1);
        CHECK(text != NULL);
        text[0] = '\0';
    }
    fclose(f);
    return text;
}

void tree_file_lines(const char *path, line_fn_t each)
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

static line_fn_t line_fn;

static void lines_of_one(const char *path)
{
    tree_file_lines(path, line_fn);
}

int tree_lines(const char *folder, const char *exts, line_fn_t each)
{
    line_fn = each;
    return tree_files(folder, exts, lines_of_one);
}

bool tree_exists(const char *path)
{
    return access(test_source(path), F_OK) == 0;
}
