/* ctc_loss.c - CTCLoss: connectionist temporal classification (Graves and others,
 * 2006): the negative log probability of a label sequence, summed over all alignments
 * to time with blanks in between; mean over sequences.
 *
 *   bottom 0: (T, N, C) scores before the softmax
 *   bottom 1: (T, N) cont: a sequence begins at the first step, ends before the next 0
 *   bottom 2: (L, N) labels, ended by a negative one
 *   top 0:    () loss
 *
 * Computed in double, in log space, with the forward-backward algorithm. */
#include <math.h>

#include "layers/layer.h"

enum { SCORES, CONT, LABELS };

/* The state of the layer; cX is the capacity of X. */
typedef struct ctc {
    int64_t steps, rows, classes, labels, blank; /* T, N, C, L, index of the blank */
    double *prob;  /* [step][class] softmax of one sequence */
    double *alpha; /* [step][state] log probability of all paths up to here */
    double *beta;  /* [step][state] log probability of all paths from here on */
    int    *path;  /* [state] labels with blanks around: 2 * labels + 1 */
    double *grad;  /* [row][step][class] gradient, for backward */
    int64_t cprob, calpha, cbeta, cpath, cgrad;
} ctc_t;

/* Check the shapes and allocate the tables for the longest possible sequence. */
static fire_status_t ctc_reshape(fire_layer_t *l)
{
    const Caffe__CTCLossParameter *p =
        FIRE_PARAM(l, ctc_loss_param, CAFFE__CTCLOSS_PARAMETER__INIT);
    ctc_t             *s = FIRE_STATE(l, ctc_t);
    const fire_blob_t *x = l->bottom[SCORES];
    int64_t            states;

    if (x->ndim != 3 || l->bottom[CONT]->ndim != 2 || l->bottom[LABELS]->ndim != 2 ||
        l->bottom[CONT]->dim[0] != x->dim[0] || l->bottom[CONT]->dim[1] != x->dim[1] ||
        l->bottom[LABELS]->dim[1] != x->dim[1])
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottoms must be scores (T N C), cont (T N) and labels (L "
                         "N)");
    s->steps   = x->dim[0];
    s->rows    = x->dim[1];
    s->classes = x->dim[2];
    s->labels  = l->bottom[LABELS]->dim[0];
    s->blank   = p->blank_index < 0 ? s->classes - 1 : p->blank_index;
    if (s->classes < 2 || s->blank >= s->classes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "blank_index %lld is out of range: there are %lld classes",
                         (long long)s->blank, (long long)s->classes);
    states = 2 * s->labels + 1;
    FIRE_TRY(fire_grow(&s->prob, &s->cprob, s->steps * s->classes, sizeof(*s->prob)));
    FIRE_TRY(fire_grow(&s->alpha, &s->calpha, s->steps * states, sizeof(*s->alpha)));
    FIRE_TRY(fire_grow(&s->beta, &s->cbeta, s->steps * states, sizeof(*s->beta)));
    FIRE_TRY(fire_grow(&s->path, &s->cpath, states, sizeof(*s->path)));
    FIRE_TRY(fire_grow(&s->grad, &s->cgrad, x->count, sizeof(*s->grad)));
    return fire_blob_reshape(l->top[0], 0, NULL);
}

static void ctc_teardown(fire_layer_t *l)
{
    ctc_t *s = FIRE_STATE(l, ctc_t);

    fire_free(s->prob);
    fire_free(s->alpha);
    fire_free(s->beta);
    fire_free(s->path);
    fire_free(s->grad);
}

/* log(exp(a) + exp(b)) */
static double add_logs(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;

    return high == -INFINITY ? high : high + log1p(exp(low - high));
}

/* Time steps of a sequence. */
static int64_t length_of(const ctc_t *s, const float *cont, int64_t row)
{
    int64_t t = 1;

    while (t < s->steps && cont[t * s->rows + row] != 0.0f)
        t++;
    return t;
}

/* Set path to the labels of a sequence with blanks around each. Fails if they do not
 * fit in its steps: equal neighbours need a blank between them. */
static fire_status_t make_path(ctc_t *s, const float *labels, int64_t row,
                               int64_t steps, int64_t *states_p)
{
    int64_t n = 0, repeats = 0;

    for (; n < s->labels && labels[n * s->rows + row] >= 0.0f; n++) {
        int label = (int)labels[n * s->rows + row];

        if (label >= s->classes || label == s->blank)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "sequence %lld has label %d; labels are 0 to %lld without "
                             "the blank, %lld",
                             (long long)row, label, (long long)s->classes - 1,
                             (long long)s->blank);
        s->path[2 * n]     = (int)s->blank;
        s->path[2 * n + 1] = label;
        repeats += n > 0 && s->path[2 * n - 1] == label;
    }
    s->path[2 * n] = (int)s->blank;
    if (n + repeats > steps)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "sequence %lld has %lld steps, too few for its %lld labels",
                         (long long)row, (long long)steps, (long long)n);
    *states_p = 2 * n + 1;
    return FIRE_OK;
}

/* Softmax of the scores of one sequence. */
static void softmax(const ctc_t *s, const float *x, int64_t row, int64_t steps)
{
    for (int64_t t = 0; t < steps; t++) {
        const float *in  = x + (t * s->rows + row) * s->classes;
        double      *out = s->prob + t * s->classes, max = -INFINITY, sum = 0;

        for (int64_t c = 0; c < s->classes; c++)
            max = in[c] > max ? in[c] : max; /* fmax() here breaks GCC 12 for arm64 */
        for (int64_t c = 0; c < s->classes; c++)
            sum += out[c] = exp((double)in[c] - max);
        for (int64_t c = 0; c < s->classes; c++)
            out[c] /= sum;
    }
}

/* May a path go from state u - 2 to u, without the blank between? */
static bool may_skip(const ctc_t *s, int64_t u)
{
    return u >= 2 && s->path[u] != s->blank && s->path[u] != s->path[u - 2];
}

/* Log probability of state u's class at step t. */
static double log_prob(const ctc_t *s, int64_t t, int64_t u)
{
    return log(s->prob[t * s->classes + s->path[u]]);
}

/* Compute alpha. */
static void run_forward(const ctc_t *s, int64_t steps, int64_t states)
{
    for (int64_t t = 0; t < steps; t++) {
        double *now = s->alpha + t * states, *was = now - states;

        for (int64_t u = 0; u < states; u++) {
            double sum = t == 0 ? (u < 2 ? 0.0 : -INFINITY) : was[u];

            if (t > 0 && u > 0) sum = add_logs(sum, was[u - 1]);
            if (t > 0 && may_skip(s, u)) sum = add_logs(sum, was[u - 2]);
            now[u] = sum + log_prob(s, t, u);
        }
    }
}

/* Compute beta. It does not include step t itself, so that alpha + beta is the whole
 * path. */
static void run_backward(const ctc_t *s, int64_t steps, int64_t states)
{
    for (int64_t t = steps - 1; t >= 0; t--) {
        double *now = s->beta + t * states, *next = now + states;

        for (int64_t u = 0; u < states; u++) {
            if (t == steps - 1) {
                now[u] = u >= states - 2 ? 0.0 : -INFINITY;
                continue;
            }
            now[u] = next[u] + log_prob(s, t + 1, u);
            if (u + 1 < states)
                now[u] = add_logs(now[u], next[u + 1] + log_prob(s, t + 1, u + 1));
            if (u + 2 < states && may_skip(s, u + 2))
                now[u] = add_logs(now[u], next[u + 2] + log_prob(s, t + 1, u + 2));
        }
    }
}

/* Gradient of the scores: softmax minus the posterior probability of the class at that
 * step. */
static void fill_gradient(const ctc_t *s, int64_t row, int64_t steps, int64_t states,
                          double total)
{
    double *grad = s->grad + row * s->steps * s->classes;

    for (int64_t i = 0; i < s->steps * s->classes; i++)
        grad[i] = i < steps * s->classes ? s->prob[i] : 0;
    for (int64_t t = 0; t < steps; t++)
        for (int64_t u = 0; u < states; u++)
            grad[t * s->classes + s->path[u]] -=
                exp(s->alpha[t * states + u] + s->beta[t * states + u] - total);
}

/* The gradient is computed here as well, since it needs alpha and beta of each
 * sequence. */
static fire_status_t ctc_forward(fire_layer_t *l)
{
    ctc_t       *s    = FIRE_STATE(l, ctc_t);
    double       loss = 0;
    const float *x, *cont, *labels;
    float       *top;
    int64_t      states = 0;

    FIRE_IN(l, l->bottom[SCORES], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[CONT], FIRE_DATA, &cont);
    FIRE_IN(l, l->bottom[LABELS], FIRE_DATA, &labels);
    for (int64_t row = 0; row < s->rows; row++) {
        int64_t steps = length_of(s, cont, row);
        double *last, total;

        FIRE_TRY(make_path(s, labels, row, steps, &states));
        softmax(s, x, row, steps);
        run_forward(s, steps, states);
        run_backward(s, steps, states);
        last  = s->alpha + steps * states - 1;
        total = states > 1 ? add_logs(last[0], last[-1]) : last[0];
        loss -= total;
        fill_gradient(s, row, steps, states, total);
    }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    top[0] = (float)(s->rows > 0 ? loss / (double)s->rows : 0);
    return FIRE_OK;
}

/* dx: (T, N, C) = weight / N * the gradient that forward has computed. */
static fire_status_t ctc_backward(fire_layer_t *l)
{
    const ctc_t *s = FIRE_STATE(l, ctc_t);
    float        weight, *dx;

    if (!l->propagate_down[SCORES]) return FIRE_OK;
    FIRE_TRY(fire_layer_loss_weight(l, &weight));
    FIRE_OUT(l, l->bottom[SCORES], FIRE_DIFF, &dx);
    for (int64_t t = 0; t < s->steps; t++)
        for (int64_t row = 0; row < s->rows; row++)
            for (int64_t c = 0; c < s->classes; c++)
                *dx++ = weight / (float)s->rows *
                        (float)s->grad[(row * s->steps + t) * s->classes + c];
    return FIRE_OK;
}

const fire_kernel_t fire_ctc_loss_ref = {
    .name     = "ref",
    .forward  = ctc_forward,
    .backward = ctc_backward,
};

static const fire_kernel_t *const ctc_kernels[] = {&fire_ctc_loss_ref, NULL};

const fire_layer_ops_t fire_layer_ctc_loss = {
    .type        = "CTCLoss",
    .bottoms     = {3, 3},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP | FIRE_LAYER_HOST,
    .no_gradient = 1u << CONT | 1u << LABELS,
    .state_size  = sizeof(ctc_t),
    .reshape     = ctc_reshape,
    .teardown    = ctc_teardown,
    .kernels     = ctc_kernels,
};
