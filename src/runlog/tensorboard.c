/* tensorboard.c - writes event files by hand: they hold little enough that neither
 * TensorFlow nor its message definitions are needed. */
#include "runlog/tensorboard.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text/append.h"
#include "base/file.h"
#include "base/sha256.h"

struct fire_tensorboard {
    fire_append_t *file;
};

/* ---- protobuf's wire format, as much of it as an Event needs; what does not fit into
 * the buffer is cut off:
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

/* Seven bits per byte, low ones first; the high bit says that more follow. */
static void put_varint(message_t *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put(m, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    put(m, &(uint8_t){(uint8_t)value}, 1);
}

/* A field is preceded by its number and how it is encoded. */
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

/* ---- records: length (8 bytes), CRC of it (4), message, CRC of it (4) ---- */

/* TFRecord's CRC32C is masked: the CRC of a string that contains CRCs is a poor one. */
static uint32_t masked_crc(const void *bytes, size_t n)
{
    uint32_t crc = fire_crc32c(0, bytes, n);

    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static fire_status_t add_record(fire_tensorboard_t *t, const message_t *m)
{
    message_t head = {.n = 0}, tail = {.n = 0};

    put_little_endian(&head, m->n, 8);
    put_little_endian(&head, masked_crc(head.byte, 8), 4);
    put_little_endian(&tail, masked_crc(m->byte, m->n), 4);
    FIRE_TRY(fire_append_add(t->file, head.byte, head.n));
    FIRE_TRY(fire_append_add(t->file, m->byte, m->n));
    return fire_append_add(t->file, tail.byte, tail.n);
}

fire_status_t fire_tensorboard_add(fire_tensorboard_t *t, const char *tag, int64_t iter,
                                   double time, double value)
{
    message_t m = {.n = 0};

    put_time(&m, time);
    put_key(&m, 2, VARINT);
    put_varint(&m, (uint64_t)iter);
    put_value(&m, tag, (float)value);
    return add_record(t, &m);
}

static fire_status_t add_version(fire_tensorboard_t *t)
{
    static const char version[] = "brain.Event:2";
    message_t         m         = {.n = 0};

    put_time(&m, fire_clock_unix());
    put_bytes(&m, 3, version, sizeof(version) - 1);
    return add_record(t, &m);
}

/* ---- the file ---- */

fire_status_t fire_tensorboard_flush(fire_tensorboard_t *t)
{
    return fire_append_flush(t->file);
}

static fire_status_t open_file(const char *dir, fire_append_t **file_p)
{
    char          host[64] = "localhost", *path;
    fire_status_t st;

    gethostname(host, sizeof(host) - 1);
    FIRE_TRY(fire_asprintf(&path, "%s/events.out.tfevents.%010lld.%s.%ld", dir,
                           (long long)fire_clock_unix(), host, (long)getpid()));
    st = fire_append_open(path, false, file_p);
    fire_free(path);
    return st;
}

fire_status_t fire_tensorboard_open(const char *dir, fire_tensorboard_t **board_p)
{
    fire_tensorboard_t *t;
    fire_status_t       st;

    FIRE_TRY(fire_dir_make(dir));
    FIRE_TRY(FIRE_NEW(&t, 1));
    FIRE_TRY_GOTO(st, open_file(dir, &t->file), err_board);
    FIRE_TRY_GOTO(st, add_version(t), err_board);
    FIRE_TRY_GOTO(st, fire_tensorboard_flush(t), err_board);
    *board_p = t;
    return FIRE_OK;

err_board:
    fire_append_close(t->file);
    fire_free(t);
    return st;
}

fire_status_t fire_tensorboard_close(fire_tensorboard_t *t)
{
    fire_status_t st;

    if (t == NULL) return FIRE_OK;
    st = fire_append_close(t->file);
    fire_free(t);
    return st;
}
