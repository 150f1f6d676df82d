/* firecaffe version - prints the version, the compiler and the libraries. */
#include <stdio.h>
#include "command.h"
#include "comm/transport/cluster.h"
#include "runlog/libraries.h"

static fire_status_t run(int narg, const char *const *arg)
{
    char text[128], modules[64], mpi[128] = "";

    (void)narg, (void)arg;
    fire_cluster_modules(modules, sizeof(modules));
    if (modules[0] != '\0') snprintf(mpi, sizeof(mpi), "modules for %s", modules);
    printf("firecaffe %s\nbuilt with: ", FIRE_VERSION);
    for (int i = 0; fire_library_at(i, mpi, text, sizeof(text)); i++)
        printf("%s%s", i > 0 ? ", " : "", text);
    putchar('\n');
    return FIRE_OK;
}

const command_t command_version = {
    .name      = "version",
    .arguments = "",
    .summary   = "show the version, the compiler and the libraries",
    .help = "Prints the version, then the compiler and the libraries, with theirs.\n",
    .run  = run,
};
