/* Layers of the library pass what `firecaffe check-layer` asks of layers of plug-ins: the
 * first net of every file in tests/layers/cases. Tests src/net/check/. */
#include <stdlib.h>
#include "cases.h"
#include "gpu.h"
#include "net/check/check.h"

static char wrong[512];

static void keep_failure(void *arg, const fire_check_result_t *r)
{
    (void)arg;
    if (r->verdict == FIRE_VERDICT_FAILED && wrong[0] == '\0')
        snprintf(wrong, sizeof(wrong), "%s: %s: %s", r->kernel, r->what, r->detail);
}

/* False for inputs that a check cannot fill: lists of values. */
static bool read_fill(const case_input_t *in, fire_check_fill_t *fill)
{
    *fill = (fire_check_fill_t){.blob = in->blob};
    if (strcmp(in->kind, "uniform") == 0)
        fill->low = in->value[0], fill->high = in->value[1];
    else if (strcmp(in->kind, "integers") == 0)
        fill->high = in->value[0], fill->whole = true;
    else
        return false;
    return true;
}

/* Kernels on a GPU need its context; the CPU's run without. */
static const char *passes(const layer_case_t *c)
{
    static char          last[64];
    fire_check_options_t o = FIRE_CHECK_OPTIONS_INIT;
    fire_check_fill_t    fill[CASE_MAX_INPUTS];

    if (strcmp(last, c->file) == 0 || c->forward_only || c->fixed) return NULL;
    for (int i = 0; i < c->ninput; i++) {
        if (strcmp(c->input[i].kind, "distinct") == 0) continue;
        if (!read_fill(&c->input[i], &fill[o.nfill++])) return NULL;
    }
    snprintf(last, sizeof(last), "%s", c->file);
    wrong[0]    = '\0';
    o.fill      = fill;
    o.phase     = c->phase;
    o.step      = c->step;
    o.tolerance = c->tolerance;
    o.report    = keep_failure;
    if (fire_check_layer(c->param, &o) < 0)
        snprintf(wrong, sizeof(wrong), "%s", fire_last_error());
    return wrong[0] != '\0' ? wrong : NULL;
}

TEST(layers_of_the_library_pass_all_checks)
{
    cases_each(passes);
}
