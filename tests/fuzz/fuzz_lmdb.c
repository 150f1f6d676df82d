/* fuzz_lmdb.c - databases: opened, their first records read. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "data/source/source.h"
#include "fuzz_file.h"

enum { READS = 8 };

/* A directory of this process in shared memory, with lock.mdb and data.mdb. */
static const char *folder(void)
{
    static char path[64];

    if (path[0] == '\0') {
        snprintf(path, sizeof(path), "/dev/shm/fuzz_lmdb.%d", (int)getpid());
        MUST(mkdir(path, 0700) == 0);
    }
    return path;
}

static void remove_all(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/data.mdb", folder());
    unlink(path);
    snprintf(path, sizeof(path), "%s/lock.mdb", folder());
    unlink(path);
    rmdir(folder());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static int     begun;
    fire_source_t *source;
    fire_buffer_t  buffer = {0};
    fire_record_t  record;
    char           path[128], key[FIRE_KEY_TEXT];

    if (begun++ == 0) atexit(remove_all);
    snprintf(path, sizeof(path), "%s/data.mdb", folder());
    MUST(fire_file_write(path, data, n) == FIRE_OK);
    if (fire_source_open("lmdb", folder(), &source) < 0) return 0;
    for (int64_t i = 0; i < source->count && i < READS; i++) {
        source->ops->key(source, i, key);
        IGNORE(fire_source_read(source, i, &buffer, &record));
    }
    fire_buffer_fini(&buffer);
    fire_source_close(source);
    return 0;
}
