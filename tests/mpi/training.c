#include "training.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sha256.h"

/* ---- nets ---- */

#define MNIST                                                                       \
    "layer { name: 'data' type: 'Data' top: 'data' top: 'label' transform_param { " \
    "scale: 0.00390625 } data_param { source: 'db' batch_size: 16 backend: LMDB } }\n"
#define CONV(name, bottom, n, k, pad)                                               \
    "layer { name: '" name "' type: 'Convolution' bottom: '" bottom "' top: '" name \
    "' convolution_param { num_output: " n " kernel_size: " k " pad: " pad          \
    " weight_filler { type: 'xavier' } } }\n"
#define POOL(name, bottom, method, k)                                           \
    "layer { name: '" name "' type: 'Pooling' bottom: '" bottom "' top: '" name \
    "' pooling_param { pool: " method " kernel_size: " k " stride: 2 } }\n"
#define RELU(name, blob) \
    "layer { name: '" name "' type: 'ReLU' bottom: '" blob "' top: '" blob "' }\n"
#define IP(name, bottom, n)                                                          \
    "layer { name: '" name "' type: 'InnerProduct' bottom: '" bottom "' top: '" name \
    "' inner_product_param { num_output: " n " weight_filler { type: 'xavier' } } }\n"
#define LOSS(bottom)                                                \
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: '" bottom \
    "' bottom: 'label' top: 'loss' }\n"

static const char *const nets[NET_KINDS] = {
    [LENET] = MNIST CONV("conv1", "data", "20", "5", "0")
        POOL("pool1", "conv1", "MAX", "2") CONV("conv2", "pool1", "50", "5", "0")
            POOL("pool2", "conv2", "MAX", "2") IP("ip1", "pool2", "500")
                RELU("relu1", "ip1") IP("ip2", "ip1", "10") LOSS("ip2"),
    [TEMPTING] =
        "layer { name: 'data' type: 'Data' top: 'data' top: 'label' transform_param { "
        "scale: 0.00390625 mirror: true crop_size: 20 } data_param { source: 'db' "
        "batch_size: 16 backend: LMDB shuffle: true } }\n" CONV(
            "conv1", "data", "8", "5",
            "0") "layer { name: 'bn' type: 'BatchNorm' bottom: 'conv1' top: 'bn' }\n"
                 "layer { name: 'scale' type: 'Scale' bottom: 'bn' top: 'bn' "
                 "scale_param { "
                 "bias_term: true } }\n" RELU("relu1", "bn")
                     POOL("pool1", "bn", "MAX",
                          "2") "layer { name: 'drop' type: 'Dropout' bottom: 'pool1' "
                               "top: 'drop' }\n" IP("ip", "drop", "10") LOSS("ip"),
    [QUICK] =
        "layer { name: 'data' type: 'DummyData' top: 'data' top: 'label' "
        "dummy_data_param { shape { dim: [8, 3, 32, 32] } shape { dim: 8 } data_filler "
        "{ type: 'gaussian' } data_filler { type: 'constant' value: 3 } } }\n" CONV(
            "conv1", "data", "32", "5", "2") POOL("pool1", "conv1", "MAX", "3")
            RELU("relu1", "pool1") CONV("conv2", "pool1", "32", "5", "2")
                RELU("relu2", "conv2") POOL("pool2", "conv2", "AVE", "3")
                    CONV("conv3", "pool2", "64", "5", "2") RELU("relu3", "conv3")
                        POOL("pool3", "conv3", "AVE", "3") IP("ip1", "pool3", "64")
                            IP("ip2", "ip1", "10") LOSS("ip2"),
};

void make_net(net_kind_t kind, const char *more)
{
    char solver[2048];

    if (kind != QUICK)
        SH_OK("test -d db || firecaffe convert mnist "
              "$SRC/data/mnist/t10k-images-idx3-ubyte.gz "
              "$SRC/data/mnist/t10k-labels-idx1-ubyte.gz db");
    write_file("net.prototxt", nets[kind]);
    snprintf(
        solver, sizeof(solver),
        "net: 'net.prototxt' base_lr: 0.01 lr_policy: 'inv' gamma: 0.0001 power: "
        "0.75 momentum: 0.9 weight_decay: 0.0005 display: 20 max_iter: 60 "
        "snapshot: 31 snapshot_prefix: 'snap' random_seed: 3 solver_mode: CPU %s\n",
        more);
    write_file("solver.prototxt", solver);
}

bool has_mpi(void)
{
    return sh("firecaffe version | grep -q MPI && command -v mpirun") == 0;
}

const char *sha256_of(const char *name)
{
    static char   text[2][65];
    static int    turn;
    char         *bytes;
    uint8_t       digest[FIRE_SHA256_SIZE];
    size_t        n;
    fire_sha256_t s;

    CHECK_OK(fire_file_read(test_path(name), &bytes, &n));
    fire_sha256_init(&s);
    fire_sha256_add(&s, bytes, n);
    fire_sha256_final(&s, digest);
    fire_free(bytes);
    turn ^= 1;
    fire_sha256_hex(digest, text[turn]);
    return text[turn];
}
