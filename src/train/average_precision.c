/* average_precision.c - how well a detector finds objects: mean average precision over
 * the rows of DetectionEvaluate, as SSD's solver reports it with eval_type:
 * "detection".
 *
 * A row is image, label, score, right, wrong; or -1, label, number of objects, ... */
#include "train/average_precision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { ROW = 5 };

/* A box that the detector found: it covers an object of its class (right), or none or
 * one that another box covers already (wrong). */
typedef struct find {
    float score;
    bool  right, wrong;
} find_t;

typedef struct label {
    int64_t nobject; /* of this class, in all images */
    find_t *find;
    int64_t nfind, cap;
} label_t;

struct fire_average_precision {
    fire_precision_t how;
    label_t         *label;
    int64_t          nlabel, cap;
};

fire_status_t fire_precision_find(const char *name, fire_precision_t *how_p)
{
    static const char *const names[] = {"Integral", "11point", "MaxIntegral"};

    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) {
            *how_p = (fire_precision_t)i;
            return FIRE_OK;
        }
    return FIRE_FAIL(
        FIRE_ERR_INVALID,
        "unknown ap_version \"%s\"; known are 11point, MaxIntegral, Integral", name);
}

fire_status_t fire_average_precision_create(fire_precision_t           how,
                                            fire_average_precision_t **d_p)
{
    FIRE_TRY(FIRE_NEW(d_p, 1));
    (*d_p)->how = how;
    return FIRE_OK;
}

void fire_average_precision_destroy(fire_average_precision_t *d)
{
    if (d == NULL) return;
    for (int64_t i = 0; i < d->nlabel; i++)
        fire_free(d->label[i].find);
    fire_free(d->label);
    fire_free(d);
}

/* Rows are sorted by class as they come; classes are numbered from 0. */
static fire_status_t add_row(fire_average_precision_t *d, const float *row)
{
    int64_t  which = (int64_t)row[1];
    label_t *l;

    if (row[0] >= 0 && row[1] == -1) return FIRE_OK; /* an image without detections */
    if (!(row[1] >= 0 && row[1] < 1e6f))
        return FIRE_FAIL(FIRE_ERR_INVALID, "%g is no label of a detection",
                         (double)row[1]);
    if (which >= d->nlabel) {
        FIRE_TRY(fire_grow(&d->label, &d->cap, which + 1, sizeof(*d->label)));
        memset(d->label + d->nlabel, 0,
               (size_t)(which + 1 - d->nlabel) * sizeof(*d->label));
        d->nlabel = which + 1;
    }
    l = &d->label[which];
    if (row[0] < 0) {
        l->nobject += (int64_t)row[2];
        return FIRE_OK;
    }
    /* Neither right nor wrong: it covers an object marked "difficult". */
    if (row[3] == 0 && row[4] == 0) return FIRE_OK;
    FIRE_TRY(fire_grow(&l->find, &l->cap, l->nfind + 1, sizeof(*l->find)));
    l->find[l->nfind++] = (find_t){row[2], row[3] != 0, row[4] != 0};
    return FIRE_OK;
}

fire_status_t fire_average_precision_add(fire_average_precision_t *d, int64_t n,
                                         const float *x)
{
    for (int64_t i = 0; i + ROW <= n; i += ROW)
        FIRE_TRY(add_row(d, x + i));
    return FIRE_OK;
}

static int best_first(const void *a, const void *b)
{
    const find_t *x = a, *y = b;

    return x->score > y->score ? -1 : x->score < y->score;
}

/* Mean of the best precision at recalls of at least 0, 0.1 ... 1. */
static double eleven_points(int64_t n, const double *precision, const double *recall)
{
    double sum = 0;

    for (int j = 0; j <= 10; j++) {
        double best = 0;

        for (int64_t i = 0; i < n; i++)
            if (recall[i] >= j / 10.0) best = fmax(best, precision[i]);
        sum += best;
    }
    return sum / 11;
}

/* Area below the curve; `upper`: of the best precision at this recall or a higher. */
static double area(int64_t n, const double *precision, const double *recall, bool upper)
{
    double sum = 0, best = 0;

    for (int64_t i = n - 1; i >= 0; i--) {
        best = upper ? fmax(best, precision[i]) : precision[i];
        sum += best * (recall[i] - (i > 0 ? recall[i - 1] : 0));
    }
    return sum;
}

static fire_status_t average_precision(const fire_average_precision_t *d, label_t *l,
                                       double *average_p)
{
    double *precision, *recall, right = 0;

    FIRE_TRY(FIRE_NEW(&precision, 2 * l->nfind));
    recall = precision + l->nfind;
    qsort(l->find, (size_t)l->nfind, sizeof(*l->find), best_first);
    for (int64_t i = 0; i < l->nfind; i++) {
        right += l->find[i].right;
        precision[i] = right / (double)(i + 1);
        recall[i]    = right / (double)l->nobject;
    }
    *average_p =
        d->how == FIRE_PRECISION_11POINT
            ? eleven_points(l->nfind, precision, recall)
            : area(l->nfind, precision, recall, d->how == FIRE_PRECISION_MAX_INTEGRAL);
    fire_free(precision);
    return FIRE_OK;
}

fire_status_t fire_average_precision_mean(fire_average_precision_t *d, double *mean_p)
{
    double  sum    = 0;
    int64_t labels = 0;

    for (int64_t i = 0; i < d->nlabel; i++) {
        double average = 0;

        if (d->label[i].nobject == 0) continue;
        if (d->label[i].nfind > 0)
            FIRE_TRY(average_precision(d, &d->label[i], &average));
        sum += average;
        labels++;
    }
    *mean_p = labels > 0 ? sum / (double)labels : 0;
    return FIRE_OK;
}
