/* cases.c - reads case files and makes their nets. */
#include "cases.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/file.h"
#include "gpu.h"
#include "layers/python/python.h"
#include "model/text.h"
#include "net/net_state.h"

static void read_values(case_input_t *in, const char *s)
{
    for (int used; in->nvalue < CASE_MAX_LIST; s += used) {
        if (sscanf(s, "%lf%n", &in->value[in->nvalue], &used) != 1) break;
        in->nvalue++;
    }
}

static void read_input(layer_case_t *c, const char *words)
{
    case_input_t *in = &c->input[c->ninput++];
    int           used;

    CHECK(c->ninput <= CASE_MAX_INPUTS);
    CHECK(sscanf(words, "%63s %15s%n", in->blob, in->kind, &used) == 2);
    read_values(in, words + used);
}

static void read_output(layer_case_t *c, const char *words)
{
    int used;

    CHECK(sscanf(words, "%63s%n", c->output.blob, &used) == 1);
    read_values(&c->output, words + used);
}

static void read_directive(layer_case_t *c, const char *line)
{
    char word[32];
    int  used;

    CHECK(sscanf(line, "%31s%n", word, &used) == 1);
    line += used;
    if (strcmp(word, "phase") == 0)
        c->phase = strstr(line, "TRAIN") ? CAFFE__PHASE__TRAIN : CAFFE__PHASE__TEST;
    else if (strcmp(word, "input") == 0)
        read_input(c, line);
    else if (strcmp(word, "output") == 0)
        read_output(c, line);
    else if (strcmp(word, "step") == 0)
        c->step = atof(line);
    else if (strcmp(word, "tolerance") == 0)
        c->tolerance = atof(line);
    else if (strcmp(word, "fixed") == 0)
        c->fixed = true;
    else if (strcmp(word, "forward") == 0)
        c->forward_only = true;
    else if (strcmp(word, "estimate") == 0)
        CHECK(sscanf(line, "%63s", c->estimate) == 1);
    else if (strcmp(word, "says") == 0)
        snprintf(c->says, sizeof(c->says), "%s", line + 1);
    else
        test_fail(c->file, 0, "unknown directive \"%s\"", word);
}

/* text begins behind "#: case "; the net ends at the next case or at the end. */
static void read_case(const char *file, const char *text, size_t n, layer_case_t *c)
{
    size_t            name = strcspn(text, "\n");
    ProtobufCMessage *m;
    char             *copy = strndup(text + name, n - name), *rest;

    *c = (layer_case_t){.phase = CAFFE__PHASE__TEST, .step = 1e-2, .tolerance = 1e-2};
    snprintf(c->file, sizeof(c->file), "%s", file);
    snprintf(c->name, sizeof(c->name), "%.*s", (int)name, text);
    CHECK_OK(fire_text_parse(text + name, n - name, file,
                             &caffe__net_parameter__descriptor, &m));
    c->param                     = (Caffe__NetParameter *)m;
    c->param->has_force_backward = c->param->force_backward = true;
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
         line       = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "#: ", 3) == 0) read_directive(c, line + 3);
    free(copy);
}

static int check_file(const char *folder, const char *file, case_check_t f)
{
    static const char mark[] = "#: case ";
    char             *text, path[256];
    size_t            n;
    int               failed = 0, found = 0;

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    CHECK_OK(fire_file_read(test_source(path), &text, &n));
    for (char *at = strstr(text, mark), *next; at != NULL; at = next, found++) {
        layer_case_t c;
        const char  *wrong;

        next = strstr(at + 1, mark);
        read_case(file, at + strlen(mark),
                  (next != NULL ? (size_t)(next - at) : strlen(at)) - strlen(mark), &c);
        wrong = f(&c);
        if (wrong != NULL) fprintf(stderr, "    %s, %s: %s\n", file, c.name, wrong);
        failed += wrong != NULL;
        fire_message_free(c.param);
    }
    fire_free(text);
    if (found == 0) test_fail(path, 0, "holds no \"#: case\"");
    return failed;
}

/* Where its interpreter looks for classes, from its start. */
__attribute__((constructor)) static void show_python_our_layers(void)
{
    setenv("PYTHONPATH", test_source("tests/layers"), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
}

static bool can_run(const char *file)
{
    if (strcmp(file, "Python.prototxt") != 0 || fire_python_is_here()) return true;
    fprintf(stderr, "    %s left out: there is no libpython3 here\n", file);
    return false;
}

static int is_case_file(const struct dirent *entry)
{
    return fire_path_has_suffix(entry->d_name, ".prototxt");
}

static void each_in(const char *folder, case_check_t f)
{
    struct dirent **entry;
    int             failed = 0;
    int             n = scandir(test_source(folder), &entry, is_case_file, alphasort);

    CHECK(n > 0);
    for (int i = 0; i < n; i++) {
        if (can_run(entry[i]->d_name))
            failed += check_file(folder, entry[i]->d_name, f);
        free(entry[i]);
    }
    free(entry);
    CHECK_EQ(failed, 0);
}

void cases_each(case_check_t f)
{
    each_in("tests/layers/cases", f);
}

void cases_each_wrong(case_check_t f)
{
    each_in("tests/layers/wrong", f);
}

const Caffe__LayerParameter *case_layer(const layer_case_t *c)
{
    return c->param->layer[c->param->n_layer - 1];
}

const fire_layer_ops_t *case_ops(const layer_case_t *c)
{
    const fire_layer_ops_t *ops;

    CHECK_OK(fire_layer_find(case_layer(c)->type, &ops));
    return ops;
}

/* ---- values ---- */

static fire_rng_key_t key_of(const char *name)
{
    return fire_rng_key(7, FIRE_RNG_TEST, fire_rng_name(name), 0);
}

static double value_of(const case_input_t *in, fire_rng_key_t key, int64_t n, int64_t i)
{
    double u = (double)fire_rng_uniform(key, (uint64_t)i);

    if (in == NULL || strcmp(in->kind, "distinct") == 0)
        return 0.1 * ((double)fire_rng_permute(key, (uint64_t)n, (uint64_t)i) -
                      (double)(n / 2)) +
               0.05;
    if (strcmp(in->kind, "uniform") == 0)
        return in->value[0] + u * (in->value[1] - in->value[0]);
    if (strcmp(in->kind, "integers") == 0) return floor(u * in->value[0]);
    if (strcmp(in->kind, "list") == 0) return in->value[i % in->nvalue];
    test_fail(in->blob, 0, "unknown kind of input \"%s\"", in->kind);
}

static void fill(fire_blob_t *blob, const case_input_t *in, const char *name)
{
    fire_rng_key_t key = key_of(name);
    float         *x;

    CHECK_OK(fire_blob_write(blob, FIRE_DATA, FIRE_CPU, &x));
    for (int64_t i = 0; i < blob->count; i++)
        x[i] = (float)value_of(in, key, blob->count, i);
}

static const case_input_t *input_of(const layer_case_t *c, const char *blob)
{
    for (int i = 0; i < c->ninput; i++)
        if (strcmp(c->input[i].blob, blob) == 0) return &c->input[i];
    return NULL;
}

void case_fill_inputs(const layer_case_t *c, fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        for (int k = 0; k < l->ntop && strcmp(l->ops->type, "Input") == 0; k++) {
            fill(l->top[k], input_of(c, l->param->top[k]), l->param->top[k]);
        }
    }
}

/* Parameters are made random, so that their gradients show, or what the case lists as
 * input parameter0, parameter1 ... */
static void fill_params(const layer_case_t *c, fire_net_t *net, uint64_t seed)
{
    const case_input_t some = {.kind = "uniform", .value = {-0.5, 0.5}};

    for (int i = 0; i < net->nparam; i++) {
        const case_input_t *in;
        char                name[64];

        snprintf(name, sizeof(name), "parameter%d", i);
        in = input_of(c, name);
        snprintf(name, sizeof(name), "param %d %d", i, (int)seed);
        if (net->learn[i].kind == FIRE_PARAM_WEIGHT)
            fill(net->learn[i].blob, in != NULL ? in : &some, name);
    }
}

fire_status_t case_create(const layer_case_t *c, const Caffe__NetParameter *param,
                          const char *kernel, fire_net_t **net_p)
{
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;
    static char        request[128]; /* the net keeps the pointer */

    snprintf(request, sizeof(request), "%s=%s", case_layer(c)->type, kernel);
    if (strcmp(kernel, "ref") != 0) o.ctx = test_ctx();
    o.ctx.kernels = request;
    o.phase       = c->phase;
    return fire_net_create(param, &o, net_p);
}

fire_net_t *case_net(const layer_case_t *c, const Caffe__NetParameter *param,
                     const char *kernel, uint64_t seed)
{
    fire_net_t *net = NULL;

    CHECK_OK(case_create(c, param, kernel, &net));
    net->ctx.kernels = NULL; /* it was chosen; the text goes away */
    fill_params(c, net, seed);
    case_fill_inputs(c, net);
    return net;
}

/* ---- gradients ---- */

void case_backward_more(fire_net_t *net)
{
    const case_input_t some = {.kind = "uniform", .value = {-1, 1}};

    for (int i = 0; i < net->noutput; i++) {
        const fire_net_blob_t *b = &net->blob[net->output[i]];
        float                 *dy;

        CHECK_OK(fire_blob_write(b->blob, FIRE_DIFF, FIRE_CPU, &dy));
        for (int64_t k = 0; k < b->blob->count; k++)
            dy[k] = (float)value_of(&some, key_of(b->name), b->blob->count, k);
        if (fire_net_loss_weight(net, net->output[i]) != 0)
            CHECK_OK(fire_blob_set(b->blob, FIRE_DIFF,
                                   fire_net_loss_weight(net, net->output[i])));
    }
    CHECK_OK(fire_net_backward(net, -1, 0));
}

void case_backward(fire_net_t *net)
{
    CHECK_OK(fire_net_clear_diffs(net));
    case_backward_more(net);
}

double case_objective(fire_net_t *net)
{
    double sum = 0;

    for (int i = 0; i < net->noutput; i++) {
        fire_blob_t *b = net->blob[net->output[i]].blob;
        const float *y, *dy;

        CHECK_OK(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &y));
        CHECK_OK(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &dy));
        for (int64_t k = 0; k < b->count; k++)
            sum += (double)y[k] * (double)dy[k];
    }
    return sum;
}

double case_difference(fire_blob_t *a, fire_blob_t *b, fire_part_t part)
{
    double       worst = 0, scale = test_on_gpu() ? 0.01 : 1e-30;
    const float *x, *y;

    if (!fire_blob_same_shape(a, b)) return INFINITY;
    CHECK_OK(fire_blob_read(a, part, FIRE_CPU, &x));
    CHECK_OK(fire_blob_read(b, part, FIRE_CPU, &y));
    for (int64_t i = 0; i < a->count; i++) {
        double d = x[i] == y[i] ? 0 : fabs((double)x[i] - (double)y[i]);

        if (isnan(d)) return INFINITY;
        if (d > worst) worst = d;
        if (fabs((double)y[i]) > scale) scale = fabs((double)y[i]);
    }
    return worst == 0 ? 0 : worst / scale;
}
