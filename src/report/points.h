/* points.h - a curve over iterations and time, and its reduction to few points. */
#ifndef FIRE_REPORT_POINTS_H
#define FIRE_REPORT_POINTS_H
#include "base/text/json.h"

typedef struct fire_point {
    int64_t iter;
    double  time, value; /* time: seconds since the run began */
} fire_point_t;

/* A growing array of points with ascending iterations. {0} is a valid empty one. */
typedef struct fire_points {
    fire_point_t *at;
    int64_t       n, cap;
} fire_points_t;

fire_status_t fire_points_add(fire_points_t *p, int64_t iter, double time,
                              double value);
/* Remove the points at `iter` and later: the run was resumed there and computes them
 * again. */
void fire_points_cut(fire_points_t *p, int64_t iter);
void fire_points_fini(fire_points_t *p);

/* Write {"iter": [...], "time": [...], "y": [...]}. More than `most` points become
 * `most`: each is the mean of a stretch of iterations, with its extremes in "lo" and
 * "hi". */
void fire_points_write(fire_json_writer_t *w, const char *key, const fire_points_t *p,
                       int most);
#endif
