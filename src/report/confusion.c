/* confusion.c - runs the solver's test net with a snapshot's weights, and counts for
 * each true class which class has the highest score. */
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "layers/plugin/plugin.h"
#include "model/load.h"
#include "net/net_state.h"
#include "report/learned.h"

/* MOST_CLASSES: nets with more get no table. USUAL_BATCHES: if the solver has no
 * test_iter. */
enum { MOST_CLASSES = 1000, USUAL_BATCHES = 50 };

/* A matrix being counted. */
typedef struct confusion {
    const fire_layer_t *accuracy;        /* its bottoms are scores and labels */
    int64_t             classes, images; /* images counted so far */
    int64_t            *count;           /* [true class][class of the highest score] */
} confusion_t;

/* The NetParameter of the first test net: inside of the solver or in its file. */
static fire_status_t load_net(const Caffe__SolverParameter *p,
                              Caffe__NetParameter         **net_p)
{
    const Caffe__NetParameter *inside =
        p->n_test_net_param > 0 ? p->test_net_param[0] : p->net_param;
    const char *path = p->n_test_net > 0 ? p->test_net[0] : p->net;

    if (inside != NULL) return fire_message_copy(inside, (ProtobufCMessage **)net_p);
    if (path != NULL) return fire_net_param_load_text(path, net_p);
    return FIRE_FAIL(FIRE_ERR_INVALID, "the solver names no test net");
}

/* Create that net and load the weights of `model`. */
static fire_status_t open_net(const Caffe__SolverParameter *p, const char *model,
                              fire_net_t **net_p)
{
    const Caffe__NetState *state = p->n_test_state > 0 ? p->test_state[0] : NULL;
    fire_net_options_t     o     = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter   *param;
    fire_net_t            *net;
    fire_status_t          st;

    if (state != NULL) {
        o.level  = state->level;
        o.nstage = (int)state->n_stage;
        o.stage  = (const char **)state->stage;
    }
    FIRE_TRY(fire_plugin_load_of(p->fire));
    FIRE_TRY(load_net(p, &param));
    st = fire_net_create(param, &o, &net);
    fire_message_free(param);
    FIRE_TRY(st);
    st = fire_net_load_file(net, model);
    if (st < 0)
        fire_net_destroy(net);
    else
        *net_p = net;
    return st;
}

/* Are the scores (N, classes) and the labels (N)? */
static bool is_row_each(const fire_blob_t *scores, const fire_blob_t *labels)
{
    const int64_t *dim = fire_blob_dims(scores);

    return fire_blob_ndim(scores) >= 2 && fire_blob_count(scores) == dim[0] * dim[1] &&
           fire_blob_count(labels) == dim[0];
}

/* The first Accuracy layer over classes; NULL: there is none. */
static const fire_layer_t *find_accuracy(const fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        if (strcmp(l->ops->type, "Accuracy") == 0 &&
            is_row_each(l->bottom[0], l->bottom[1]))
            return l;
    }
    return NULL;
}

/* Count the images of one batch; labels out of range are skipped. */
static fire_status_t count_batch(confusion_t *c)
{
    fire_blob_t *scores = c->accuracy->bottom[0], *labels = c->accuracy->bottom[1];
    int64_t      n = fire_blob_dims(scores)[0];
    const float *x, *y;

    FIRE_TRY(fire_blob_read(scores, FIRE_DATA, FIRE_CPU, &x));
    FIRE_TRY(fire_blob_read(labels, FIRE_DATA, FIRE_CPU, &y));
    for (int64_t i = 0; i < n; i++, x += c->classes) {
        int64_t best = 0;

        for (int64_t k = 1; k < c->classes; k++)
            if (x[k] > x[best]) best = k;
        if (!(y[i] >= 0 && y[i] < (float)c->classes)) continue;
        c->count[(int64_t)y[i] * c->classes + best]++;
        c->images++;
    }
    return FIRE_OK;
}

/* Run at most `batches` test batches, and not much longer than `seconds`. */
static fire_status_t count_all(fire_net_t *net, confusion_t *c, int batches,
                               double seconds)
{
    double began = fire_clock_now();

    for (int i = 0; i < batches && fire_clock_now() - began < seconds; i++) {
        net->moment.step = i;
        FIRE_TRY(fire_net_run_forward(net, 0, -1, NULL));
        FIRE_TRY(count_batch(c));
    }
    return FIRE_OK;
}

static void write_counts(fire_json_writer_t *w, const confusion_t *c)
{
    fire_json_open(w, NULL, '{');
    fire_json_add_int(w, "classes", c->classes);
    fire_json_add_int(w, "images", c->images);
    fire_json_open(w, "counts", '[');
    for (int64_t i = 0; i < c->classes * c->classes; i++)
        fire_json_add_int(w, NULL, c->count[i]);
    fire_json_close(w, ']');
    fire_json_close(w, '}');
}

fire_status_t fire_confusion_write(fire_json_writer_t           *w,
                                   const Caffe__SolverParameter *solver,
                                   const char *model, double seconds, bool *found_p)
{
    int batches     = solver->n_test_iter > 0 ? solver->test_iter[0] : USUAL_BATCHES;
    confusion_t   c = {0};
    fire_net_t   *net;
    fire_status_t st;

    *found_p = false;
    FIRE_TRY(open_net(solver, model, &net));
    st         = FIRE_OK;
    c.accuracy = find_accuracy(net);
    if (c.accuracy != NULL) c.classes = fire_blob_dims(c.accuracy->bottom[0])[1];
    if (c.accuracy == NULL || c.classes > MOST_CLASSES) goto out;
    FIRE_TRY_GOTO(st, FIRE_NEW(&c.count, c.classes * c.classes), out);
    FIRE_TRY_GOTO(st, count_all(net, &c, batches, seconds), out);
    *found_p = true;
    write_counts(w, &c);
out:
    fire_free(c.count);
    fire_net_destroy(net);
    return st;
}
