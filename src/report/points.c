/* points.c - curves of a run. */
#include "report/points.h"

#include <math.h>
#include "base/alloc.h"

fire_status_t fire_points_add(fire_points_t *p, int64_t iter, double time, double value)
{
    FIRE_TRY(fire_grow(&p->at, &p->cap, p->n + 1, sizeof(*p->at)));
    p->at[p->n++] = (fire_point_t){iter, time, value};
    return FIRE_OK;
}

void fire_points_cut(fire_points_t *p, int64_t iter)
{
    while (p->n > 0 && p->at[p->n - 1].iter >= iter)
        p->n--;
}

void fire_points_fini(fire_points_t *p)
{
    fire_free(p->at);
    *p = (fire_points_t){0};
}

/* ---- stretches of a curve ---- */

/* Several points in one. */
typedef struct stretch {
    const fire_point_t *last;
    double              mean, lo, hi;
} stretch_t;

/* The mean and extremes of n points. NaN and infinity (a diverged loss) are left out,
 * unless there is nothing else. */
static stretch_t sum_up(const fire_point_t *at, int64_t n)
{
    stretch_t s   = {.last = &at[n - 1], .mean = NAN, .lo = INFINITY, .hi = -INFINITY};
    double    sum = 0;
    int64_t   count = 0;

    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(at[i].value)) continue;
        sum += at[i].value;
        count++;
        s.lo = fmin(s.lo, at[i].value);
        s.hi = fmax(s.hi, at[i].value);
    }
    if (count > 0) s.mean = sum / (double)count;
    return s;
}

/* Index of the first point of stretch i of `most`. */
static int64_t first_of(const fire_points_t *p, int most, int i)
{
    return (int64_t)((double)p->n * i / most);
}

typedef enum column { ITER, TIME, MEAN, LO, HI } column_t;

/* One member of the points, an array over stretches. */
static void write_column(fire_json_writer_t *w, const char *key, const fire_points_t *p,
                         int most, column_t column)
{
    fire_json_open(w, key, '[');
    for (int i = 0; i < most; i++) {
        int64_t   first = first_of(p, most, i);
        stretch_t s     = sum_up(p->at + first, first_of(p, most, i + 1) - first);

        if (column == ITER)
            fire_json_add_int(w, NULL, s.last->iter);
        else if (column == TIME)
            fire_json_add_rounded(w, NULL, round(s.last->time * 1000) / 1000, 9);
        else
            fire_json_add_rounded(w, NULL,
                                  column == MEAN ? s.mean
                                  : column == LO ? s.lo
                                                 : s.hi,
                                  6);
    }
    fire_json_close(w, ']');
}

void fire_points_write(fire_json_writer_t *w, const char *key, const fire_points_t *p,
                       int most)
{
    bool small = p->n <= most;
    int  n     = small ? (int)p->n : most;

    fire_json_open(w, key, '{');
    write_column(w, "iter", p, n, ITER);
    write_column(w, "time", p, n, TIME);
    write_column(w, "y", p, n, MEAN);
    if (!small) write_column(w, "lo", p, n, LO);
    if (!small) write_column(w, "hi", p, n, HI);
    fire_json_close(w, '}');
}
