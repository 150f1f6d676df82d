"""ReLU6, SpatialDropout, Normalize, ConvolutionDepthwise, and what forks added to types of
Caffe's own: pooling's ceil_mode, BatchNorm's scale and bias."""
import torch
import torch.nn.functional as F

from case import Case


def relu6(out):
    what = "MobileNet: min(max(x, 0), 6)"
    for name, shape, in_place in [("relu6_default", (2, 3, 4, 5), False),
                                  ("relu6_inplace", (4, 7), True)]:
        c = Case(out, name, "ReLU6", what)
        c.input("x", c.uniform(*shape, low=-4, high=11))
        c.layer(["x" if in_place else "y"], "")
        c.compute(F.relu6)


def spatial_dropout(out):
    c = Case(out, "spatial_dropout_test", "SpatialDropout", "outside of training: y = x")
    c.input("x", c.uniform(2, 3, 2, 2))
    c.layer(["y"], "spatial_dropout_param { dropout_ratio: 0.3 }")
    c.compute(lambda x: x * 1)
    c = Case(out, "spatial_dropout_train", "SpatialDropout",
             "Tompson et al. 2015: a whole map is 0 or in / (1 - ratio)", phase="TRAIN")
    c.json["random"] = True
    c.json["expect"] = {"property": "spatial_dropout", "ratio": 0.3}
    c.input("data", c.uniform(40, 25, 2, 3))
    c.layer(["y"], "spatial_dropout_param { dropout_ratio: 0.3 }")
    c.compute(lambda x: x * 1)


def normalize(out):
    what = "ParseNet, SSD: x / sqrt(sum of squares + eps) * scale"
    for name, shape, across, shared, settings, eps in [
            ("normalize_place_channel", (2, 3, 2, 4), False, False, "", 1e-10),
            ("normalize_place_shared", (1, 4, 3, 3), False, True, "", 1e-10),
            ("normalize_image_shared", (2, 3, 2, 2), True, True, "", 1e-10),
            ("normalize_image_channel", (2, 2, 3, 1), True, False, "", 1e-10),
            ("normalize_eps", (1, 3, 2, 2), False, True, "eps: 0.5", 0.5)]:
        c = Case(out, name, "Normalize", what)
        c.input("x", c.uniform(*shape, low=-2, high=2))
        c.param(c.uniform(*(() if shared else (shape[1],)), low=5, high=20))
        c.layer(["y"], "norm_param { across_spatial: %s channel_shared: %s %s }"
                % (str(across).lower(), str(shared).lower(), settings))
        axes = (1, 2, 3) if across else (1,)
        c.compute(lambda x, s: x / torch.sqrt((x * x).sum(axes, keepdim=True) + eps)
                  * s.reshape(1, -1, 1, 1))


def convolution_depthwise(out):
    what = "each channel with a window of its own"
    for name, shape, settings, options in [
            ("depthwise_3x3_pad1", (2, 4, 5, 6), "kernel_size: 3 pad: 1", dict(padding=1)),
            ("depthwise_stride2", (1, 3, 7, 7), "kernel_size: 3 stride: 2 pad: 1",
             dict(padding=1, stride=2)),
            ("depthwise_dilation2", (1, 2, 8, 7), "kernel_size: 3 dilation: 2", dict(dilation=2)),
            ("depthwise_1x1_nobias", (2, 3, 3, 3), "kernel_size: 1 bias_term: false", {})]:
        c = Case(out, name, "ConvolutionDepthwise", what)
        k = 1 if "size: 1" in settings else 3
        c.input("x", c.uniform(*shape))
        c.param(c.uniform(shape[1], 1, k, k))
        if "bias_term" not in settings:
            c.param(c.uniform(shape[1]))
        c.layer(["y"], "convolution_param { num_output: %d %s }" % (shape[1], settings))
        c.compute(lambda x, w, b=None: F.conv2d(x, w, b, groups=x.shape[1], **options))


def ceil_mode(out):
    what = "ceil_mode: as the framework that it comes from rounds"
    for name, method, settings, ceil in [
            ("pool_max_ceil_mode_false", "MAX", "ceil_mode: false", False),
            ("pool_max_ceil_mode_true", "MAX", "ceil_mode: true", True),
            ("pool_ave_ceil_mode_false", "AVE", "ceil_mode: false", False)]:
        pool = F.max_pool2d if method == "MAX" else F.avg_pool2d
        for height, width in [(7, 8), (6, 5)]:
            c = Case(out, "%s_%dx%d" % (name, height, width), "Pooling", what)
            c.input("x", c.uniform(2, 2, height, width))
            c.layer(["y"], "pooling_param { pool: %s kernel_size: 3 stride: 2 %s }"
                    % (method, settings))
            c.compute(lambda x: pool(x, 3, 2, ceil_mode=ceil))


def record(out):
    for group in (relu6, spatial_dropout, normalize, convolution_depthwise, ceil_mode):
        group(out)
