/* firecaffe run - runs a net on arrays from .npy files and writes every blob as .npy.
 * */
#include <stdio.h>
#include <string.h>
#include "base/file.h"
#include "command.h"
#include "model/npy.h"
#include "flags/net.h"

typedef struct flags {
    fire_option_list_t in, topdiff;
    bool               backward, params;
    int64_t            iterations;
    const char        *out;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, in, LIST, NULL, "BLOB=FILE",
                "set a blob from a .npy file before each pass; may be repeated"),
    FIRE_OPTION(flags_t, out, PATH, "", "DIR",
                "write the arrays to DIR, which is made if missing"),
    FIRE_OPTION(flags_t, iterations, INT, "1", "N", "run N forward passes"),
    FIRE_OPTION(flags_t, backward, BOOL, "false", NULL,
                "run backward too and write the gradients"),
    FIRE_OPTION(flags_t, topdiff, LIST, NULL, "BLOB=FILE",
                "gradient of an output, set before backward; may be repeated"),
    FIRE_OPTION(flags_t, params, BOOL, "false", NULL,
                "write the parameters too, as they are at the end"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", net_options, &net_flags},
    {0},
};

/* ---- arrays in ---- */

/* "BLOB=FILE": a value may give the blob a new shape, a gradient must have its shape.
 * */
static fire_status_t set_blob(fire_net_t *net, const char *pair, fire_part_t part)
{
    const char   *equals = strchr(pair, '=');
    char          name[256];
    fire_blob_t  *blob;
    fire_npy_t    npy;
    fire_status_t st = FIRE_OK;
    float        *x;

    if (equals == NULL || (size_t)(equals - pair) >= sizeof(name))
        return FIRE_FAIL(FIRE_ERR_INVALID, "\"%s\": write BLOB=FILE.npy", pair);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - pair), pair);
    blob = fire_net_find_blob(net, name);
    if (blob == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s has no blob \"%s\"; firecaffe net lists them",
                         net_flags.model, name);
    FIRE_TRY(fire_npy_load(equals + 1, &npy));
    if (part == FIRE_DATA)
        st = fire_blob_reshape(blob, npy.ndim, npy.dim);
    else if (npy.count != fire_blob_count(blob))
        st = FIRE_FAIL(FIRE_ERR_INVALID, "%s has %lld numbers, blob \"%s\" %lld",
                       equals + 1, (long long)npy.count, name,
                       (long long)fire_blob_count(blob));
    if (st >= 0) st = fire_blob_write(blob, part, FIRE_CPU, &x);
    if (st >= 0) memcpy(x, npy.data, (size_t)npy.count * sizeof(*x));
    fire_npy_fini(&npy);
    return st;
}

/* ---- arrays out ---- */

/* Write DIR/NAME.npy or DIR/NAME.diff.npy; slashes in names of blobs make folders. */
static fire_status_t save(fire_blob_t *blob, fire_part_t part, const char *name)
{
    const float  *x;
    char         *path;
    fire_status_t st;

    if (strstr(name, "..") != NULL || name[0] == '/')
        return FIRE_FAIL(FIRE_ERR_INVALID, "\"%s\" cannot be the name of a file", name);
    FIRE_TRY(fire_blob_read(blob, part, FIRE_CPU, &x));
    FIRE_TRY(fire_asprintf(&path, "%s/%s%s.npy", flags.out, name,
                           part == FIRE_DIFF ? ".diff" : ""));
    st = fire_dir_make_for(path);
    if (st >= 0)
        st = fire_npy_save(path, fire_blob_ndim(blob), fire_blob_dims(blob), x);
    fire_free(path);
    return st;
}

static fire_status_t save_params(const fire_net_t *net, int layer)
{
    for (int i = 0; i < fire_net_layer_nparam(net, layer); i++) {
        fire_blob_t *blob = fire_net_layer_param(net, layer, i);
        char         name[256];

        snprintf(name, sizeof(name), "%s.%d", fire_net_layer_name(net, layer), i);
        if (flags.params) FIRE_TRY(save(blob, FIRE_DATA, name));
        if (flags.backward) FIRE_TRY(save(blob, FIRE_DIFF, name));
    }
    return FIRE_OK;
}

static fire_status_t save_all(const fire_net_t *net)
{
    for (int i = 0; i < fire_net_nblob(net); i++) {
        fire_blob_t *blob = fire_net_blob(net, i);
        const char  *name = fire_net_blob_name(net, i);

        FIRE_TRY(save(blob, FIRE_DATA, name));
        if (flags.backward) FIRE_TRY(save(blob, FIRE_DIFF, name));
    }
    for (int i = 0; i < fire_net_nlayer(net); i++)
        FIRE_TRY(save_params(net, i));
    return FIRE_OK;
}

/* ---- the run ---- */

static fire_status_t forward(fire_net_t *net)
{
    float loss;

    for (int64_t step = 0; step < flags.iterations; step++) {
        for (int64_t i = 0; i < flags.in.n; i++)
            FIRE_TRY(set_blob(net, flags.in.text[i], FIRE_DATA));
        fire_net_set_step(net, step);
        FIRE_TRY(fire_net_forward(net, 0, -1, &loss));
        printf("pass %lld  loss %.9g\n", (long long)step, (double)loss);
    }
    return FIRE_OK;
}

static fire_status_t backward(fire_net_t *net)
{
    bool any = false;

    for (int i = 0; i < fire_net_nlayer(net); i++)
        any |= fire_net_layer_has_backward(net, i);
    if (!any)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s has no gradient: it needs a loss layer, or "
                         "force_backward: true",
                         net_flags.model);
    FIRE_TRY(fire_net_clear_diffs(net));
    for (int64_t i = 0; i < flags.topdiff.n; i++)
        FIRE_TRY(set_blob(net, flags.topdiff.text[i], FIRE_DIFF));
    return fire_net_backward(net, -1, 0);
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_net_t   *net;
    fire_status_t st;

    (void)narg, (void)arg;
    if (flags.out[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "need a directory to write to: --out DIR");
    if (flags.iterations < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--iterations must be at least 1");
    if (flags.topdiff.n > 0 && !flags.backward)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--topdiff needs --backward");
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, NULL, NULL, &net));
    FIRE_TRY_GOTO(st, forward(net), done);
    if (flags.backward) FIRE_TRY_GOTO(st, backward(net), done);
    st = save_all(net);
done:
    net_flags_close(net);
    return st;
}

const command_t command_run = {
    .name      = "run",
    .arguments = "--model FILE --in BLOB=FILE.npy --out DIR",
    .summary   = "run a net on numpy arrays",
    .help      = "Sets blobs from .npy files, runs the net and writes every blob to\n"
                 "DIR/BLOB.npy (float32). With --backward it also writes the\n"
                 "gradients, those of blobs to DIR/BLOB.diff.npy, those of parameters\n"
                 "to DIR/LAYER.INDEX.diff.npy. The phase is TEST unless --phase=TRAIN.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe run --model deploy.prototxt --weights net.caffemodel \\\n"
                 "      --in data=images.npy --out result\n"
                 "  firecaffe run --model net.prototxt --phase TRAIN --in data=x.npy \\\n"
                 "      --in label=y.npy --backward --out result\n"
                 "  firecaffe run --model net.prototxt --in data=x.npy --backward \\\n"
                 "      --topdiff score=dy.npy --out result\n",
    .groups    = groups,
    .run       = run,
};
