#include "runlog/tensorboard.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text/append.h"
#include "base/file.h"
#include "base/sha256.h"
#include "train/profile.h"

struct fire_tensorboard {
    fire_append_t *file;
};

/* ---- protobuf's wire format, as much as an Event needs:
 *   Event   { double wall_time = 1; int64 step = 2; string file_version = 3;
 *             Summary summary = 5; }
 *   Summary { repeated Value value = 1; }
 *   Value   { string tag = 1; float simple_value = 2; } ---- */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct message {
    uint8_t byte[512];
    size_t  n;
} message_t;

static void put(message_t *m, const void *bytes, size_t n)
{
    if (n > sizeof(m->byte) - m->n) n = sizeof(m->byte) - m->n;
    memcpy(m->byte + m->n, bytes, n);
    m->n += n;
}

static void put_little_endian(message_t *m, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        put(m, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

static void put_varint(message_t *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put(m, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    put(m, &(uint8_t){(uint8_t)value}, 1);
}

static void put_key(message_t *m, unsigned field, unsigned wire_type)
{
    put_varint(m, field << 3 | wire_type);
}

static void put_bytes(message_t *m, unsigned field, const void *bytes, size_t n)
{
    put_key(m, field, BYTES);
    put_varint(m, n);
    put(m, bytes, n);
}

static void put_time(message_t *m, double time)
{
    uint64_t bits;

    memcpy(&bits, &time, sizeof(bits));
    put_key(m, 1, FIXED64);
    put_little_endian(m, bits, 8);
}

static void put_value(message_t *event, const char *tag, float value)
{
    enum { TAG_MAX = 200 };
    message_t summary = {.n = 0}, inner = {.n = 0};
    uint32_t  bits;

    memcpy(&bits, &value, sizeof(bits));
    put_bytes(&inner, 1, tag, strnlen(tag, TAG_MAX));
    put_key(&inner, 2, FIXED32);
    put_little_endian(&inner, bits, 4);
    put_bytes(&summary, 1, inner.byte, inner.n);
    put_bytes(event, 5, summary.byte, summary.n);
}

/* ---- framing: length, its checksum, message, its checksum ---- */

/* Checksums are masked, since one of data that hold checksums is weak. */
static uint32_t masked_crc(const void *bytes, size_t n)
{
    uint32_t crc = fire_crc32c(0, bytes, n);

    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static fire_status_t add_record(fire_tensorboard_t *e, const message_t *m)
{
    message_t head = {.n = 0}, tail = {.n = 0};

    put_little_endian(&head, m->n, 8);
    put_little_endian(&head, masked_crc(head.byte, 8), 4);
    put_little_endian(&tail, masked_crc(m->byte, m->n), 4);
    FIRE_TRY(fire_append_add(e->file, head.byte, head.n));
    FIRE_TRY(fire_append_add(e->file, m->byte, m->n));
    return fire_append_add(e->file, tail.byte, tail.n);
}

fire_status_t fire_tensorboard_add(fire_tensorboard_t *e, const char *tag, int64_t iter,
                                   double time, double value)
{
    message_t m = {.n = 0};

    put_time(&m, time);
    put_key(&m, 2, VARINT);
    put_varint(&m, (uint64_t)iter);
    put_value(&m, tag, (float)value);
    return add_record(e, &m);
}

static fire_status_t add_version(fire_tensorboard_t *e)
{
    static const char version[] = "brain.Event:2";
    message_t         m         = {.n = 0};

    put_time(&m, fire_profile_unix_now());
    put_bytes(&m, 3, version, sizeof(version) - 1);
    return add_record(e, &m);
}

/* ---- the file ---- */

fire_status_t fire_tensorboard_flush(fire_tensorboard_t *e)
{
    return fire_append_flush(e->file);
}

static fire_status_t open_file(const char *dir, fire_append_t **file_p)
{
    char          host[64] = "localhost", *path;
    fire_status_t st;

    gethostname(host, sizeof(host) - 1);
    FIRE_TRY(fire_asprintf(&path, "%s/events.out.tfevents.%010lld.%s.%ld", dir,
                           (long long)fire_profile_unix_now(), host, (long)getpid()));
    st = fire_append_open(path, false, file_p);
    fire_free(path);
    return st;
}

fire_status_t fire_tensorboard_open(const char *dir, fire_tensorboard_t **events_p)
{
    fire_tensorboard_t *e;
    fire_status_t       st;

    FIRE_TRY(fire_dir_make(dir));
    FIRE_TRY(FIRE_NEW(&e, 1));
    FIRE_TRY_GOTO(st, open_file(dir, &e->file), err_events);
    FIRE_TRY_GOTO(st, add_version(e), err_events);
    FIRE_TRY_GOTO(st, fire_tensorboard_flush(e), err_events);
    *events_p = e;
    return FIRE_OK;

err_events:
    fire_append_close(e->file);
    fire_free(e);
    return st;
}

fire_status_t fire_tensorboard_close(fire_tensorboard_t *e)
{
    fire_status_t st;

    if (e == NULL) return FIRE_OK;
    st = fire_append_close(e->file);
    fire_free(e);
    return st;
}
