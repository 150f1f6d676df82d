/* fold.c - see fold.h. A node behind a Conv or Gemm that turns its channel c into
 * gain[c] y + shift[c] is dropped; row c of the weights is multiplied by gain[c]. */
#include "onnx/fold.h"

#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "model/message.h"

static fire_onnx_tensor_t *find_tensor(const fire_onnx_model_t *m, const char *name)
{
    for (int64_t i = 0; i < m->ntensor; i++)
        if (strcmp(m->tensor[i].name, name) == 0) return &m->tensor[i];
    return NULL;
}

static const Onnx__AttributeProto *find_attribute(const Onnx__NodeProto *node,
                                                  const char            *name)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (strcmp(node->attribute[i]->name, name) == 0) return node->attribute[i];
    return NULL;
}

/* Number of the only node that reads a value, as its first input; -1: there is none. */
static int64_t only_reader(const fire_onnx_model_t *m, const char *name)
{
    int64_t reader = -1, times = 0;

    for (int64_t i = 0; i < m->noutput; i++)
        if (strcmp(m->output[i]->name, name) == 0) return -1;
    for (int64_t i = 0; i < m->nnode; i++)
        for (size_t k = 0; k < m->node[i]->n_input; k++)
            if (strcmp(m->node[i]->input[k], name) == 0) {
                reader = k == 0 ? i : -1;
                times++;
            }
    return times == 1 ? reader : -1;
}

/* ---- what a node does to the channels ---- */

/* A constant with one number for each of n channels, or one for all, in an output of
 * `axes` axes behind the channels. */
static bool is_per_channel(const fire_onnx_tensor_t *t, int64_t n, int axes)
{
    if (t == NULL || t->type != FIRE_ONNX(FLOAT)) return false;
    return t->count == 1 || (t->count == n && t->ndim == axes + 1 && t->dim[0] == n);
}

static void norm_factors(const fire_onnx_model_t *m, const Onnx__NodeProto *node,
                         int64_t n, double *gain, double *shift)
{
    const Onnx__AttributeProto *eps = find_attribute(node, "epsilon");
    const fire_onnx_tensor_t   *t[4];

    for (int i = 0; i < 4; i++)
        t[i] = find_tensor(m, node->input[1 + i]);
    for (int64_t c = 0; c < n; c++) {
        double deviation = sqrt(fire_onnx_tensor_number(t[3], c) +
                                (eps != NULL ? (double)eps->f : 1e-5));

        gain[c]  = fire_onnx_tensor_number(t[0], c) / deviation;
        shift[c] = fire_onnx_tensor_number(t[1], c) -
                   fire_onnx_tensor_number(t[2], c) * gain[c];
    }
}

/* Fill gain and shift [n]; false: the node is another one. */
static bool factors(const fire_onnx_model_t *m, const Onnx__NodeProto *node, int64_t n,
                    int axes, double *gain, double *shift)
{
    bool                      mul = strcmp(node->op_type, "Mul") == 0;
    const fire_onnx_tensor_t *t;

    if (strcmp(node->op_type, "BatchNormalization") == 0 && node->n_input == 5) {
        for (int i = 1; i < 5; i++) {
            t = find_tensor(m, node->input[i]);
            if (t == NULL || t->count != n || t->type != FIRE_ONNX(FLOAT)) return false;
        }
        norm_factors(m, node, n, gain, shift);
        return true;
    }
    if (!mul && strcmp(node->op_type, "Add") != 0) return false;
    t = node->n_input == 2 ? find_tensor(m, node->input[1]) : NULL;
    if (!is_per_channel(t, n, axes)) return false;
    for (int64_t c = 0; c < n; c++) {
        double v = fire_onnx_tensor_number(t, t->count == 1 ? 0 : c);

        gain[c]  = mul ? v : 1;
        shift[c] = mul ? 0 : v;
    }
    return true;
}

/* ---- changing weights ---- */

/* The tensor with memory of its own under a name of its own, so that it may be changed;
 * other nodes may share the one there is. */
static fire_status_t own_tensor(fire_onnx_model_t *m, const fire_onnx_tensor_t *like,
                                const char *owner, const char *suffix, char **input_p)
{
    fire_onnx_tensor_t t = *like;
    char              *name;
    fire_status_t      st;

    t.name = NULL;
    FIRE_TRY(fire_alloc((size_t)like->count, sizeof(float), "folded weights", &t.own));
    if (like->data != NULL) fire_onnx_tensor_floats(like, t.own);
    t.data = t.own;
    st     = fire_asprintf(&t.name, "%s.%s", owner, suffix);
    if (st >= 0) st = fire_strdup(t.name, &name);
    if (st < 0) {
        fire_onnx_tensor_fini(&t);
        return st;
    }
    st = fire_onnx_add_tensor(m, &t);
    if (st < 0) {
        fire_free(name);
        return st;
    }
    fire_free(*input_p);
    *input_p = name;
    return FIRE_OK;
}

/* Weights and bias of the product as tensors that only it reads. */
static fire_status_t own_weights(fire_onnx_model_t *m, Onnx__NodeProto *node, int64_t n)
{
    const fire_onnx_tensor_t zeros = {
        .type = FIRE_ONNX(FLOAT), .ndim = 1, .dim = {n}, .count = n};

    if (strstr(node->input[1], ".folded_weight") != NULL) return FIRE_OK;
    FIRE_TRY(own_tensor(m, find_tensor(m, node->input[1]), node->name, "folded_weight",
                        &node->input[1]));
    if (node->n_input > 2)
        return own_tensor(m, find_tensor(m, node->input[2]), node->name, "folded_bias",
                          &node->input[2]);
    FIRE_TRY(fire_message_add_string(node, "input", ""));
    return own_tensor(m, &zeros, node->name, "folded_bias", &node->input[2]);
}

/* rows: channel c is row c of the weights; else column c. */
static void multiply(const fire_onnx_tensor_t *w, const fire_onnx_tensor_t *bias,
                     int64_t n, bool rows, const double *gain, const double *shift)
{
    float  *x = w->own, *b = bias->own;
    int64_t inner = w->count / n;

    for (int64_t i = 0; i < w->count; i++)
        x[i] = (float)(x[i] * gain[rows ? i / inner : i % n]);
    for (int64_t c = 0; c < n; c++)
        b[c] = (float)(b[c] * gain[c] + shift[c]);
}

/* ---- the pass ---- */

static void remove_node(fire_onnx_model_t *m, int64_t i)
{
    fire_message_free(m->node[i]);
    memmove(&m->node[i], &m->node[i + 1], (size_t)(--m->nnode - i) * sizeof(*m->node));
}

/* A Conv or Gemm with constant weights: how many channels, and spatial axes, its output
 * has. */
static bool is_product(const fire_onnx_model_t *m, const Onnx__NodeProto *node,
                       int64_t *n_p, int *axes_p, bool *rows_p)
{
    bool                      conv = strcmp(node->op_type, "Conv") == 0;
    const fire_onnx_tensor_t *w;

    if (!conv && strcmp(node->op_type, "Gemm") != 0) return false;
    w = find_tensor(m, node->input[1]);
    if (w == NULL || w->ndim < 2 || w->count == 0) return false;
    *rows_p = conv || find_attribute(node, "transB") != NULL;
    *n_p    = w->dim[*rows_p ? 0 : 1];
    *axes_p = conv ? w->ndim - 2 : 0;
    return true;
}

/* Fold the node behind node i into it, if that can be. */
static fire_status_t fold_one(fire_onnx_model_t *m, int64_t i, bool *folded_p)
{
    Onnx__NodeProto *node = m->node[i], *next;
    int64_t          n, j;
    int              axes;
    bool             rows;
    double          *gain;
    char            *name;
    fire_status_t    st = FIRE_OK;

    *folded_p = false;
    if (!is_product(m, node, &n, &axes, &rows)) return FIRE_OK;
    j = only_reader(m, node->output[0]);
    if (j < 0) return FIRE_OK;
    next = m->node[j];
    FIRE_TRY(FIRE_NEW(&gain, 2 * n));
    *folded_p = factors(m, next, n, axes, gain, gain + n);
    if (*folded_p) st = own_weights(m, node, n);
    if (*folded_p && st >= 0) {
        multiply(find_tensor(m, node->input[1]), find_tensor(m, node->input[2]), n,
                 rows, gain, gain + n);
        name            = node->output[0];
        node->output[0] = next->output[0];
        next->output[0] = name;
        remove_node(m, j);
    }
    fire_free(gain);
    return st;
}

/* Drop tensors that no node reads any more. */
static void drop_tensors(fire_onnx_model_t *m)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < m->ntensor; i++) {
        bool read = false;

        for (int64_t k = 0; k < m->nnode && !read; k++)
            for (size_t a = 0; a < m->node[k]->n_input && !read; a++)
                read = strcmp(m->node[k]->input[a], m->tensor[i].name) == 0;
        if (read)
            m->tensor[kept++] = m->tensor[i];
        else
            fire_onnx_tensor_fini(&m->tensor[i]);
    }
    m->ntensor = kept;
}

fire_status_t fire_onnx_fold(fire_onnx_model_t *m)
{
    bool folded;

    for (int64_t i = 0; i < m->nnode; i++)
        do
            FIRE_TRY(fold_one(m, i, &folded));
        while (folded);
    drop_tensors(m);
    return FIRE_OK;
}
