/* eval_detection.c - EvalDetection: which boxes of YOLO are right, for average precision.
 *
 *   bottom 0: (N, ...) predictions; with biases those of YOLO v2, (N, num_object *
 *             (5 + num_class), side, side); without those of v1, (N, side * side *
 *             (num_class + 5 * num_object)): at each of side x side places the classes,
 *             then the objectness of all boxes, then x, y, w, h of each
 *   bottom 1: objects; v2: yolo.h; v1: (N, side * side * 7): at each place whether it is
 *             difficult, whether there is an object, its class, then x, y, w, h in turn
 *   top 0:    (N, num_class + side * side * num_object * 4): for each class the number of
 *             its objects, then rows of class, score, true and false positive, by class
 *             and descending score; zeros behind them
 *
 * A box is right if the object of its class that it overlaps most reaches `threshold` and
 * no better box has found that. Both flags are 0 for a difficult object. With nms (not
 * negative) boxes that overlap a better one by so much do not count, nor in v2 those with
 * a score below 0.005. */
#include <stdlib.h>
#include <string.h>

#include "layers/detection/yolo/yolo.h"

enum { ROW = 4 };
#define LEAST_SCORE 0.005f

typedef struct guess {
    int             label;
    float           score;
    int64_t         index; /* decides between equal scores */
    fire_yolo_box_t box;
} guess_t;

/* The state of the layer; all arrays are for one image. */
typedef struct eval {
    fire_yolo_map_t    map; /* v2 */
    fire_yolo_truths_t truths;
    guess_t           *guess;
    bool              *found; /* [truths] by a better box */
    float             *work;  /* the entries of one box */
    int64_t            n, cguess, cfound, cwork;
} eval_t;

static const Caffe__EvalDetectionParameter *settings(const fire_layer_t *l)
{
    static const Caffe__EvalDetectionParameter defaults =
        CAFFE__EVAL_DETECTION_PARAMETER__INIT;

    return l->param->eval_detection_param != NULL ? l->param->eval_detection_param
                                                  : &defaults;
}

static bool is_v2(const fire_layer_t *l)
{
    return settings(l)->n_biases > 0;
}

static fire_status_t eval_setup(fire_layer_t *l)
{
    const Caffe__EvalDetectionParameter *p = settings(l);

    if (p->num_class == 0 || p->num_object == 0 || p->side == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "side, num_class and num_object must be at least 1");
    return is_v2(l) ? fire_yolo_check_anchors(p->n_biases, p->num_object) : FIRE_OK;
}

/* Places of the map. */
static int64_t places_of(const fire_layer_t *l)
{
    const eval_t *s    = l->state;
    int64_t       side = settings(l)->side;

    return is_v2(l) ? s->map.height * s->map.width : side * side;
}

static fire_status_t check_v1(const fire_layer_t *l, int64_t images)
{
    const Caffe__EvalDetectionParameter *p = settings(l);
    int64_t places = places_of(l), x = fire_blob_count(l->bottom[0]);
    int64_t label = fire_blob_count(l->bottom[1]);

    if (x == images * places * (p->num_class + 5 * (int64_t)p->num_object) &&
        label == images * places * 7)
        return FIRE_OK;
    return FIRE_FAIL(
        FIRE_ERR_INVALID,
        "%u x %u places, %u classes and %u boxes need %lld predictions and "
        "%lld labels for each image, not %lld and %lld",
        p->side, p->side, p->num_class, p->num_object,
        (long long)(places * (p->num_class + 5 * (int64_t)p->num_object)),
        (long long)(places * 7), (long long)(images > 0 ? x / images : 0),
        (long long)(images > 0 ? label / images : 0));
}

static fire_status_t eval_reshape(fire_layer_t *l)
{
    const Caffe__EvalDetectionParameter *p = settings(l);
    eval_t                              *s = l->state;
    int64_t images                         = fire_blob_dim_or_1(l->bottom[0], 0), n;

    if (is_v2(l)) {
        FIRE_TRY(fire_yolo_map_of(l->bottom[0], p->num_object,
                                  (int64_t)FIRE_YOLO_CLASS + p->num_class, &s->map));
        FIRE_TRY(fire_yolo_truths_check(l->bottom[1], images));
    } else {
        FIRE_TRY(check_v1(l, images));
    }
    n = places_of(l) * p->num_object;
    FIRE_TRY(fire_grow(&s->guess, &s->cguess, n, sizeof(*s->guess)));
    FIRE_TRY(fire_grow(&s->work, &s->cwork, (int64_t)FIRE_YOLO_CLASS + p->num_class,
                       sizeof(*s->work)));
    return fire_blob_reshape(l->top[0], 2, (int64_t[]){images, p->num_class + n * ROW});
}

static void eval_teardown(fire_layer_t *l)
{
    eval_t *s = l->state;

    fire_free(s->truths.list);
    fire_free(s->guess);
    fire_free(s->found);
    fire_free(s->work);
}

/* ---- what was predicted ---- */

/* Add a box whose best class is `label`. */
static void add_guess(fire_layer_t *l, int label, float object, float class,
                      fire_yolo_box_t box)
{
    eval_t *s     = l->state;
    float   score = object * class;

    if (settings(l)->score_type == CAFFE__EVAL_DETECTION_PARAMETER__SCORE_TYPE__OBJ)
        score = object;
    if (settings(l)->score_type == CAFFE__EVAL_DETECTION_PARAMETER__SCORE_TYPE__PROB)
        score = class;
    s->guess[s->n] = (guess_t){label, score, s->n, box};
    s->n++;
}

static int largest(int64_t n, int64_t step, const float *x)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (x[i * step] > x[best * step]) best = i;
    return best;
}

static void read_v2(fire_layer_t *l, const float *x, int64_t image)
{
    const Caffe__EvalDetectionParameter *p    = settings(l);
    eval_t                              *s    = l->state;
    int64_t                              step = places_of(l);
    float unit[2] = {(float)s->map.width, (float)s->map.height};

    for (int64_t i = 0; i < step * s->map.boxes; i++) {
        int64_t      place = i / s->map.boxes, box = i % s->map.boxes;
        const float *from = x + fire_yolo_at(&s->map, image, box, place);
        float       *w = s->work, *class = s->work + FIRE_YOLO_CLASS;
        int          label;

        for (int64_t k = 0; k < s->map.entries; k++)
            w[k] = k < 2 || k == FIRE_YOLO_OBJECT ? fire_yolo_sigmoid(from[k * step])
                                                  : from[k * step];
        fire_yolo_softmax(p->num_class, 1, class);
        label = largest(p->num_class, 1, class);
        add_guess(l, label, w[FIRE_YOLO_OBJECT], class[label],
                  fire_yolo_box_of(&s->map, w, place, p->biases + 2 * box, unit));
    }
}

static void read_v1(fire_layer_t *l, const float *x, int64_t image)
{
    const Caffe__EvalDetectionParameter *p      = settings(l);
    int64_t                              places = places_of(l), side = p->side;
    const float *class =
        x + image * places * (p->num_class + 5 * (int64_t)p->num_object);
    const float *object = class + p->num_class * places;
    const float *box    = object + p->num_object * places;

    for (int64_t i = 0; i < places * (int64_t)p->num_object; i++) {
        int64_t         place = i / p->num_object, k = i % p->num_object;
        const float    *from  = box + 4 * k * places + place;
        int             label = largest(p->num_class, places, class + place);
        fire_yolo_box_t b = {from[0], from[places], from[2 * places], from[3 * places]};

        if (p->constriant) {
            b.x = ((float)(place % side) + b.x) / (float)side;
            b.y = ((float)(place / side) + b.y) / (float)side;
        }
        if (p->sqrt) {
            b.w *= b.w;
            b.h *= b.h;
        }
        add_guess(l, label, object[k * places + place], class[label * places + place],
                  b);
    }
}

static int by_score(const void *a, const void *b)
{
    const guess_t *x = a, *y = b;

    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_label_and_score(const void *a, const void *b)
{
    const guess_t *x = a, *y = b;

    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return by_score(a, b);
}

/* Drop boxes that overlap better ones, of whatever class, and order the rest. */
static void suppress(fire_layer_t *l)
{
    const Caffe__EvalDetectionParameter *p    = settings(l);
    eval_t                              *s    = l->state;
    int64_t                              kept = 0, count = 0;

    qsort(s->guess, (size_t)s->n, sizeof(*s->guess), by_score);
    for (int64_t i = 0; i < s->n && p->nms >= 0.0f; i++) {
        bool keep = true;

        for (int64_t k = 0; k < kept && keep; k++)
            keep = fire_yolo_iou(s->guess[k].box, s->guess[i].box) < p->nms;
        if (keep) s->guess[kept++] = s->guess[i];
    }
    if (p->nms >= 0.0f) s->n = kept;
    for (int64_t i = 0; i < s->n; i++)
        if (!is_v2(l) || p->nms < 0.0f || s->guess[i].score >= LEAST_SCORE)
            s->guess[count++] = s->guess[i];
    s->n = count;
    qsort(s->guess, (size_t)s->n, sizeof(*s->guess), by_label_and_score);
}

/* ---- what is there ---- */

static fire_status_t read_truths_v1(fire_layer_t *l, const float *label, int64_t image)
{
    eval_t      *s      = l->state;
    int64_t      places = places_of(l);
    const float *row = label + image * places * 7, *box = row + 3 * places;

    s->truths.n = 0;
    for (int64_t i = 0; i < places; i++, box += 4) {
        float class = row[2 * places + i];

        if (row[places + i] == 0.0f) continue;
        if (!(class >= 0.0f && class < (float)settings(l)->num_class))
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "an object has class %g; there are %u, from 0 on",
                             (double)class, settings(l)->num_class);
        FIRE_TRY(fire_grow(&s->truths.list, &s->truths.cap, s->truths.n + 1,
                           sizeof(*s->truths.list)));
        s->truths.list[s->truths.n++] = (fire_yolo_truth_t){
            (int)class, row[i] == 1.0f, {box[0], box[1], box[2], box[3]}};
    }
    return FIRE_OK;
}

/* The object of its class that a box overlaps most; -1: none by the threshold. */
static int64_t object_found(const fire_layer_t *l, const guess_t *g)
{
    const eval_t *s     = l->state;
    float         best  = -1.0f;
    int64_t       which = -1;

    for (int64_t i = 0; i < s->truths.n; i++) {
        float overlap = fire_yolo_iou(g->box, s->truths.list[i].box);

        if (s->truths.list[i].label != g->label || overlap <= best) continue;
        best  = overlap;
        which = i;
    }
    return best >= settings(l)->threshold ? which : -1;
}

/* Write the row of one image. */
static fire_status_t judge(fire_layer_t *l, float *y)
{
    eval_t *s = l->state;

    FIRE_TRY(fire_grow(&s->found, &s->cfound, s->truths.n, sizeof(*s->found)));
    for (int64_t i = 0; i < s->truths.n; i++) {
        s->found[i] = false;
        y[s->truths.list[i].label] += s->truths.list[i].difficult ? 0.0f : 1.0f;
    }
    y += settings(l)->num_class;
    for (int64_t i = 0; i < s->n; i++, y += ROW) {
        int64_t which = object_found(l, &s->guess[i]);
        bool    right = which >= 0 && !s->found[which];

        y[0] = (float)s->guess[i].label;
        y[1] = s->guess[i].score;
        if (which >= 0 && s->truths.list[which].difficult) continue;
        y[2] = right ? 1.0f : 0.0f;
        y[3] = right ? 0.0f : 1.0f;
        if (which >= 0) s->found[which] = true;
    }
    return FIRE_OK;
}

static fire_status_t eval_forward(fire_layer_t *l)
{
    const Caffe__EvalDetectionParameter *p      = settings(l);
    eval_t                              *s      = l->state;
    int64_t                              images = l->top[0]->dim[0];
    const float                         *x, *label;
    float                               *y;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    memset(y, 0, (size_t)fire_blob_count(l->top[0]) * sizeof(*y));
    for (int64_t i = 0; i < images; i++, y += l->top[0]->dim[1]) {
        s->n = 0;
        if (is_v2(l)) {
            FIRE_TRY(fire_yolo_truths_read(l->bottom[1], label, i, images, p->num_class,
                                           &s->truths));
            read_v2(l, x, i);
        } else {
            FIRE_TRY(read_truths_v1(l, label, i));
            read_v1(l, x, i);
        }
        suppress(l);
        FIRE_TRY(judge(l, y));
    }
    return FIRE_OK;
}

const fire_kernel_t fire_eval_detection_ref = {
    .name    = "ref",
    .forward = eval_forward,
};

static const fire_kernel_t *const eval_kernels[] = {&fire_eval_detection_ref, NULL};

const fire_layer_ops_t fire_layer_eval_detection = {
    .type        = "EvalDetection",
    .bottoms     = {2, 3}, /* some nets add the image, which is not needed */
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 7,
    .state_size  = sizeof(eval_t),
    .setup       = eval_setup,
    .reshape     = eval_reshape,
    .teardown    = eval_teardown,
    .kernels     = eval_kernels,
};
