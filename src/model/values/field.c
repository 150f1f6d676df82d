/* field.c - reads and prints fields with settings of plug-in layers. */
#include "model/values/field.h"

#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "model/values/values.h"

static const char generic[] = "plugin_param";

static bool has_end(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

bool fire_plugin_field_is_possible(const ProtobufCMessageDescriptor *desc,
                                   const char                       *name)
{
    return desc == &caffe__layer_parameter__descriptor && has_end(name, "_param");
}

/* "my_scale_param" is named like type "MyScale": the same letters and digits. */
static bool is_named_like(const char *name, const char *type)
{
    size_t n = strlen(name) - strlen("_param");

    for (size_t i = 0; i < n; i++) {
        char c = *type;

        if (name[i] == '_') continue;
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != name[i]) return false;
        type++;
    }
    return *type == '\0';
}

/* The i-th field of a layer without "_param", cut to the length of `list`, a char[]. */
static const char *stem_at(const void *list, int i)
{
    const ProtobufCMessageDescriptor *desc = &caffe__layer_parameter__descriptor;
    char                             *stem = (char *)list;
    size_t                            n;

    if ((unsigned)i >= desc->n_fields) return NULL;
    n = strlen(desc->fields[i].name);
    if (has_end(desc->fields[i].name, "_param")) n -= strlen("_param");
    snprintf(stem, FIRE_VALUES_KEY, "%.*s", (int)n, desc->fields[i].name);
    return stem;
}

bool fire_plugin_field_is_doubtful(const Caffe__LayerParameter *layer, const char *name)
{
    char own[FIRE_VALUES_KEY], stem[FIRE_VALUES_KEY];

    if (strcmp(name, generic) == 0) return false;
    if (layer->type != NULL && is_named_like(name, layer->type)) return false;
    snprintf(own, sizeof(own), "%.*s", (int)(strlen(name) - strlen("_param")), name);
    return fire_name_nearest(own, stem_at, stem) != NULL;
}

/* Is it a name that a prototxt can have and Caffe does not? */
static bool is_field_name(const char *name)
{
    size_t n = strlen(name);

    if (n >= FIRE_VALUES_KEY || (name[0] >= '0' && name[0] <= '9')) return false;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return fire_plugin_field_is_possible(&caffe__layer_parameter__descriptor, name) &&
           fire_field_find(&caffe__layer_parameter__descriptor, name) == NULL;
}

/* Append the settings to the layer, in the form that the printer would give them. */
static fire_status_t keep(const fire_values_t *v, const char *name,
                          Caffe__LayerParameter *layer)
{
    Caffe__PluginParameter *p;
    fire_str_t              text = {0};
    fire_status_t           st   = fire_values_print(v, 0, &text);

    if (st >= 0) st = fire_message_add_message(layer, "plugin", &p);
    if (st >= 0) st = fire_message_add_string(p, "field", name);
    if (st >= 0) st = fire_message_add_string(p, "text", text.text);
    fire_str_fini(&text);
    return st;
}

fire_status_t fire_plugin_field_read(fire_lexer_t *lx, const char *name,
                                     Caffe__LayerParameter *layer)
{
    fire_values_t *v;
    bool           open, angle = false;
    fire_status_t  st;

    FIRE_TRY(fire_lexer_accept(lx, ':', &open));
    FIRE_TRY(fire_lexer_accept(lx, '{', &open));
    if (!open) FIRE_TRY(fire_lexer_accept(lx, '<', &angle));
    if (!open && !angle)
        return FIRE_FAIL_AT(lx, "\"%s\" needs { ... }, not \"%.*s\"", name,
                            FIRE_TOKEN_TEXT(lx));
    FIRE_TRY(fire_values_create(name, &v));
    st = fire_values_read(v, lx, angle ? '>' : '}');
    if (st >= 0) st = fire_lexer_next(lx);
    if (st >= 0) st = keep(v, name, layer);
    fire_values_destroy(v);
    return st;
}

/* Append the text as the printer gives it; *readable_p is false if it is not text of
 * keys and values. */
static fire_status_t normalise(const char *text, int indent, fire_str_t *out,
                               bool *readable_p)
{
    fire_values_t *v;
    fire_status_t  st;

    FIRE_TRY(fire_values_create("text", &v));
    st          = fire_values_parse(v, text, strlen(text), "text");
    *readable_p = st >= 0;
    if (st == FIRE_ERR_PARSE)
        st = FIRE_OK;
    else if (st >= 0)
        st = fire_values_print(v, indent, out);
    fire_values_destroy(v);
    return st;
}

fire_status_t fire_plugin_field_print(const Caffe__LayerParameter  *layer,
                                      const Caffe__PluginParameter *p, int indent,
                                      fire_str_t *out, bool *done_p)
{
    fire_str_t    same = {0}, inner = {0};
    bool          readable = false;
    fire_status_t st       = FIRE_OK;

    *done_p = false;
    if (p->field == NULL || p->text == NULL || p->base.n_unknown_fields > 0 ||
        !is_field_name(p->field) || fire_plugin_field_is_doubtful(layer, p->field))
        return FIRE_OK;
    FIRE_TRY_GOTO(st, normalise(p->text, 0, &same, &readable), done);
    if (!readable || strcmp(same.text, p->text) != 0) goto done;
    FIRE_TRY_GOTO(st, normalise(p->text, indent + 2, &inner, &readable), done);
    *done_p = true;
    st = fire_str_printf(out, "%*s%s {\n%s%*s}\n", indent, "", p->field, inner.text,
                         indent, "");
done:
    fire_str_fini(&same);
    fire_str_fini(&inner);
    return st;
}
