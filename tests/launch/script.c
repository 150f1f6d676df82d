/* script.c - see script.h. */
#include "script.h"

#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

const char *launcher(const char *script)
{
    char text[2048];

    snprintf(text, sizeof(text), "#!/bin/sh\necho \"$*\" >>%s\n%s\n",
             test_path("starts"), script);
    CHECK_OK(fire_file_write(test_path("launcher"), text, strlen(text)));
    CHECK(chmod(test_path("launcher"), 0755) == 0);
    return test_path("launcher");
}

fire_launch_t make_launch(const char *command)
{
    static const char *const argv[] = {"firecaffe", "train", "--solver", "s.prototxt"};
    static char              prefix[512];

    snprintf(prefix, sizeof(prefix), "%s", test_path("snap"));
    return (fire_launch_t){.launcher     = command,
                           .workers      = 4,
                           .pause        = 0.01,
                           .prefix       = prefix,
                           .on_interrupt = FIRE_STOP,
                           .on_hangup    = FIRE_SNAPSHOT,
                           .argc         = 4,
                           .argv         = argv};
}

int count_starts(char last[2048])
{
    char  *text, *line, *rest;
    size_t n;
    int    starts = 0;

    CHECK_OK(fire_file_read(test_path("starts"), &text, &n));
    for (line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest), starts++)
        snprintf(last, 2048, "%s", line);
    fire_free(text);
    return starts;
}
