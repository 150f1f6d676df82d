#include "sweeps.h"

fire_status_t try_sweep(const fire_sweep_settings_t *settings, fire_sweep_t *s)
{
    static char             dir[512];
    Caffe__SolverParameter *p;

    snprintf(dir, sizeof(dir), "%s", test_path("grid"));
    CHECK_OK(fire_solver_param_load(test_source("tests/sweep/solver.prototxt"), &p));
    return fire_sweep_open(dir, p, settings, s);
}

fire_sweep_t make_sweep(const char *batches, const char *rates)
{
    const fire_sweep_settings_t settings = {batches, rates, "linear", "epochs"};
    fire_sweep_t                s;

    CHECK_OK(try_sweep(&settings, &s));
    return s;
}
