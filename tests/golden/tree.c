/* tree.c - folders: copied, because some cases write beside what they read. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "golden.h"

static fire_status_t copy_file(const char *from, const char *to)
{
    fire_status_t st;
    char         *bytes;
    size_t        n;

    FIRE_TRY(fire_file_read(from, &bytes, &n));
    st = fire_file_write(to, bytes, n);
    fire_free(bytes);
    return st;
}

static bool is_self_or_parent(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

fire_status_t golden_copy_tree(const char *from, const char *to)
{
    DIR           *dir = opendir(from);
    struct dirent *entry;
    fire_status_t  st = FIRE_OK;

    if (dir == NULL) return copy_file(from, to);
    mkdir(to, 0777);
    while (st >= 0 && (entry = readdir(dir)) != NULL) {
        char inner_from[4096], inner_to[4096];

        if (is_self_or_parent(entry->d_name)) continue;
        snprintf(inner_from, sizeof(inner_from), "%s/%s", from, entry->d_name);
        snprintf(inner_to, sizeof(inner_to), "%s/%s", to, entry->d_name);
        st = golden_copy_tree(inner_from, inner_to);
    }
    closedir(dir);
    return st;
}

void golden_remove_tree(const char *path)
{
    DIR           *dir;
    struct dirent *entry;

    if (unlink(path) == 0) return; /* a file, or a link, not what it leads to */
    dir = opendir(path);
    if (dir == NULL) return;
    while ((entry = readdir(dir)) != NULL) {
        char inner[4096];

        if (is_self_or_parent(entry->d_name)) continue;
        snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        golden_remove_tree(inner);
    }
    closedir(dir);
    rmdir(path);
}
