/* line.c - a small training. */
#include "line.h"

fire_trainer_t *line_make(const char *more, const fire_trainer_config_t *config)
{
    char            text[4096];
    fire_trainer_t *t;
    int n = snprintf(text, sizeof(text), LINE_SOLVER "snapshot_prefix: '%s' %s",
                     test_path("snap"), more);

    CHECK_OK(fire_trainer_from_text(text, (size_t)n, config, &t));
    return t;
}

const float *line_values(fire_blob_t *b, fire_part_t part)
{
    const float *x;

    CHECK_OK(fire_blob_read(b, part, FIRE_CPU, &x));
    return x;
}

line_weights_t line_weights(const fire_trainer_t *t)
{
    fire_net_t    *net = fire_trainer_net(t);
    line_weights_t w;

    memcpy(w.w, line_values(fire_net_param_blob(net, 0), FIRE_DATA), 6 * sizeof(float));
    memcpy(w.w + 6, line_values(fire_net_param_blob(net, 1), FIRE_DATA),
           2 * sizeof(float));
    return w;
}

bool line_same(line_weights_t a, line_weights_t b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

line_weights_t line_trained(const char *more, int iterations)
{
    fire_trainer_t *t = line_make(more, NULL);
    line_weights_t  w;

    CHECK_OK(fire_trainer_step(t, iterations));
    w = line_weights(t);
    fire_trainer_destroy(t);
    return w;
}
