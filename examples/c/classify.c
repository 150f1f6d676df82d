/* classify.c - the five most probable classes of one input, with libfire.
 *
 *     classify DEPLOY.prototxt [WEIGHTS.caffemodel [INPUT.raw]]
 *
 * INPUT.raw holds the values of the net's first input, float32 in the order channels,
 * height, width, as the net expects them (mean subtracted, ...). Without it the input
 * is random; without weights (none, or "-"), layers keep what their fillers gave
 * them. */
#include <fire/fire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 5 };

static void print_message(void *arg, fire_log_level_t level, const char *file, int line,
                          const char *message)
{
    (void)arg, (void)level, (void)file, (void)line;
    fprintf(stderr, "%s\n", message);
}

/* Fill x with n values from the file, or with random ones if path is NULL. */
static int read_input(const char *path, float *x, int64_t n)
{
    size_t got;
    FILE  *f;

    if (path == NULL) {
        for (int64_t i = 0; i < n; i++)
            x[i] = (float)rand() / (float)RAND_MAX;
        return 0;
    }
    f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        return 1;
    }
    got = fread(x, sizeof(*x), (size_t)n, f);
    fclose(f);
    if (got == (size_t)n) return 0;
    fprintf(stderr, "%s: %zu values, the net's input has %lld\n", path, got,
            (long long)n);
    return 1;
}

/* Print the largest of n scores, largest first. */
static void print_top(const float *score, int64_t n)
{
    int64_t best[TOP];

    for (int k = 0; k < TOP && k < n; k++) {
        best[k] = -1;
        for (int64_t i = 0; i < n; i++) {
            int used = 0;

            for (int j = 0; j < k; j++)
                used |= best[j] == i;
            if (!used && (best[k] < 0 || score[i] > score[best[k]])) best[k] = i;
        }
        printf("%.4f class %lld\n", (double)score[best[k]], (long long)best[k]);
    }
}

/* Reshape the input to one sample, run the net, print the classes of its first
 * output. */
static int classify(fire_net_t *net, const char *path)
{
    fire_blob_t *input  = fire_net_blob(net, 0);
    fire_blob_t *output = fire_net_blob(net, fire_net_output(net, 0));
    int64_t      dim[FIRE_MAX_DIMS];
    const float *score;
    float       *x;

    for (int i = 0; i < fire_blob_ndim(input); i++)
        dim[i] = i == 0 ? 1 : fire_blob_dims(input)[i];
    if (fire_blob_reshape(input, fire_blob_ndim(input), dim) < 0 ||
        fire_blob_write(input, FIRE_DATA, FIRE_CPU, &x) < 0)
        goto err;
    if (read_input(path, x, fire_blob_count(input)) != 0) return 1;
    if (fire_net_forward(net, 0, -1, NULL) < 0 ||
        fire_blob_read(output, FIRE_DATA, FIRE_CPU, &score) < 0)
        goto err;
    print_top(score, fire_blob_count(output));
    return 0;

err:
    fprintf(stderr, "error: %s\n", fire_last_error());
    return 1;
}

int main(int argc, char **argv)
{
    fire_net_config_t config = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net;
    int               rc = 1;

    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: classify DEPLOY.prototxt [WEIGHTS [INPUT.raw]]\n");
        return 2;
    }
    fire_log_set_sink(print_message, NULL, FIRE_WARNING);
    config.mode = FIRE_LEAN;
    if (fire_net_from_file(argv[1], &config, &net) < 0) {
        fprintf(stderr, "error: %s\n", fire_last_error());
        return 1;
    }
    if (argc > 2 && strcmp(argv[2], "-") != 0 && fire_net_load_file(net, argv[2]) < 0)
        fprintf(stderr, "error: %s\n", fire_last_error());
    else
        rc = classify(net, argc > 3 ? argv[3] : NULL);
    fire_net_destroy(net);
    return rc;
}
