/* text_writer.c - prints messages as text, formatted as protobuf's own printer does. */
#include <string.h>
#include "model/text.h"
#include "model/values/field.h"

static fire_status_t print_fields(const ProtobufCMessage *msg, int indent,
                                  fire_str_t *out);

fire_status_t fire_text_print_quoted(const void *bytes, size_t n, fire_str_t *out)
{
    static const char plain[] = "\n\r\t\"'\\", letter[] = "nrt\"'\\";
    const char       *at = bytes;

    FIRE_TRY(fire_str_add(out, "\"", 1));
    for (size_t i = 0; i < n; i++) {
        const char *escape = at[i] != '\0' ? strchr(plain, at[i]) : NULL;

        if (escape != NULL)
            FIRE_TRY(fire_str_printf(out, "\\%c", letter[escape - plain]));
        else if (at[i] >= ' ' && at[i] <= '~')
            FIRE_TRY(fire_str_add(out, &at[i], 1));
        else
            FIRE_TRY(fire_str_printf(out, "\\%03o", (unsigned char)at[i]));
    }
    return fire_str_add(out, "\"", 1);
}

/* The name of the value; its number if the schema has no name for it. */
static fire_status_t print_enum(const fire_field_t *field, int number, fire_str_t *out)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(field->descriptor, number);

    if (value == NULL) return fire_str_printf(out, "%d", number);
    return fire_str_printf(out, "%s", value->name);
}

/* Floats with as many digits as needed to read the same value back. */
static fire_status_t print_number(const fire_field_t *field, const void *value,
                                  fire_str_t *out)
{
    char digits[FIRE_NUMBER_MAX];

    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
        fire_number_print_float(*(const float *)value, digits);
        return fire_str_printf(out, "%s", digits);
    case PROTOBUF_C_TYPE_DOUBLE:
        fire_number_print(*(const double *)value, digits);
        return fire_str_printf(out, "%s", digits);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return fire_str_printf(out, "%lld", (long long)*(const int64_t *)value);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return fire_str_printf(out, "%llu",
                               (unsigned long long)*(const uint64_t *)value);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return fire_str_printf(out, "%u", *(const uint32_t *)value);
    default:
        return fire_str_printf(out, "%d", *(const int32_t *)value);
    }
}

/* Protobuf-c stores a bool as int. */
static fire_status_t print_scalar(const fire_field_t *field, const void *value,
                                  fire_str_t *out)
{
    const ProtobufCBinaryData *bytes = value;

    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return fire_text_print_quoted(*(char *const *)value,
                                      strlen(*(char *const *)value), out);
    case PROTOBUF_C_TYPE_BYTES:
        return fire_text_print_quoted(bytes->data, bytes->len, out);
    case PROTOBUF_C_TYPE_BOOL:
        return fire_str_printf(out, *(const int *)value ? "true" : "false");
    case PROTOBUF_C_TYPE_ENUM:
        return print_enum(field, *(const int *)value, out);
    default:
        return print_number(field, value, out);
    }
}

/* "name: value", or "name {" and the fields of a message. */
static fire_status_t print_value(const fire_field_t *field, const void *value,
                                 int indent, fire_str_t *out)
{
    FIRE_TRY(fire_str_printf(out, "%*s%s", indent, "", field->name));
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        FIRE_TRY(fire_str_printf(out, " {\n"));
        FIRE_TRY(print_fields(*(ProtobufCMessage *const *)value, indent + 2, out));
        return fire_str_printf(out, "%*s}\n", indent, "");
    }
    FIRE_TRY(fire_str_printf(out, ": "));
    FIRE_TRY(print_scalar(field, value, out));
    return fire_str_printf(out, "\n");
}

/* Settings of a plug-in layer as they are written in a prototxt, where that is
 * possible. */
static fire_status_t print_plugin(const ProtobufCMessage *layer,
                                  const fire_field_t *field, const void *value,
                                  int indent, fire_str_t *out)
{
    bool done;

    FIRE_TRY(fire_plugin_field_print((const Caffe__LayerParameter *)layer,
                                     *(Caffe__PluginParameter *const *)value, indent,
                                     out, &done));
    return done ? FIRE_OK : print_value(field, value, indent, out);
}

/* Print all set fields; a descriptor lists them by number. */
static fire_status_t print_fields(const ProtobufCMessage *msg, int indent,
                                  fire_str_t *out)
{
    const ProtobufCMessageDescriptor *desc = msg->descriptor;

    for (unsigned f = 0; f < desc->n_fields; f++) {
        const fire_field_t *field = &desc->fields[f];
        size_t              n     = fire_message_count(msg, field);
        bool plugin = field->descriptor == &caffe__plugin_parameter__descriptor;

        for (size_t i = 0; i < n; i++) {
            const void *value = fire_message_at(msg, field, i);

            FIRE_TRY(plugin ? print_plugin(msg, field, value, indent, out)
                            : print_value(field, value, indent, out));
        }
    }
    return FIRE_OK;
}

fire_status_t fire_text_print(const void *msg, fire_str_t *out)
{
    FIRE_TRY(fire_str_add(out, "",
                          0)); /* out->text is not NULL, even for an empty message */
    return print_fields(msg, 0, out);
}
