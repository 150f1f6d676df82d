/* plans.h - a plan of two_layers.prototxt on a machine of the source tree. */
#ifndef TESTS_PLAN_PLANS_H
#define TESTS_PLAN_PLANS_H
#include "plan/plan.h"
#include "test.h"

/* The net, built for one sample. */
fire_net_t *two_layers(void);

/* A plan without rows on machines/<machine>.json, overlapping buckets of 4 MB. `net`
 * must outlive it; end it with fire_plan_fini(). */
fire_plan_t make_plan(const fire_net_t *net, const char *machine);

/* Fill it: a batch for all workers together, these worker counts and algorithms. */
void fill_plan(fire_plan_t *p, int batch, int nworkers, const int *workers, int ncomm,
               const char *const *comm);
#endif
