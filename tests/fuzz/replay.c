/* replay.c - runs a fuzz target over the files of a folder, so that what a fuzzer
 * once found stays found in every build. Usage: program FOLDER */
#include <dirent.h>
#include <stdio.h>
#include "base/alloc.h"
#include "base/file.h"
#include "fuzz.h"

int main(int argc, char **argv)
{
    DIR           *dir = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *entry;
    int            files = 0;

    if (dir == NULL) return fprintf(stderr, "usage: %s FOLDER\n", argv[0]), 1;
    while ((entry = readdir(dir)) != NULL) {
        char   path[4096], *bytes;
        size_t n;

        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        if (fire_file_read(path, &bytes, &n) < 0)
            return fprintf(stderr, "%s\n", fire_last_error()), 1;
        LLVMFuzzerTestOneInput((const uint8_t *)bytes, n);
        fire_free(bytes);
        files++;
    }
    closedir(dir);
    printf("%d inputs\n", files);
    return files == 0;
}
