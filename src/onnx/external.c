/* external.c - see external.h. A model file comes from anywhere: what it names is read
 * only below its own folder, also behind symbolic links. */
#include "onnx/external.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static const char *entry(const Onnx__TensorProto *head, const char *key)
{
    for (size_t i = 0; i < head->n_external_data; i++) {
        const Onnx__StringStringEntryProto *e = head->external_data[i];

        if (e->key != NULL && e->value != NULL && strcmp(e->key, key) == 0)
            return e->value;
    }
    return NULL;
}

static fire_status_t number(const Onnx__TensorProto *head, const char *key,
                            uint64_t otherwise, uint64_t *value_p)
{
    const char *text = entry(head, key);
    uint64_t    v    = 0;

    *value_p = otherwise;
    if (text == NULL) return FIRE_OK;
    for (const char *c = text; *c != '\0' || c == text; c++) {
        if (*c < '0' || *c > '9' || v > (UINT64_MAX - 9) / 10)
            return FIRE_FAIL(FIRE_ERR_PARSE, "external data: %s \"%.40s\" is no number",
                             key, text);
        v = v * 10 + (uint64_t)(*c - '0');
    }
    *value_p = v;
    return FIRE_OK;
}

/* Is any part of the path ".."? */
static bool climbs(const char *path)
{
    for (const char *at = path; at != NULL; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0')) return true;
    }
    return false;
}

/* FOLDER/LOCATION, if it really lies in the folder. */
static fire_status_t find(const char *folder, const char *location, char **path_p)
{
    char   root[PATH_MAX], real[PATH_MAX], *path;
    size_t n;
    bool   inside;

    if (location[0] == '\0' || location[0] == '/' || climbs(location))
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "external data \"%.200s\" is refused: the name leads out of "
                         "the model's folder",
                         location);
    FIRE_TRY(fire_asprintf(&path, "%s/%s", folder, location));
    if (realpath(folder, root) == NULL || realpath(path, real) == NULL) {
        fire_free(path);
        return FIRE_FAIL(FIRE_ERR_IO,
                         "external data \"%.200s\" is missing in the model's folder "
                         "\"%.200s\"",
                         location, folder);
    }
    n      = strcmp(root, "/") == 0 ? 0 : strlen(root);
    inside = strncmp(real, root, n) == 0 && real[n] == '/';
    if (!inside) {
        fire_free(path);
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "external data \"%.200s\" is refused: it is a link out of the "
                         "model's folder",
                         location);
    }
    *path_p = path;
    return FIRE_OK;
}

fire_status_t fire_onnx_external(fire_onnx_model_t *m, const Onnx__TensorProto *head,
                                 const char *folder, uint64_t bytes,
                                 fire_onnx_tensor_t *t)
{
    const char             *location = entry(head, "location");
    const fire_onnx_file_t *file;
    char                   *path;
    uint64_t                offset, length;
    fire_status_t           st;

    if (location == NULL || folder == NULL)
        return FIRE_FAIL(FIRE_ERR_PARSE, "external data without a location");
    FIRE_TRY(number(head, "offset", 0, &offset));
    FIRE_TRY(number(head, "length", bytes, &length));
    if (length != bytes)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "external data: %llu bytes for a tensor of %llu",
                         (unsigned long long)length, (unsigned long long)bytes);
    FIRE_TRY(find(folder, location, &path));
    st = fire_onnx_map(m, path, &file);
    fire_free(path);
    FIRE_TRY(st);
    if (offset > file->n || bytes > file->n - offset)
        return FIRE_FAIL(
            FIRE_ERR_PARSE,
            "external data \"%.200s\" has %zu bytes, %llu from %llu on are "
            "needed",
            location, file->n, (unsigned long long)bytes, (unsigned long long)offset);
    t->data = (const char *)file->bytes + offset;
    return FIRE_OK;
}
