/* test_published.c - nets written for Caffe and its forks, in the styles in which they
 * were published but small, load and train: tests/models/published. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "data/source/writer.h"
#include "model/load.h"
#include "model/text.h"
#include "test.h"
#include "net/net_state.h"
#include "train/trainer.h"

enum { ITERATIONS = 3, SIDE = 64, PLANE = SIDE * SIDE };

/* Records of one object each: a bright square in a dark image. */
static void write_annotated(const char *path)
{
    static uint8_t         pixels[3 * PLANE], packed[3 * PLANE + 1024];
    Caffe__Datum           datum = CAFFE__DATUM__INIT;
    Caffe__NormalizedBBox  box   = CAFFE__NORMALIZED_BBOX__INIT;
    Caffe__Annotation      one = CAFFE__ANNOTATION__INIT, *ones = &one;
    Caffe__AnnotationGroup group = CAFFE__ANNOTATION_GROUP__INIT, *groups = &group;
    Caffe__AnnotatedDatum  record = CAFFE__ANNOTATED_DATUM__INIT;
    fire_writer_t         *w;

    for (int i = 0; i < 3 * PLANE; i++)
        pixels[i] = i % SIDE / 16 == 1 && i % PLANE / SIDE / 16 == 2 ? 200 : 10;
    datum.has_channels = datum.has_height = datum.has_width = datum.has_data = true;
    datum.channels = 3, datum.height = SIDE, datum.width = SIDE;
    datum.data   = (ProtobufCBinaryData){sizeof(pixels), pixels};
    box.has_xmin = box.has_ymin = box.has_xmax = box.has_ymax = true;
    box.xmin = 0.25f, box.ymin = 0.5f, box.xmax = 0.5f, box.ymax = 0.75f;
    one.bbox                  = &box;
    group.has_group_label     = true;
    group.n_annotation        = 1;
    group.annotation          = &ones;
    record.datum              = &datum;
    record.has_type           = true;
    record.n_annotation_group = 1;
    record.annotation_group   = &groups;
    CHECK_OK(fire_writer_open("lmdb", path, &w));
    for (int i = 0; i < 4; i++) {
        char key[16];

        group.group_label = i % 2 + 1;
        snprintf(key, sizeof(key), "%08d", i);
        CHECK_OK(fire_writer_put(w, key, packed,
                                 caffe__annotated_datum__pack(&record, packed)));
    }
    CHECK_OK(fire_writer_commit(w));
}

/* Go where the nets find their data. */
static void enter_data_folder(void)
{
    const char *files[] = {"windows.txt", "big.png"};
    char        from[4096], path[4096];

    CHECK(chdir(test_tmpdir()) == 0);
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof(from), "%s/golden/cases/windowdata_context_pad/%s",
                 FIRE_BUILD_DIR, files[i]);
        snprintf(path, sizeof(path), "%s", files[i]);
        CHECK(symlink(from, path) == 0);
    }
    write_annotated("voc_lmdb");
}

/* Nets that begin with Input take what is written there: images, or words and labels. */
static void fill_inputs(fire_net_t *net)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t *l = &net->layer[i].base;

        for (int k = 0; k < l->ntop && strcmp(l->ops->type, "Input") == 0; k++) {
            bool   image = strcmp(l->param->top[k], "data") == 0;
            float *x;

            CHECK_OK(fire_blob_write(l->top[k], FIRE_DATA, FIRE_CPU, &x));
            for (int64_t n = 0; n < l->top[k]->count; n++)
                x[n] = image ? sinf((float)n) : (float)(n % 3);
        }
    }
}

static Caffe__SolverParameter *read_solver(const char *net)
{
    static const char text[] =
        "base_lr: 0.001 lr_policy: 'step' stepsize: 2 gamma: 0.1 momentum: 0.9 "
        "weight_decay: 0.0005 max_iter: 100 test_iter: 2 test_interval: 100 "
        "snapshot_after_train: false";
    Caffe__SolverParameter *solver;

    CHECK_OK(fire_text_parse(text, strlen(text), "solver",
                             &caffe__solver_parameter__descriptor,
                             (ProtobufCMessage **)&solver));
    CHECK_OK(fire_net_param_load_text(net, &solver->net_param));
    return solver;
}

/* The lowest parameter that learns: all of the net stands between it and the loss. */
static fire_blob_t *first_learner(const fire_net_t *net)
{
    int i = 0;

    while (i < net->nparam - 1 && net->learn[i].lr_mult == 0)
        i++;
    return net->learn[i].blob;
}

static void train(const char *path)
{
    fire_trainer_options_t  o      = FIRE_TRAINER_OPTIONS_INIT;
    Caffe__SolverParameter *solver = read_solver(path);
    fire_trainer_t         *t;
    double                  loss;
    float                  *before;
    const float            *w;
    fire_blob_t            *first;

    CHECK_OK(fire_trainer_create(solver, &o, &t));
    fill_inputs(fire_trainer_net(t));
    fill_inputs(fire_trainer_test_net(t, 0));
    first  = first_learner(fire_trainer_net(t));
    before = malloc((size_t)first->count * sizeof(*before));
    CHECK_OK(fire_blob_read(first, FIRE_DATA, FIRE_CPU, &w));
    memcpy(before, w, (size_t)first->count * sizeof(*before));
    for (int i = 0; i < ITERATIONS; i++) {
        CHECK_OK(fire_trainer_iterate(t, &loss));
        if (!isfinite(loss) || loss <= 0) test_fail(path, 0, "loss %g", loss);
    }
    CHECK_OK(fire_trainer_sync(t));
    CHECK_OK(fire_blob_read(first, FIRE_DATA, FIRE_CPU, &w));
    if (memcmp(before, w, (size_t)first->count * sizeof(*before)) == 0)
        test_fail(path, 0, "its first layer has not learned");
    CHECK_OK(fire_trainer_test(t, 0));
    if (strcmp(fire_trainer_test_net(t, 0)->param->name, "VGG_VOC0712_SSD_300x300") ==
        0) {
        CHECK_OK(fire_message_add_string(solver, "eval_type", "detection"));
        CHECK_OK(fire_trainer_test(t, 0));
    }
    free(before);
    fire_trainer_destroy(t);
    fire_message_free(solver);
}

TEST(nets_of_all_published_styles_load_and_train)
{
    glob_t files;

    CHECK(glob(test_source("tests/models/published/*.prototxt"), 0, NULL, &files) == 0);
    CHECK(files.gl_pathc >= 11);
    enter_data_folder();
    for (size_t i = 0; i < files.gl_pathc; i++)
        train(files.gl_pathv[i]);
    globfree(&files);
}
