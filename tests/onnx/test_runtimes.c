/* Exported nets give in onnxruntime what they give here: every case of tests/layers/cases
 * and the models. Tests src/onnx/export/. Needs Python with onnx and onnxruntime, which
 * `./dev test` installs; with FIRE_ONNX_ALL in the environment large models too, and
 * OpenVINO and OpenCV where they are installed. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cases.h"
#include "filled.h"
#include "model/load.h"
#include "model/npy.h"
#include "net/net_state.h"
#include "onnx/onnx.h"

/* Folders of the test: a number for each exported net, whose names are in `list`. */
static int   exported, refused;
static FILE *list;

static const char *path_of(const char *file)
{
    static char path[4][512];
    static int  k;

    k = (k + 1) % 4;
    snprintf(path[k], sizeof(path[k]), "%s/%d/%s", test_tmpdir(), exported, file);
    return path[k];
}

static void save(const char *prefix, const char *name, fire_blob_t *b)
{
    char         file[256];
    const float *x;

    snprintf(file, sizeof(file), "%s%s.npy", prefix, name);
    for (char *c = file; *c != '\0'; c++)
        if (*c == '/') *c = '@';
    CHECK_OK(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
    CHECK_OK(fire_npy_save(path_of(file), fire_blob_ndim(b), fire_blob_dims(b), x));
}

/* Inputs and outputs of a forward pass as K_in_NAME.npy and K_out_NAME.npy. */
static void run(fire_net_t *net, const fire_onnx_model_t *m, int k)
{
    char prefix[32];

    snprintf(prefix, sizeof(prefix), "%d_in_", k);
    for (int64_t i = 0; i < m->ninput; i++) /* before a layer works in place */
        save(prefix, m->input[i]->name, fire_net_find_blob(net, m->input[i]->name));
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    snprintf(prefix, sizeof(prefix), "%d_out_", k);
    for (int64_t i = 0; i < m->noutput; i++)
        save(prefix, m->output[i]->name, net->blob[net->output[i]].blob);
}

/* Is the message one that says that ONNX cannot have this layer? */
static bool may_refuse(const char *type)
{
    static const char *const never[] = {"BoxAnnotatorOHEM",
                                        "BoxGroupOutput",
                                        "BoxOutput",
                                        "Correlation",
                                        "Correlation1D",
                                        "DecodeBBox",
                                        "DetectionEvaluate",
                                        "Downsample",
                                        "EvalDetection",
                                        "FlowWarp",
                                        "Im2col",
                                        "LabelSpecificAdd",
                                        "LargeMarginInnerProduct",
                                        "MarginInnerProduct",
                                        "MaskPooling",
                                        "MaskResize",
                                        "PSROIPooling",
                                        "Proposal",
                                        "Python",
                                        "Resample",
                                        "ROIAlign",
                                        "ROIPooling",
                                        "ROIWarping",
                                        "ScaleRoute",
                                        "SegAccuracy",
                                        "Silence",
                                        "Unpooling",
                                        "YoloDetectionOutput",
                                        "Yolov3",
                                        "Yolov3DetectionOutput"};
    const fire_layer_ops_t  *ops;

    if (strstr(fire_last_error(), "other than two spatial axes") != NULL) return true;
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (strcmp(type, never[i]) == 0) return true;
    CHECK_OK(fire_layer_find(type, &ops));
    return (ops->flags & FIRE_LAYER_LOSS) != 0 || strcmp(type, "Accuracy") == 0;
}

static const char *write_case(const layer_case_t *c)
{
    fire_onnx_export_config_t config = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_onnx_model_t        *m;
    fire_net_t               *net;
    fire_status_t             st;

    if (c->phase != CAFFE__PHASE__TEST) return NULL;
    net = case_net(c, c->param, "ref", 3);
    st  = fire_onnx_of_net(net, &config, &m);
    if (st < 0 && strstr(fire_last_error(), "--batch N") != NULL) {
        config.batch = (int)net->layer[0].base.top[0]->dim[0];
        st           = fire_onnx_of_net(net, &config, &m);
    }
    if (st < 0) {
        fire_net_destroy(net);
        refused++;
        return may_refuse(case_layer(c)->type) ? NULL : fire_last_error();
    }
    CHECK(mkdir(path_of(""), 0777) == 0);
    CHECK_OK(fire_onnx_save(m, path_of("net.onnx"), exported % 5 == 0));
    case_fill_inputs(c, net);
    run(net, m, 0);
    /* The indices of BatchReindex name items of the batch that it was written for. */
    if (config.batch == 0 && !c->fixed &&
        strcmp(case_layer(c)->type, "BatchReindex") != 0)
        for (int k = 1; k <= 7; k += 6) {
            set_batch(net, k);
            case_fill_inputs(c, net);
            run(net, m, k);
        }
    fprintf(list, "%d %s: %s\n", exported++, c->file, c->name);
    fire_onnx_model_destroy(m);
    fire_net_destroy(net);
    return NULL;
}

static void write_model(const char *name, bool fold)
{
    fire_onnx_export_config_t config = FIRE_ONNX_EXPORT_CONFIG_INIT;
    char                      file[128];
    fire_net_options_t        o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter      *param;
    fire_onnx_model_t        *m;
    fire_net_t               *net;

    snprintf(file, sizeof(file), "models/%s/deploy.prototxt", name);
    CHECK_OK(fire_net_param_load_text(test_source(file), &param));
    o.ctx.exact = true; /* no Winograd, whose rounding is coarser */
    CHECK_OK(fire_net_create(param, &o, &net));
    fire_message_free(param);
    fill_params(net);
    config.fold = fold;
    CHECK_OK(fire_onnx_of_net(net, &config, &m));
    CHECK(mkdir(path_of(""), 0777) == 0);
    CHECK_OK(fire_onnx_save(m, path_of("net.onnx"), false));
    for (int k = 1; k <= 7; k += 6) {
        set_batch(net, k);
        fill_images(net);
        run(net, m, k);
    }
    fprintf(list, "%d model %s%s\n", exported++, name, fold ? ", folded" : "");
    fire_onnx_model_destroy(m);
    fire_net_destroy(net);
}

/* Run the script on a folder; without one it only looks for its packages. */
static int python(const char *folder)
{
    char command[1024];
    int  status;

    snprintf(command, sizeof(command),
             "p='" FIRE_SOURCE_DIR
             "/build/venv-onnx/bin/python'; p=${FIRE_PYTHON:-$p}; "
             "[ -x \"$p\" ] || p=python3; \"$p\" -B '%s' %s",
             test_source("tests/onnx/check_export.py"), folder);
    status = system(command);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)
        test_skip("no Python with onnx and onnxruntime: ./dev test installs them");
    return WEXITSTATUS(status);
}

/* Compare all that was written. */
static void compare(void)
{
    CHECK(fclose(list) == 0);
    CHECK_EQ(python(test_tmpdir()), 0);
}

static void begin(void)
{
    char file[512];

    exported = refused = 0;
    snprintf(file, sizeof(file), "%s/list.txt", test_tmpdir());
    list = fopen(file, "w");
    CHECK(list != NULL);
}

TEST(every_layer_of_inference_gives_the_same_in_onnxruntime)
{
    begin();
    cases_each(write_case);
    CHECK(exported > 100);
    CHECK(refused < 130);
    compare();
}

TEST(models_give_the_same_in_onnxruntime)
{
    static const char *const small[] = {"lenet",       "cifar10_quick", "cifar10_full",
                                        "nin_cifar10", "squeezenet",    "mobilenet_v2"};
    static const char *const large[] = {"alexnet",      "caffenet",     "googlenet",
                                        "mobilenet_v1", "nin_imagenet", "resnet18",
                                        "resnet50",     "resnet101",    "resnet152",
                                        "vgg16",        "vgg19"};

    CHECK_EQ(python(""), 0);
    if (getenv("FIRE_ONNX_ALL") != NULL) alarm(3000);
    begin();
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
        write_model(small[i], false);
    write_model("mobilenet_v2", true);
    for (size_t i = 0;
         i < sizeof(large) / sizeof(large[0]) && getenv("FIRE_ONNX_ALL") != NULL; i++)
        write_model(large[i], i % 2 == 0);
    compare();
}
