/* firecaffe features - blobs of a net for every image, as extract_features stores
 * them: Datums of floats, keys %010d. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "command.h"
#include "view/console.h"
#include "data/datum.h"
#include "data/source/writer.h"
#include "flags/net.h"

enum { MAX_BLOBS = 64 };

/* One blob and the database that it is written to. */
typedef struct output {
    const char    *name, *path;
    fire_blob_t   *blob;
    fire_writer_t *writer;
    int64_t        count; /* records so far */
} output_t;

/* Cut "a,b,c" in place and point to its words. Returns how many there are; no more than
 * MAX_BLOBS are kept. */
static int split(char *text, char *item[MAX_BLOBS])
{
    int   n = 0;
    char *rest;

    for (char *c = strtok_r(text, ",", &rest); c != NULL;
         c       = strtok_r(NULL, ",", &rest), n++)
        if (n < MAX_BLOBS) item[n] = c;
    return n;
}

/* The shape of one sample as a Datum has it: channels, height and width, 1 where the
 * blob has fewer axes. */
static int axis(const fire_blob_t *b, int i)
{
    return i < fire_blob_ndim(b) ? (int)fire_blob_dims(b)[i] : 1;
}

static fire_status_t store(output_t *o, fire_str_t *text)
{
    int64_t      batch = fire_blob_ndim(o->blob) > 0 ? fire_blob_dims(o->blob)[0] : 1;
    int64_t      size  = batch > 0 ? fire_blob_count(o->blob) / batch : 0;
    fire_datum_t d     = {.channels = axis(o->blob, 1),
                          .height   = axis(o->blob, 2),
                          .width    = axis(o->blob, 3),
                          .nfloat   = size};
    const float *x;

    FIRE_TRY(fire_blob_read(o->blob, FIRE_DATA, FIRE_CPU, &x));
    for (int64_t i = 0; i < batch; i++) {
        char key[24];

        text->n = 0;
        snprintf(key, sizeof(key), "%010lld", (long long)o->count++);
        FIRE_TRY(fire_datum_write(&d, x + i * size, text));
        FIRE_TRY(fire_writer_put(o->writer, key, text->text, (size_t)text->n));
    }
    return FIRE_OK;
}

static fire_status_t extract(fire_net_t *net, output_t *out, int n, int64_t batches)
{
    fire_str_t    text = {0};
    fire_status_t st   = FIRE_OK;

    for (int64_t b = 0; b < batches && st >= 0; b++) {
        fire_net_set_step(net, b);
        st = fire_net_forward(net, 0, -1, NULL);
        for (int i = 0; i < n && st >= 0; i++)
            st = store(&out[i], &text);
        console_progress("Extracting", b + 1, batches, "");
    }
    console_progress_end();
    fire_str_fini(&text);
    return st;
}

static fire_status_t open_outputs(const fire_net_t *net, output_t *out, int n,
                                  const char *backend)
{
    for (int i = 0; i < n; i++) {
        out[i].blob = fire_net_find_blob(net, out[i].name);
        if (out[i].blob == NULL)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%s has no blob \"%s\"; firecaffe net lists them",
                             net_flags.model, out[i].name);
    }
    for (int i = 0; i < n; i++)
        FIRE_TRY(fire_writer_open(backend, out[i].path, &out[i].writer));
    return FIRE_OK;
}

static fire_status_t commit(output_t *o)
{
    fire_writer_t *w = o->writer;

    o->writer = NULL; /* commit ends it, also if it fails */
    FIRE_TRY(fire_writer_commit(w));
    FIRE_LOG(INFO, "Extracted features of %lld query images for feature blob %s",
             (long long)o->count, o->name);
    return FIRE_OK;
}

static fire_status_t run_outputs(output_t *out, int n, int64_t batches,
                                 const char *backend)
{
    fire_net_t   *net;
    fire_status_t st;

    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, NULL, NULL, &net));
    st = open_outputs(net, out, n, backend);
    if (st >= 0) st = extract(net, out, n, batches);
    for (int i = 0; i < n && st >= 0; i++)
        st = commit(&out[i]);
    if (st >= 0) FIRE_LOG(INFO, "Successfully extracted the features!");
    for (int i = 0; i < n; i++)
        fire_writer_abort(out[i].writer);
    net_flags_close(net);
    return st;
}

/* The last arguments, as Caffe's tool takes them: CPU, or GPU and its number. */
static fire_status_t choose_place(int narg, const char *const *arg)
{
    if (narg <= 6 || strcmp(arg[6], "CPU") == 0) return FIRE_OK;
    if (strcmp(arg[6], "GPU") != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "\"%s\": write CPU or GPU, or leave it out",
                         arg[6]);
    net_flags.gpu = narg > 7 ? arg[7] : "0";
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    char         *blobs = NULL, *paths = NULL, *name[MAX_BLOBS], *path[MAX_BLOBS], *end;
    output_t      out[MAX_BLOBS] = {{0}};
    long long     batches        = strtoll(arg[4], &end, 10);
    int           n;
    fire_status_t st;

    if (*end != '\0' || batches < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "\"%s\" is not a number of batches", arg[4]);
    FIRE_TRY(choose_place(narg, arg));
    net_flags.weights = arg[0];
    net_flags.model   = arg[1];
    FIRE_TRY_GOTO(st, fire_strdup(arg[2], &blobs), done);
    FIRE_TRY_GOTO(st, fire_strdup(arg[3], &paths), done);
    n = split(blobs, name);
    if (n != split(paths, path) || n > MAX_BLOBS) {
        st = FIRE_FAIL(FIRE_ERR_INVALID,
                       "as many databases as blobs are needed, %d at most: %s, %s",
                       MAX_BLOBS, arg[2], arg[3]);
        goto done;
    }
    for (int i = 0; i < n; i++)
        out[i] = (output_t){.name = name[i], .path = path[i]};
    st = run_outputs(out, n, batches, arg[5]);
done:
    fire_free(blobs);
    fire_free(paths);
    return st;
}

static const fire_option_group_t groups[] = {{"Net", place_options, &net_flags}, {0}};

const command_t command_features = {
    .name      = "features",
    .arguments = "WEIGHTS MODEL BLOBS DBS BATCHES BACKEND [CPU|GPU [ID]]",
    .summary   = "write blobs of a net to databases, a record per image",
    .help      = "Runs the net of MODEL in the TEST phase on BATCHES batches of its\n"
                 "data layer and writes each of BLOBS (separated by commas) to a new\n"
                 "database of DBS, a record of floats per image.\n"
                 "\n"
                 "Example:\n"
                 "  firecaffe features lenet.caffemodel models/lenet/train_val.prototxt \\\n"
                 "      ip1,ip2 ip1_lmdb,ip2_lmdb 100 lmdb\n",
    .groups    = groups,
    .min_args  = 6,
    .max_args  = 8,
    .run       = run,
};
