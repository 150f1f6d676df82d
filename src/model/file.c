/* file.c - loads any message from a file and saves it, in text or binary form. */
#include <limits.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "model/forks/strip.h"
#include "model/load.h"
#include "model/text.h"

/* An empty file would parse as a message without fields; it is an error instead. */
static fire_status_t read_nonempty(const char *path, char **bytes_p, size_t *n_p)
{
    FIRE_TRY(fire_file_read(path, bytes_p, n_p));
    if (*n_p > 0) return FIRE_OK;
    fire_free(*bytes_p);
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s: the file is empty", path);
}

/* Once more without the settings of its layers, which may be a fork's; `bytes` change. */
static fire_status_t unpack_foreign_net(char *bytes, size_t n, const char *path,
                                        ProtobufCMessage **msg_p)
{
    if (!fire_foreign_strip(bytes, n, &n))
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: no net in binary form, or damaged", path);
    FIRE_TRY(
        fire_message_unpack(&caffe__net_parameter__descriptor, bytes, n, path, msg_p));
    FIRE_LOG(
        WARNING,
        "%s: settings of layers are not those of Caffe, a fork seems to have written "
        "it; only names and weights are read",
        path);
    return FIRE_OK;
}

fire_status_t fire_message_load_binary(const char                       *path,
                                       const ProtobufCMessageDescriptor *desc,
                                       ProtobufCMessage                **msg_p)
{
    char         *bytes = NULL;
    size_t        n     = 0;
    fire_status_t st;

    FIRE_TRY(read_nonempty(path, &bytes, &n));
    st = fire_message_unpack(desc, bytes, n, path, msg_p);
    if (st == FIRE_ERR_PARSE && desc == &caffe__net_parameter__descriptor &&
        unpack_foreign_net(bytes, n, path, msg_p) == FIRE_OK)
        st = FIRE_OK;
    fire_free(bytes);
    return st;
}

fire_status_t fire_message_load_text(const char                       *path,
                                     const ProtobufCMessageDescriptor *desc,
                                     ProtobufCMessage                **msg_p)
{
    char         *text = NULL;
    size_t        n    = 0;
    fire_status_t st;

    FIRE_TRY(read_nonempty(path, &text, &n));
    st = fire_text_parse(text, n, path, desc, msg_p);
    fire_free(text);
    return st;
}

fire_status_t fire_message_save_text(const char *path, const void *msg)
{
    fire_str_t    text = {0};
    fire_status_t st   = fire_text_print(msg, &text);

    if (st == FIRE_OK) st = fire_file_write(path, text.text, (size_t)text.n);
    fire_str_fini(&text);
    return st;
}

/* Output of protobuf-c, which comes in pieces; after a failed write the rest is
 * dropped. */
typedef struct packer {
    ProtobufCBuffer     base;
    fire_file_writer_t *file;
    fire_status_t       status;
} packer_t;

/* The callback of protobuf-c. */
static void pack_piece(ProtobufCBuffer *buffer, size_t n, const uint8_t *bytes)
{
    packer_t *p = (packer_t *)buffer;

    if (p->status == FIRE_OK) p->status = fire_file_writer_write(p->file, bytes, n);
}

/* Protobuf limits a message inside of a file to 2^31 - 1 bytes; the largest one in a
 * net is a layer. The file itself may be larger, but Caffe cannot read it then. */
static fire_status_t check_size(const char *path, const ProtobufCMessage *msg)
{
    const ProtobufCMessageDescriptor *desc = msg->descriptor;

    if (protobuf_c_message_get_packed_size(msg) <= INT_MAX) return FIRE_OK;
    for (unsigned f = 0; f < desc->n_fields; f++) {
        const fire_field_t *field = &desc->fields[f];
        size_t              n     = fire_message_count(msg, field);

        for (size_t i = 0; field->type == PROTOBUF_C_TYPE_MESSAGE && i < n; i++) {
            ProtobufCMessage *sub =
                *(ProtobufCMessage **)fire_message_at(msg, field, i);

            if (protobuf_c_message_get_packed_size(sub) > INT_MAX)
                return FIRE_FAIL(
                    FIRE_ERR_UNSUPPORTED,
                    "cannot write \"%s\": one %s has more than the 2 GB that "
                    "protobuf allows; use snapshot_format: HDF5",
                    path, sub->descriptor->short_name);
        }
    }
    FIRE_LOG(WARNING,
             "%s is larger than 2 GB: Caffe itself will not read it; "
             "snapshot_format: HDF5 has no such limit",
             path);
    return FIRE_OK;
}

/* Written piece by piece to a temporary file, without a copy of the whole message. */
static fire_status_t save_binary(const char *path, const void *msg, bool sealed)
{
    packer_t p = {{pack_piece}, NULL, FIRE_OK};

    FIRE_TRY(check_size(path, msg));
    FIRE_TRY(fire_file_writer_open(path, &p.file));
    if (sealed) fire_file_writer_seal(p.file);
    protobuf_c_message_pack_to_buffer(msg, &p.base);
    if (p.status == FIRE_OK) return fire_file_writer_commit(p.file);
    fire_file_writer_abort(p.file);
    return p.status;
}

fire_status_t fire_message_save_binary(const char *path, const void *msg)
{
    return save_binary(path, msg, false);
}

fire_status_t fire_message_save_sealed(const char *path, const void *msg)
{
    return save_binary(path, msg, true);
}
