/* adapt.c - a learning rate per layer, for large batches (LARS, You et al. 2017; LARC):
 *
 *   trust = eta |w| / (|g| + decay |w|)     eta: adapt_eta, the trust coefficient
 *   lars    rate * trust
 *   larc    min(rate, trust): never more than without it
 *
 * Biases and scales (blobs with one axis) keep the common rate, as is usual. Norms are
 * summed in a fixed order, so all workers get the same rate. */
#include <math.h>
#include <string.h>

#include "solver/solver.h"

fire_status_t fire_adapt_find(const char *name, fire_adapt_t *adapt_p)
{
    static const char *const names[] = {"none", "lars", "larc"};

    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) {
            *adapt_p = (fire_adapt_t)i;
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "unknown adapt \"%s\"; known are none, lars, larc", name);
}

fire_status_t fire_solver_adapt(const fire_solver_t *s, const fire_param_t *p,
                                fire_update_t *u)
{
    double w, g, trust;

    if (s->adapt == FIRE_ADAPT_NONE || p->blob->ndim < 2) return FIRE_OK;
    FIRE_TRY(fire_solver_squares(s, u->w, u->n, &w));
    FIRE_TRY(fire_solver_squares(s, u->g, u->n, &g));
    w = sqrt(w);
    g = sqrt(g) * (double)u->scale * (double)u->share;
    if (w == 0 || g == 0) return FIRE_OK;
    trust = (double)s->param->fire->adapt_eta * w / (g + (double)u->decay * w);
    if (s->adapt == FIRE_ADAPT_LARS)
        u->rate *= (float)trust;
    else if (trust < (double)s->rate)
        u->rate *= (float)(trust / (double)s->rate);
    return FIRE_OK;
}
