/* compare.c - how far from the recorded numbers is the same. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden.h"

/* How far from Caffe's numbers is the same? Caffe itself, run with other OpenBLAS
 * kernels and thread counts, differs by up to 1.1e-6 (layers), 1.2e-6 (nets), 1.1e-5
 * (20 solver iterations) and 5e-6 (parallel) of the largest number of an array: what
 * follows lies a factor of about ten above, with fast kernels as well. First match
 * counts. */
enum { HINTED = 1, INDEPENDENT = 2 };

/* Sanitizers build kernels without vectors, which round differently. In LeNet's trace two
 * values of a MAX window are so close that this decides which one wins, and from there on
 * the training takes a slightly different path: its test loss is 2.7e-4 off. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define TRACE_TOLERANCE 1e-3
#else
#    define TRACE_TOLERANCE 1e-4
#endif

static const struct {
    const char *kind, *group; /* NULL: any */
    unsigned    only; /* cases that carry a tolerance_hint; that are not Caffe's */
    double      tolerance;
    bool        absolute;
    const char *reason;
} table[] = {
    {NULL, NULL, HINTED, 1.0, true,
     "8-bit images resized or turned grey: OpenCV rounds in fixed point"},
    {"solver", NULL, 0, 1e-4, false, "20 updates let rounding errors grow"},
    {"parallel", NULL, 0, 1e-4, false, "as solver; Caffe adds ranks in another order"},
    {"trace", NULL, 0, TRACE_TOLERANCE, false, "50 to 100 updates of a real net"},
    {NULL, "net", 0, 1e-4, false, "several layers behind one another"},
    {NULL, NULL, INDEPENDENT, 1e-5, false,
     "computed in double precision; rounding of one layer in float"},
    {NULL, NULL, 0, 1e-5, false,
     "one layer: order of additions inside the BLAS, or of a fast kernel"},
};

static unsigned traits_of(const golden_case_t *c)
{
    return (fire_json_get(c->json, "tolerance_hint") != NULL ? HINTED : 0) |
           (c->independent ? INDEPENDENT : 0);
}

void golden_set_tolerance(golden_case_t *c)
{
    const char *kind   = fire_json_string_or(c->json, "kind", "layer");
    const char *group  = fire_json_string_or(c->json, "group", "");
    unsigned    traits = traits_of(c);

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if ((table[i].kind == NULL || strcmp(table[i].kind, kind) == 0) &&
            (table[i].group == NULL || strcmp(table[i].group, group) == 0) &&
            (table[i].only & ~traits) == 0) {
            c->tolerance = table[i].tolerance;
            c->absolute  = table[i].absolute;
            return;
        }
}

static double error_of(float got, float want, double scale)
{
    if (memcmp(&got, &want, sizeof(got)) == 0 || got == want) return 0;
    if (isnan(got) && isnan(want)) return 0;
    if (!isfinite(got) || !isfinite(want)) return INFINITY;
    return fabs((double)got - (double)want) / scale;
}

/* Fast kernels add in another order, and so does the BLAS of other processors than those
 * that Caffe ran on. */
static bool sums_in_caffes_order(void)
{
#if defined(__x86_64__)
    return golden_ctx().kernels != NULL;
#else
    return false;
#endif
}

void golden_compare(golden_case_t *c, const char *what, int64_t n, const float *got,
                    const float *want)
{
    double scale = 0;

    for (int64_t i = 0; i < n; i++)
        if (isfinite(want[i]) && fabs((double)want[i]) > scale)
            scale = fabs((double)want[i]);
    if (c->absolute || scale == 0) scale = 1;
    /* Sums that are zero but for rounding: another order leaves other rests. */
    if (!sums_in_caffes_order() && scale < 1e-5) scale = 0.1;
    for (int64_t i = 0; i < n; i++) {
        double error = error_of(got[i], want[i], scale);

        if (memcmp(&got[i], &want[i], sizeof(*got)) != 0) c->exact = false;
        if (error <= c->worst) continue;
        c->worst = error;
        snprintf(c->where, sizeof(c->where), "%s[%lld] is %.9g, not %.9g", what,
                 (long long)i, (double)got[i], (double)want[i]);
        if (error > c->tolerance) c->passed = false;
    }
}

void golden_reject(golden_case_t *c, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(c->where, sizeof(c->where), format, ap);
    va_end(ap);
    c->worst  = INFINITY;
    c->passed = c->exact = false;
}

static bool same_shape(const fire_npy_t *a, int ndim, const int64_t *dim)
{
    return a->ndim == ndim &&
           (ndim == 0 || memcmp(a->dim, dim, (size_t)ndim * sizeof(*dim)) == 0);
}

fire_status_t golden_compare_file(golden_case_t *c, const char *file, int ndim,
                                  const int64_t *dim, int64_t n, const float *got)
{
    fire_npy_t want;

    FIRE_TRY(fire_npy_load(file, &want));
    if (want.count != n || (ndim >= 0 && !same_shape(&want, ndim, dim)))
        golden_reject(c,
                      "%s has another shape: %d axes, %lld elements, not %d and %lld",
                      file, ndim, (long long)n, want.ndim, (long long)want.count);
    else
        golden_compare(c, file, n, got, want.data);
    fire_npy_fini(&want);
    return FIRE_OK;
}

fire_status_t golden_compare_blob(golden_case_t *c, const char *file, fire_blob_t *blob,
                                  fire_part_t part)
{
    const float *x;

    FIRE_TRY(fire_blob_read(blob, part, FIRE_CPU, &x));
    return golden_compare_file(c, file, blob->ndim, blob->dim, blob->count, x);
}
