/* test_training.c - every net of models/ trains with its own solver: whole images of
 * noise, a tiny batch. The loss stays finite, and every layer's weights move. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "model/load.h"
#include "model/text.h"
#include "test.h"
#include "net/net_state.h"
#include "train/trainer.h"

enum { ITERATIONS = 2 };

static const char *file_of(const char *model, const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", model, name);
    return path;
}

/* The size of an image, from the net as it is deployed. */
static void read_image_size(const char *model, int64_t dim[3])
{
    Caffe__NetParameter    *net;
    const Caffe__BlobShape *shape;

    CHECK_OK(fire_net_param_load_text(file_of(model, "deploy.prototxt"), &net));
    CHECK_STR(net->layer[0]->type, "Input");
    shape = net->layer[0]->input_param->shape[0];
    CHECK_EQ(shape->n_dim, 4);
    memcpy(dim, shape->dim + 1, 3 * sizeof(*dim));
    fire_message_free(net);
}

/* Noise and labels 0 ... 8 instead of a database. */
static void make_up_data(Caffe__NetParameter *net, const int64_t dim[3], int batch)
{
    ProtobufCMessage *instead;
    char              text[512];
    int               found = 0;

    snprintf(
        text, sizeof(text),
        "type: 'DummyData' dummy_data_param { "
        "shape { dim: %d dim: %d dim: %d dim: %d } shape { dim: %d } "
        "data_filler { type: 'gaussian' } data_filler { type: 'uniform' max: 9 } }",
        batch, (int)dim[0], (int)dim[1], (int)dim[2], batch);
    CHECK_OK(fire_text_parse(text, strlen(text), "made up",
                             &caffe__layer_parameter__descriptor, &instead));
    for (size_t i = 0; i < net->n_layer; i++) {
        if (strcmp(net->layer[i]->type, "Data") != 0) continue;
        fire_message_clear_field(net->layer[i], "data_param");
        fire_message_clear_field(net->layer[i], "transform_param");
        CHECK_OK(fire_message_merge(instead, net->layer[i]));
        found++;
    }
    CHECK(found > 0);
    fire_message_free(instead);
}

/* The model's solver, with the net inside and nothing written or tested. */
static Caffe__SolverParameter *read_solver(const char *model, int batch)
{
    Caffe__SolverParameter *solver;
    int64_t                 dim[3];

    read_image_size(model, dim);
    CHECK_OK(fire_solver_param_load(file_of(model, "solver.prototxt"), &solver));
    CHECK_OK(fire_net_param_load_text(file_of(model, "train_val.prototxt"),
                                      &solver->net_param));
    make_up_data(solver->net_param, dim, batch);
    fire_message_clear_field(solver, "net");
    fire_message_clear_field(solver, "test_iter");
    fire_message_clear_field(solver, "snapshot");
    solver->has_snapshot_after_train = true;
    solver->snapshot_after_train     = false;
    return solver;
}

/* A few numbers of each parameter. */
static double sample(fire_blob_t *blob)
{
    const float *x;
    double       sum = 0;

    CHECK_OK(fire_blob_read(blob, FIRE_DATA, FIRE_CPU, &x));
    for (int64_t i = 0; i < blob->count; i += 1 + blob->count / 5000)
        sum += (double)x[i] * (double)(i % 7 + 1);
    return sum;
}

/* Layers whose first parameter is what it was; names one. */
static int count_unmoved(const fire_net_t *net, const double *before)
{
    int unmoved = 0;

    for (int i = 0; i < net->nparam; i++) {
        const fire_param_t *p = &net->learn[i];

        if (p->index > 0 || p->lr_mult == 0 || p->kind == FIRE_PARAM_STATISTIC)
            continue;
        if (sample(p->blob) == before[i]) {
            fprintf(stderr, "    %s has not moved\n",
                    net->layer[p->layer].base.param->name);
            unmoved++;
        }
    }
    return unmoved;
}

static void train(const char *model, int batch)
{
    fire_trainer_options_t  o      = FIRE_TRAINER_OPTIONS_INIT;
    Caffe__SolverParameter *solver = read_solver(model, batch);
    fire_trainer_t         *t;
    double                 *before, loss;

    CHECK_OK(fire_trainer_create(solver, &o, &t));
    CHECK(fire_trainer_net(t)->nparam > 0);
    before = calloc((size_t)fire_trainer_net(t)->nparam, sizeof(*before));
    for (int i = 0; i < fire_trainer_net(t)->nparam; i++)
        before[i] = sample(fire_trainer_net(t)->learn[i].blob);
    for (int i = 0; i < ITERATIONS; i++) {
        CHECK_OK(fire_trainer_iterate(t, &loss));
        if (!isfinite(loss) || loss <= 0)
            test_fail(model, 0, "loss %g in iteration %d", loss, i);
    }
    CHECK_OK(fire_trainer_sync(t));
    if (count_unmoved(fire_trainer_net(t), before) > 0)
        test_fail(model, 0, "weights stand still");
    free(before);
    fire_trainer_destroy(t);
    fire_message_free(solver);
}

/* By size, so that the work is spread over tests. Sanitized, VGG and the deepest nets
 * take too long for what they add. */
static bool is_large(const char *model)
{
    static const char *const large[] = {"vgg16", "vgg19", "resnet101", "resnet152",
                                        "resnet50"};

    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
        if (fire_path_has_suffix(model, large[i])) return true;
    return false;
}

static void train_all(bool large, int batch, int count)
{
    glob_t models;
    int    trained = 0;

    CHECK(glob(test_source("models/*"), GLOB_ONLYDIR, NULL, &models) == 0);
    for (size_t i = 0; i < models.gl_pathc; i++)
        if (is_large(models.gl_pathv[i]) == large) {
            train(models.gl_pathv[i], batch);
            trained++;
        }
    globfree(&models);
    CHECK_EQ(trained, count);
}

TEST(small_and_middle_nets_of_models_train)
{
    train_all(false, 2, 13);
}

TEST(large_nets_of_models_train)
{
    if (TEST_SANITIZED) test_skip("too slow with a sanitizer");
    train_all(true, 1, 5);
}
