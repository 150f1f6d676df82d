/* reader.c - reads a model: walks through the mapped file, takes nodes apart as messages
 * and leaves values where they are. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "model/message.h"
#include "onnx/external.h"
#include "onnx/wire.h"

/* Numbers of fields of ModelProto and GraphProto. */
enum { MODEL_GRAPH = 7, OPSET_IMPORT = 8, FUNCTIONS = 25 };
enum { NODE = 1, NAME = 2, INITIALIZER = 5, INPUT = 11, OUTPUT = 12, SPARSE = 15 };

typedef struct input {
    fire_onnx_model_t *m;
    const char        *folder; /* where external data may be; NULL: nowhere */
} input_t;

fire_status_t fire_onnx_map(fire_onnx_model_t *m, const char *path,
                            const fire_onnx_file_t **file_p)
{
    fire_onnx_file_t f = {0};
    struct stat      info;
    int              fd;

    for (int64_t i = 0; i < m->nfile; i++)
        if (strcmp(m->file[i].path, path) == 0) {
            *file_p = &m->file[i];
            return FIRE_OK;
        }
    /* Opening a pipe would wait for its other end. */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return FIRE_FAIL(FIRE_ERR_IO, "cannot map \"%s\": it is no regular file", path);
    FIRE_TRY(fire_file_check(path));
    FIRE_TRY(fire_grow(&m->file, &m->file_cap, m->nfile + 1, sizeof(*m->file)));
    FIRE_TRY(fire_strdup(path, &f.path));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        f.n     = (size_t)info.st_size;
        f.bytes = f.n > 0 ? mmap(NULL, f.n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
        if (f.n > 0 && f.bytes == MAP_FAILED) f.n = SIZE_MAX;
    } else {
        f.n = SIZE_MAX;
    }
    if (fd >= 0) close(fd);
    if (f.n == SIZE_MAX) {
        fire_free(f.path);
        return FIRE_FAIL(FIRE_ERR_IO, "cannot map \"%s\": %s", path, strerror(errno));
    }
    m->file[m->nfile] = f;
    *file_p           = &m->file[m->nfile++];
    return FIRE_OK;
}

static fire_status_t expect_bytes(const fire_wire_field_t *f)
{
    if (f->kind == FIRE_WIRE_BYTES) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_PARSE, "field %u has the wrong type: no ONNX model",
                     f->number);
}

static fire_status_t add_value(Onnx__ValueInfoProto ***list, int64_t *cap, int64_t *n,
                               const fire_wire_field_t *f)
{
    ProtobufCMessage *v;

    FIRE_TRY(fire_grow(list, cap, *n + 1, sizeof(**list)));
    FIRE_TRY(fire_message_unpack(&onnx__value_info_proto__descriptor, f->bytes, f->n,
                                 "input or output", &v));
    (*list)[(*n)++] = (Onnx__ValueInfoProto *)v;
    return FIRE_OK;
}

static fire_status_t add_node(fire_onnx_model_t *m, const fire_wire_field_t *f)
{
    ProtobufCMessage *node;

    FIRE_TRY(fire_grow(&m->node, &m->node_cap, m->nnode + 1, sizeof(*m->node)));
    FIRE_TRY(fire_message_unpack(&onnx__node_proto__descriptor, f->bytes, f->n, "node",
                                 &node));
    m->node[m->nnode++] = (Onnx__NodeProto *)node;
    return FIRE_OK;
}

static fire_status_t add_initializer(const input_t *in, const fire_wire_field_t *f)
{
    fire_onnx_tensor_t t;

    FIRE_TRY(fire_onnx_tensor_parse(in->m, f->bytes, f->n, in->folder, &t));
    return fire_onnx_add_tensor(in->m, &t);
}

static fire_status_t set_name(fire_onnx_model_t *m, const fire_wire_field_t *f)
{
    fire_free(m->name);
    m->name = NULL;
    return fire_asprintf(&m->name, "%.*s", (int)(f->n < 1000 ? f->n : 1000),
                         (const char *)f->bytes);
}

static fire_status_t read_graph(const input_t *in, const fire_wire_field_t *graph)
{
    fire_onnx_model_t *m = in->m;
    fire_wire_t        w = {graph->bytes, graph->bytes + graph->n};
    fire_wire_field_t  f;
    bool               more;

    for (;;) {
        FIRE_TRY(fire_wire_next(&w, &f, &more));
        if (!more) return FIRE_OK;
        if (f.number <= SPARSE && f.number != 10) FIRE_TRY(expect_bytes(&f));
        switch (f.number) {
        case NODE:
            FIRE_TRY(add_node(m, &f));
            break;
        case NAME:
            FIRE_TRY(set_name(m, &f));
            break;
        case INITIALIZER:
            FIRE_TRY(add_initializer(in, &f));
            break;
        case INPUT:
            FIRE_TRY(add_value(&m->input, &m->input_cap, &m->ninput, &f));
            break;
        case OUTPUT:
            FIRE_TRY(add_value(&m->output, &m->output_cap, &m->noutput, &f));
            break;
        case SPARSE:
            return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                             "it has sparse tensors, which are not supported");
        default:
            break;
        }
    }
}

static fire_status_t read_opset(fire_onnx_model_t *m, const fire_wire_field_t *f)
{
    ProtobufCMessage         *msg;
    Onnx__OperatorSetIdProto *id;

    FIRE_TRY(fire_message_unpack(&onnx__operator_set_id_proto__descriptor, f->bytes,
                                 f->n, "opset_import", &msg));
    id = (Onnx__OperatorSetIdProto *)msg;
    if (id->domain == NULL || id->domain[0] == '\0' ||
        strcmp(id->domain, "ai.onnx") == 0)
        m->opset = id->version;
    m->custom |= id->domain != NULL && strcmp(id->domain, "caffe") == 0;
    fire_message_free(msg);
    return FIRE_OK;
}

static fire_status_t read_model(const input_t *in, fire_wire_t w)
{
    fire_wire_field_t f, graph = {0};
    bool              more;

    for (;;) {
        FIRE_TRY(fire_wire_next(&w, &f, &more));
        if (!more) break;
        if (f.number == MODEL_GRAPH || f.number == OPSET_IMPORT ||
            f.number == FUNCTIONS)
            FIRE_TRY(expect_bytes(&f));
        if (f.number == MODEL_GRAPH) graph = f;
        if (f.number == OPSET_IMPORT) FIRE_TRY(read_opset(in->m, &f));
        in->m->nfunction += f.number == FUNCTIONS;
    }
    if (graph.bytes == NULL)
        return FIRE_FAIL(FIRE_ERR_PARSE, "it has no graph: no ONNX model");
    return read_graph(in, &graph);
}

static fire_status_t parse(const void *bytes, size_t n, const char *file,
                           const char *folder, fire_onnx_model_t *m)
{
    const input_t in = {m, folder};
    fire_wire_t   w  = {bytes, (const uint8_t *)bytes + n};
    fire_status_t st = read_model(&in, w);

    if (st >= 0 && m->name == NULL) st = fire_strdup("", &m->name);
    return st < 0 ? fire_error_prefix(st, "%s", file) : FIRE_OK;
}

fire_status_t fire_onnx_parse(const void *bytes, size_t n, const char *file,
                              const char *folder, fire_onnx_model_t **m_p)
{
    fire_onnx_model_t *m;
    fire_status_t      st;

    FIRE_TRY(fire_onnx_model_create(&m));
    st = parse(bytes, n, file, folder, m);
    if (st < 0) {
        fire_onnx_model_destroy(m);
        return st;
    }
    *m_p = m;
    return FIRE_OK;
}

fire_status_t fire_onnx_load(const char *path, fire_onnx_model_t **m_p)
{
    const fire_onnx_file_t *file;
    fire_onnx_model_t      *m;
    char                   *folder = NULL;
    const char             *slash  = strrchr(path, '/');
    fire_status_t           st;

    FIRE_TRY(fire_onnx_model_create(&m));
    st = fire_onnx_map(m, path, &file);
    if (st >= 0)
        st = slash == NULL
                 ? fire_strdup(".", &folder)
                 : fire_asprintf(&folder, "%.*s",
                                 slash == path ? 1 : (int)(slash - path), path);
    if (st >= 0) st = parse(file->bytes, file->n, path, folder, m);
    fire_free(folder);
    if (st < 0) {
        fire_onnx_model_destroy(m);
        return st;
    }
    *m_p = m;
    return FIRE_OK;
}
