/* plans.c - makes the plan. */
#include "plans.h"

#include "model/load.h"

fire_net_t *two_layers(void)
{
    Caffe__NetParameter *param;
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    fire_net_t          *net;

    o.phase = CAFFE__PHASE__TRAIN;
    CHECK_OK(fire_net_param_load_text(test_source("tests/plan/two_layers.prototxt"),
                                      &param));
    CHECK_OK(fire_net_create(param, &o, &net));
    fire_message_free(param);
    return net;
}

fire_plan_t make_plan(const fire_net_t *net, const char *machine)
{
    fire_plan_t p = {.name = "two layers", .bucket = 4e6, .overlap = true};
    char        path[64];

    snprintf(path, sizeof(path), "machines/%s.json", machine);
    CHECK_OK(fire_cluster_load(test_source(path), &p.cluster));
    CHECK_OK(fire_plan_net_read(net, &p.net));
    return p;
}

void fill_plan(fire_plan_t *p, int batch, int nworkers, const int *workers, int ncomm,
               const char *const *comm)
{
    const fire_plan_batch_t one  = {.size = batch};
    const fire_plan_axes_t  axes = {.batch    = &one,
                                    .nbatch   = 1,
                                    .workers  = workers,
                                    .nworkers = nworkers,
                                    .comm     = comm,
                                    .ncomm    = ncomm,
                                    .compress = "none"};

    CHECK_OK(fire_plan_fill(p, &axes));
}
