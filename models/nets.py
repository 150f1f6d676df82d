"""The nets. generate.py turns them into prototxt files; names are those of the
published caffemodels, so that these load by layer name."""
from builder import MSRA, Data, Enum, Net, gaussian

NO_BIAS = False
NO_DECAY = [dict(lr_mult=1, decay_mult=0), dict(lr_mult=1, decay_mult=0)]
BGR_MEAN = [104, 117, 123]  # of ILSVRC12; OpenCV's channel order, as Caffe stores it
RGB_MEAN_CIFAR10 = [125.307, 122.95, 113.865]  # the converter keeps CIFAR's order


def imagenet(batch=256, crop=224, mean=BGR_MEAN, **more):
    return Data("data/ilsvrc12/train_lmdb", "data/ilsvrc12/val_lmdb", (3, crop, crop),
                batch, 50, mirror=True, crop_size=crop, mean_value=mean, **more)


def cifar10(batch, **more):
    return Data("examples/cifar10/cifar10_train_lmdb",
                "examples/cifar10/cifar10_test_lmdb", (3, 32, 32), batch, 100,
                name="cifar", mean_value=RGB_MEAN_CIFAR10, **more)


def lenet():
    n = Net("LeNet", "LeNet, Caffe's variant with ReLU (LeCun et al. 1998).",
            Data("examples/mnist/mnist_train_lmdb", "examples/mnist/mnist_test_lmdb",
                 (1, 28, 28), 64, 100, name="mnist", scale=0.00390625),
            mults=[dict(lr_mult=1), dict(lr_mult=2)])
    for i, outputs in (1, 20), (2, 50):
        n.conv(f"conv{i}", outputs, 5)
        n.pool(f"pool{i}", "MAX", 2, 2)
    n.fc("ip1", 500)
    n.relu("relu1")
    n.fc("ip2", 10)
    n.classify(accuracy=["accuracy"])
    return n


def cifar10_quick():
    n = Net("CIFAR10_quick", "CIFAR-10 quick: cuda-convnet's 26% error net.",
            cifar10(100), mults=[dict(lr_mult=1), dict(lr_mult=2)])
    n.conv("conv1", 32, 5, pad=2, weight=gaussian(0.0001))
    n.pool("pool1", "MAX", 3, 2)
    n.relu("relu1")
    for i, outputs in (2, 32), (3, 64):
        n.conv(f"conv{i}", outputs, 5, pad=2, weight=gaussian(0.01))
        n.relu(f"relu{i}")
        n.pool(f"pool{i}", "AVE", 3, 2)
    n.fc("ip1", 64, weight=gaussian(0.1))
    n.fc("ip2", 10, weight=gaussian(0.1))
    n.classify(accuracy=["accuracy"])
    return n


def cifar10_full():
    n = Net("CIFAR10_full", "CIFAR-10 full: cuda-convnet's 18% error net.",
            cifar10(100), mults=[dict(lr_mult=1), dict(lr_mult=2)])
    within = Enum("WITHIN_CHANNEL")
    n.conv("conv1", 32, 5, pad=2, weight=gaussian(0.0001))
    n.pool("pool1", "MAX", 3, 2)
    n.relu("relu1")
    n.lrn("norm1", 3, 5e-05, norm_region=within)
    n.conv("conv2", 32, 5, pad=2, weight=gaussian(0.01))
    n.relu("relu2")
    n.pool("pool2", "AVE", 3, 2)
    n.lrn("norm2", 3, 5e-05, norm_region=within)
    n.conv("conv3", 64, 5, pad=2, weight=gaussian(0.01),
           mults=[dict(lr_mult=1), dict(lr_mult=1)])
    n.relu("relu3")
    n.pool("pool3", "AVE", 3, 2)
    n.fc("ip1", 10, weight=gaussian(0.01),
         mults=[dict(lr_mult=1, decay_mult=250), dict(lr_mult=2, decay_mult=0)])
    n.classify(accuracy=["accuracy"])
    return n


def nin_cifar10():
    n = Net("NIN_CIFAR10", "Network in network for CIFAR-10 (Lin et al. 2014).",
            cifar10(128, mirror=True, scale=0.015625), weight=gaussian(0.05))
    slow = [dict(lr_mult=0.1, decay_mult=1), dict(lr_mult=0.1, decay_mult=0)]

    def mlpconv(i, kernel, first, second, mults=None):
        """A convolution and the two-layer perceptron that slides over its output."""
        n.conv(f"conv{i}", 192, kernel, pad=kernel // 2)
        n.relu(f"relu{i}")
        n.conv(f"cccp{2 * i - 1}", first, 1)
        n.relu(f"relu_cccp{2 * i - 1}")
        n.conv(f"cccp{2 * i}", second, 1, mults=mults)
        n.relu(f"relu_cccp{2 * i}")

    mlpconv(1, 5, 160, 96)
    n.pool("pool1", "MAX", 3, 2)
    n.dropout("drop1")
    mlpconv(2, 5, 192, 192)
    n.pool("pool2", "AVE", 3, 2)
    n.dropout("drop2")
    mlpconv(3, 3, 192, 10, slow)
    n.pool("pool3", "AVE", 8)
    n.classify(accuracy=["accuracy"])
    return n


def nin_imagenet():
    n = Net("nin_imagenet", "Network in network for ImageNet (Lin et al. 2014).",
            imagenet(large=1024), weight=gaussian(0.05))
    relus = iter((0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12))  # the published numbering

    def mlpconv(i, outputs, suffix="", std=0.05, last=None, **geometry):
        """Suffixes belong to the layers only, not to their blobs."""
        n.conv(f"conv{i}{suffix}", outputs, top=f"conv{i}", weight=gaussian(std),
               **geometry)
        n.relu(f"relu{next(relus)}")
        n.conv(f"cccp{2 * i - 1}{suffix}", outputs, 1, top=f"cccp{2 * i - 1}")
        n.relu(f"relu{next(relus)}")
        n.conv(f"cccp{2 * i}{suffix}", last or outputs, 1, top=f"cccp{2 * i}",
               weight=gaussian(0.01) if last else None)
        n.relu(f"relu{next(relus)}")

    mlpconv(1, 96, kernel=11, stride=4, std=0.01)
    n.pool("pool0", "MAX", 3, 2)
    mlpconv(2, 256, kernel=5, pad=2)
    n.pool("pool2", "MAX", 3, 2)
    mlpconv(3, 384, kernel=3, pad=1, std=0.01)
    n.pool("pool3", "MAX", 3, 2)
    n.dropout("drop")
    mlpconv(4, 1024, "-1024", kernel=3, pad=1, last=1000)
    n.pool("pool4", "AVE", 6)
    n.classify()
    return n


def alexnet(name, about, bias, norm_first):
    """AlexNet normalises and then pools; CaffeNet pools first, and starts the biases
    of its second, fourth and fifth stage at 1 where AlexNet has 0.1."""
    n = Net(name, about, imagenet(crop=227), weight=gaussian(0.01))

    def shrink(i):
        steps = [lambda: n.lrn(f"norm{i}", 5, 0.0001),
                 lambda: n.pool(f"pool{i}", "MAX", 3, 2)]
        for step in steps if norm_first else reversed(steps):
            step()

    n.conv("conv1", 96, 11, 4)
    n.relu("relu1")
    shrink(1)
    n.conv("conv2", 256, 5, pad=2, group=2, bias=bias)
    n.relu("relu2")
    shrink(2)
    n.conv("conv3", 384, 3, pad=1)
    n.relu("relu3")
    n.conv("conv4", 384, 3, pad=1, group=2, bias=bias)
    n.relu("relu4")
    n.conv("conv5", 256, 3, pad=1, group=2, bias=bias)
    n.relu("relu5")
    n.pool("pool5", "MAX", 3, 2)
    for i in 6, 7:
        n.fc(f"fc{i}", 4096, weight=gaussian(0.005), bias=bias)
        n.relu(f"relu{i}")
        n.dropout(f"drop{i}")
    n.fc("fc8", 1000)
    n.classify()
    return n


def vgg(depth, convs):
    """convs: how many 3x3 convolutions each of the five stages has."""
    n = Net(f"VGG_ILSVRC_{depth}_layers", f"VGG-{depth} (Simonyan, Zisserman 2015).",
            imagenet(mean=[103.939, 116.779, 123.68]))
    for stage, count in enumerate(convs, 1):
        for i in range(1, count + 1):
            n.conv(f"conv{stage}_{i}", min(64 * 2 ** (stage - 1), 512), 3, pad=1)
            n.relu(f"relu{stage}_{i}")
        n.pool(f"pool{stage}", "MAX", 2, 2)
    for i in 6, 7:
        n.fc(f"fc{i}", 4096)
        n.relu(f"relu{i}")
        n.dropout(f"drop{i}")
    n.fc("fc8", 1000)
    n.classify()
    return n


def googlenet():
    n = Net("GoogleNet", "GoogLeNet with both auxiliary heads (Szegedy et al. 2015).",
            imagenet(32, large=1024), bias=0.2)

    def conv(prefix, kind, outputs, kernel, stride=1, bottom=None, suffix=""):
        n.conv(f"{prefix}/{kind}{suffix}", outputs, kernel, stride, kernel // 2,
               bottom=bottom)
        return n.relu(f"{prefix}/relu_{kind}")

    def inception(i, c1, c3_reduce, c3, c5_reduce, c5, pool):
        name, bottom = f"inception_{i}", n.top
        tops = [conv(name, "1x1", c1, 1)]
        conv(name, "3x3_reduce", c3_reduce, 1, bottom=bottom)
        tops.append(conv(name, "3x3", c3, 3))
        conv(name, "5x5_reduce", c5_reduce, 1, bottom=bottom)
        tops.append(conv(name, "5x5", c5, 5))
        n.pool(f"{name}/pool", "MAX", 3, 1, 1, bottom=bottom)
        tops.append(conv(name, "pool_proj", pool, 1))
        n.concat(f"{name}/output", tops)

    def auxiliary_head(i):
        name, trunk, n.deployed = f"loss{i}", n.top, False
        n.pool(f"{name}/ave_pool", "AVE", 5, 3)
        n.conv(f"{name}/conv", 128, 1)
        n.relu(f"{name}/relu_conv")
        n.fc(f"{name}/fc", 1024)
        n.relu(f"{name}/relu_fc")
        n.dropout(f"{name}/drop_fc", 0.7)
        n.fc(f"{name}/classifier", 1000, bias=0)
        n.classify(f"{name}/loss", f"{name}/loss1", 0.3,
                   (f"{name}/top-1", f"{name}/top-5"))
        n.top, n.deployed = trunk, True

    conv("conv1", "7x7", 64, 7, 2, suffix="_s2")
    n.pool("pool1/3x3_s2", "MAX", 3, 2)
    n.lrn("pool1/norm1", 5, 0.0001)
    conv("conv2", "3x3_reduce", 64, 1)
    conv("conv2", "3x3", 192, 3)
    n.lrn("conv2/norm2", 5, 0.0001)
    n.pool("pool2/3x3_s2", "MAX", 3, 2)
    inception("3a", 64, 96, 128, 16, 32, 32)
    inception("3b", 128, 128, 192, 32, 96, 64)
    n.pool("pool3/3x3_s2", "MAX", 3, 2)
    inception("4a", 192, 96, 208, 16, 48, 64)
    auxiliary_head(1)
    inception("4b", 160, 112, 224, 24, 64, 64)
    inception("4c", 128, 128, 256, 24, 64, 64)
    inception("4d", 112, 144, 288, 32, 64, 64)
    auxiliary_head(2)
    inception("4e", 256, 160, 320, 32, 128, 128)
    n.pool("pool4/3x3_s2", "MAX", 3, 2)
    inception("5a", 256, 160, 320, 32, 128, 128)
    inception("5b", 384, 192, 384, 48, 128, 128)
    n.pool("pool5/7x7_s1", "AVE", 7)
    n.dropout("pool5/drop_7x7_s1", 0.4)
    n.fc("loss3/classifier", 1000, bias=0)
    n.classify("loss3/loss3", None, 1, ("loss3/top-1", "loss3/top-5"))
    return n


def resnet(depth, blocks, bottleneck=True, conv1_bias=NO_BIAS, large=None):
    """blocks: how many residual blocks each of the four stages has. As in the authors'
    release, the first 1x1 convolution of a bottleneck carries the stride."""
    n = Net(f"ResNet-{depth}", f"ResNet-{depth} (He et al. 2016).",
            imagenet(large=large), weight=MSRA)

    def branch(block, part, outputs, kernel, stride=1, bottom=None, relu=True):
        name = f"{block}_branch{part}"
        n.conv(f"res{name}", outputs, kernel, stride, kernel // 2, bottom=bottom,
               bias=NO_BIAS)
        n.batchnorm(f"bn{name}", f"scale{name}")
        return n.relu(f"res{name}_relu") if relu else n.top

    def residual(block, width, stride, project):
        bottom, outputs = n.top, width * (4 if bottleneck else 1)
        shortcut = bottom
        if project:
            shortcut = branch(block, "1", outputs, 1, stride, relu=False)
        if bottleneck:
            branch(block, "2a", width, 1, stride, bottom)
            branch(block, "2b", width, 3)
            top = branch(block, "2c", outputs, 1, relu=False)
        else:
            branch(block, "2a", width, 3, stride, bottom)
            top = branch(block, "2b", width, 3, relu=False)
        n.add(f"res{block}", [shortcut, top])
        n.relu(f"res{block}_relu")

    n.conv("conv1", 64, 7, 2, 3, bias=conv1_bias)
    n.batchnorm("bn_conv1", "scale_conv1")
    n.relu("conv1_relu")
    n.pool("pool1", "MAX", 3, 2)
    for stage, count in enumerate(blocks, 2):
        for i in range(count):
            # The deepest nets number their long stages: a, b1, b2, ...
            numbered = depth > 50 and count > 3 and i > 0
            letter = f"b{i}" if numbered else "abcdef"[i]
            first = i == 0
            residual(f"{stage}{letter}", 64 * 2 ** (stage - 2),
                     2 if first and stage > 2 else 1,
                     first and (bottleneck or stage > 2))
    n.pool("pool5", "AVE", 7)
    n.fc("fc1000", 1000)
    n.classify()
    return n


def resnet20():
    """Shortcuts of blocks that widen are 1x1 convolutions, as in the larger nets."""
    n = Net("ResNet-20", "ResNet-20 for CIFAR-10 (He et al. 2016).",
            cifar10(128, mirror=True, crop_size=32, augment=dict(pad=4)), weight=MSRA)

    def branch(block, part, outputs, kernel, stride=1, bottom=None, relu=True):
        name = f"{block}_branch{part}"
        n.conv(f"res{name}", outputs, kernel, stride, kernel // 2, bottom=bottom,
               bias=NO_BIAS)
        n.batchnorm(f"bn{name}", f"scale{name}", mults=NO_DECAY, keep=0.9)
        return n.relu(f"res{name}_relu") if relu else n.top

    n.conv("conv1", 16, 3, pad=1, bias=NO_BIAS)
    n.batchnorm("bn_conv1", "scale_conv1", mults=NO_DECAY, keep=0.9)
    n.relu("conv1_relu")
    for stage, width in enumerate((16, 32, 64), 2):
        for i, letter in enumerate("abc"):
            block, bottom, stride = f"{stage}{letter}", n.top, 1
            shortcut = bottom
            if stage > 2 and i == 0:
                stride = 2
                shortcut = branch(block, "1", width, 1, stride, relu=False)
            branch(block, "2a", width, 3, stride, bottom)
            top = branch(block, "2b", width, 3, relu=False)
            n.add(f"res{block}", [shortcut, top])
            n.relu(f"res{block}_relu")
    n.pool("pool", "AVE", 8)
    n.fc("fc10", 10)
    n.classify(accuracy=["accuracy"])
    return n


def squeezenet():
    n = Net("SqueezeNet_v1.1", "SqueezeNet 1.1 (Iandola et al. 2016).",
            imagenet(512, crop=227))

    def fire(i, squeeze, expand):
        tops = []
        n.conv(f"fire{i}/squeeze1x1", squeeze, 1)
        bottom = n.relu(f"fire{i}/relu_squeeze1x1")
        for kernel in 1, 3:
            part = f"expand{kernel}x{kernel}"
            n.conv(f"fire{i}/{part}", expand, kernel, pad=kernel // 2, bottom=bottom)
            tops.append(n.relu(f"fire{i}/relu_{part}"))
        n.concat(f"fire{i}/concat", tops)

    n.conv("conv1", 64, 3, 2)
    n.relu("relu_conv1")
    n.pool("pool1", "MAX", 3, 2)
    fire(2, 16, 64)
    fire(3, 16, 64)
    n.pool("pool3", "MAX", 3, 2)
    fire(4, 32, 128)
    fire(5, 32, 128)
    n.pool("pool5", "MAX", 3, 2)
    fire(6, 48, 192)
    fire(7, 48, 192)
    fire(8, 64, 256)
    fire(9, 64, 256)
    n.dropout("drop9")
    n.conv("conv10", 1000, 1, weight=gaussian(0.01))
    n.relu("relu_conv10")
    n.pool("pool10", "AVE")
    n.classify()
    return n


class MobileNet(Net):
    """What both MobileNets share: convolutions with BatchNorm, in the published naming
    conv4_1/dw, conv4_1/dw/bn, conv4_1/dw/scale, relu4_1/dw."""

    def __init__(self, name, about):
        super().__init__(name, about, imagenet(mean=[103.94, 116.78, 123.68],
                                               scale=0.017), weight=MSRA)

    def unit(self, name, outputs, kernel=1, stride=1, depthwise=False, relu=True):
        self.conv(f"conv{name}", outputs, kernel, stride, kernel // 2,
                  outputs if depthwise else 1, bias=NO_BIAS,
                  mults=NO_DECAY if depthwise else None)
        self.batchnorm(f"conv{name}/bn", f"conv{name}/scale", f"conv{name}/bn",
                       NO_DECAY)
        if relu:
            self.relu(f"relu{name}")

    def finish(self):
        self.pool("pool6", "AVE")
        self.conv("fc7", 1000, 1)
        self.classify()
        return self


def mobilenet_v1():
    n = MobileNet("MOBILENET", "MobileNet v1, width 1 (Howard et al. 2017).")
    n.unit("1", 32, 3, 2)
    inputs = 32
    for name, outputs, stride in (
            ("2_1", 64, 1), ("2_2", 128, 2), ("3_1", 128, 1), ("3_2", 256, 2),
            ("4_1", 256, 1), ("4_2", 512, 2), ("5_1", 512, 1), ("5_2", 512, 1),
            ("5_3", 512, 1), ("5_4", 512, 1), ("5_5", 512, 1), ("5_6", 1024, 2),
            ("6", 1024, 1)):
        n.unit(f"{name}/dw", inputs, 3, stride, depthwise=True)
        n.unit(f"{name}/sep", outputs)
        inputs = outputs
    return n.finish()


def mobilenet_v2(published=False):
    """published: the net of the widespread caffemodel. It follows the paper's first
    version, which halves the plane at conv4_7 instead of conv4_3, and it expands (by
    one) in the first block too."""
    n = MobileNet("MOBILENET_V2", "MobileNet v2, width 1 (Sandler et al. 2018).")

    def bottleneck(name, inputs, outputs, stride, expansion):
        bottom, width = n.top, inputs * expansion
        if expansion > 1 or published:
            n.unit(f"{name}/expand", width)
        n.unit(f"{name}/dwise", width, 3, stride, depthwise=True)
        n.unit(f"{name}/linear", outputs, relu=False)
        if stride == 1 and inputs == outputs:
            n.add(f"block_{name}", [bottom, n.top])

    n.unit("1", 32, 3, 2)
    inputs = 32
    halving = {"2_2", "3_2", "5_3", "4_7" if published else "4_3"}
    for outputs, names in ((16, ["2_1"]), (24, ["2_2", "3_1"]),
                           (32, ["3_2", "4_1", "4_2"]),
                           (64, ["4_3", "4_4", "4_5", "4_6"]),
                           (96, ["4_7", "5_1", "5_2"]), (160, ["5_3", "6_1", "6_2"]),
                           (320, ["6_3"])):
        for name in names:
            bottleneck(name, inputs, outputs, 2 if name in halving else 1,
                       1 if name == "2_1" else 6)
            inputs = outputs
    n.unit("6_4", 1280)
    return n.finish()


NETS = {
    "lenet": lenet(),
    "cifar10_quick": cifar10_quick(),
    "cifar10_full": cifar10_full(),
    "nin_cifar10": nin_cifar10(),
    "nin_imagenet": nin_imagenet(),
    "alexnet": alexnet("AlexNet", "AlexNet (Krizhevsky et al. 2012).", 0.1, True),
    "caffenet": alexnet("CaffeNet", "CaffeNet, Caffe's variant of AlexNet.", 1, False),
    "vgg16": vgg(16, (2, 2, 3, 3, 3)),
    "vgg19": vgg(19, (2, 2, 4, 4, 4)),
    "googlenet": googlenet(),
    "resnet18": resnet(18, (2, 2, 2, 2), bottleneck=False),
    "resnet50": resnet(50, (3, 4, 6, 3), large=8192),
    "resnet101": resnet(101, (3, 4, 23, 3)),
    "resnet152": resnet(152, (3, 8, 36, 3)),
    "resnet20": resnet20(),
    "squeezenet": squeezenet(),
    "mobilenet_v1": mobilenet_v1(),
    "mobilenet_v2": mobilenet_v2(),
}

# Variants whose only use is to load a widespread caffemodel that differs slightly.
PUBLISHED = {
    "resnet50": resnet(50, (3, 4, 6, 3), conv1_bias=0),
    "mobilenet_v2": mobilenet_v2(published=True),
}
