/* Event files, read back byte by byte. */
#include <glob.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sha256.h"
#include "test.h"
#include "runlog/tensorboard.h"

/* The only file of the directory, whole. */
static char *read_events(const char *dir, size_t *n)
{
    char   pattern[1024], *bytes;
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/events.out.tfevents.*", dir);
    CHECK(glob(pattern, 0, NULL, &found) == 0);
    CHECK_EQ(found.gl_pathc, 1);
    CHECK_OK(fire_file_read(found.gl_pathv[0], &bytes, n));
    globfree(&found);
    return bytes;
}

static uint64_t little_endian(const char *bytes, int n)
{
    uint64_t value = 0;

    for (int i = n - 1; i >= 0; i--)
        value = value << 8 | (uint8_t)bytes[i];
    return value;
}

static bool crc_fits(const char *bytes, size_t n, const char *crc)
{
    uint32_t c = fire_crc32c(0, bytes, n);

    return (uint32_t)((c >> 15 | c << 17) + 0xa282ead8u) ==
           (uint32_t)little_endian(crc, 4);
}

/* The message of a record; checks its frame and moves on to the next. */
static const char *next_record(const char **at, size_t *n_p)
{
    const char *message = *at + 12;

    *n_p = little_endian(*at, 8);
    CHECK(crc_fits(*at, 8, *at + 8));
    CHECK(crc_fits(message, *n_p, message + *n_p));
    *at = message + *n_p + 4;
    return message;
}

static const char *events_dir(void)
{
    static char dir[1024];

    snprintf(dir, sizeof(dir), "%s/board/run", test_tmpdir());
    return dir;
}

TEST(an_event_file_holds_framed_messages_behind_a_version)
{
    /* wall_time 1.5, step 300, summary { value { tag "a/b" simple_value -2 } } */
    static const char want[] =
        "\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x2a\x0c\x0a\x0a\x0a"
        "\x03"
        "a/b\x15\0\0\0\xc0";
    fire_tensorboard_t *e;
    size_t              n, length;
    char               *bytes;
    const char         *at, *message;

    CHECK_OK(fire_tensorboard_open(events_dir(), &e));
    CHECK_OK(fire_tensorboard_add(e, "a/b", 300, 1.5, -2));
    CHECK_OK(fire_tensorboard_close(e));
    at = bytes = read_events(events_dir(), &n);
    message    = next_record(&at, &length);
    CHECK_EQ(length, 9 + 2 + 13);
    CHECK(memcmp(message + 9,
                 "\x1a\x0d"
                 "brain.Event:2",
                 15) == 0);
    message = next_record(&at, &length);
    CHECK_EQ(length, sizeof(want) - 1);
    CHECK(memcmp(message, want, length) == 0);
    CHECK(at == bytes + n);
    fire_free(bytes);
}

TEST(events_reach_the_file_when_flushed)
{
    fire_tensorboard_t *e;
    size_t              before, after;

    CHECK_OK(fire_tensorboard_open(events_dir(), &e));
    CHECK_OK(fire_tensorboard_add(e, "x", 0, 0, 1));
    fire_free(read_events(events_dir(), &before));
    CHECK_OK(fire_tensorboard_flush(e));
    fire_free(read_events(events_dir(), &after));
    CHECK(after > before);
    CHECK_OK(fire_tensorboard_close(e));
}

TEST(a_directory_that_cannot_be_made_is_named)
{
    fire_tensorboard_t *e;

    CHECK_FAILS(fire_tensorboard_open("/dev/null/board", &e), FIRE_ERR_IO,
                "\"/dev/null\": ");
}
