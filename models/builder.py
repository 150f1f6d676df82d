"""Builds nets layer by layer and prints them in protobuf text format."""
WIDTH = 88  # a message that fits on a line of this width stays on one line

# Rates and decays of weights and biases: Caffe's usual recipe, biases learn twice as
# fast and do not decay.
USUAL = [dict(lr_mult=1, decay_mult=1), dict(lr_mult=2, decay_mult=0)]
TRAINING_ONLY = ("param", "weight_filler", "bias_filler", "include")
DEFAULTS = dict(pad=0, stride=1, group=1)

XAVIER = dict(type="xavier")
MSRA = dict(type="msra")


def gaussian(std):
    return dict(type="gaussian", std=std)


class Enum(str):
    """An enum value: a string that is printed without quotes."""


def scalar(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and not isinstance(value, Enum):
        return f'"{value}"'
    return str(value)


def field(key, value, indent=""):
    """The text-format lines of one field; a list is a repeated field."""
    if isinstance(value, list):
        return [line for v in value for line in field(key, v, indent)]
    if not isinstance(value, dict):
        return [f"{indent}{key}: {scalar(value)}"]
    inner = [line for k, v in value.items() for line in field(k, v, indent + "  ")]
    one_line = f"{indent}{key} {{ {' '.join(line.strip() for line in inner)} }}"
    if len(one_line) <= WIDTH:
        return [one_line]
    return [f"{indent}{key} {{", *inner, f"{indent}}}"]


def without(message, keys):
    """A copy of a message without some fields, at any depth."""
    return {k: without(v, keys) if isinstance(v, dict) else v
            for k, v in message.items() if k not in keys}


class Data:
    """Where a net's images come from. `large` adds a second training batch size,
    chosen by `train_state { stage: "batch<large>" }` in a solver."""

    def __init__(self, train, test, shape, batch, test_batch, name="data", large=None,
                 mirror=False, augment=None, **transform):
        """augment: the augment_param of the TRAIN phase."""
        self.train, self.test, self.shape, self.name = train, test, shape, name
        self.batch, self.test_batch, self.large = batch, test_batch, large
        self.mirror, self.augment, self.transform = mirror, augment, transform

    def layer(self, source, batch, mirror, **rule):
        transform = dict(mirror=True) if mirror else {}
        if self.augment and rule["phase"] == "TRAIN":
            transform.update(augment_param=self.augment)
        return dict(name=self.name, type="Data", top=["data", "label"], include=rule,
                    transform_param=dict(transform, **self.transform),
                    data_param=dict(source=source, batch_size=batch,
                                    backend=Enum("LMDB")))

    def layers(self):
        phase, stage = Enum("TRAIN"), f"batch{self.large}"
        usual = dict(not_stage=stage) if self.large else {}
        yield self.layer(self.train, self.batch, self.mirror, phase=phase, **usual)
        if self.large:
            yield self.layer(self.train, self.large, self.mirror, phase=phase,
                             stage=stage)
        yield self.layer(self.test, self.test_batch, False, phase=Enum("TEST"))

    def input(self):
        return dict(name="data", type="Input", top="data",
                    input_param=dict(shape=dict(dim=[1, *self.shape])))


class Net:
    """A net under construction. Every method appends a layer that reads the newest
    blob unless `bottom` says otherwise, and returns the name of the blob it makes."""

    def __init__(self, name, about, data, weight=XAVIER, bias=0, mults=USUAL):
        self.name, self.about, self.data = name, about, data
        self.weight, self.bias, self.mults = weight, bias, mults
        self.layers, self.top, self.deployed = [], "data", True

    def layer(self, type, name, bottom=None, top=None, **fields):
        top = top or name
        entry = dict(name=name, type=type, bottom=bottom or self.top, top=top, **fields)
        self.layers.append((entry, self.deployed))
        self.top = top
        return top

    def weighted(self, type, key, name, outputs, bottom, top, weight, bias, mults,
                 geometry):
        bias = self.bias if bias is None else bias
        mults = mults or self.mults
        param = dict(num_output=outputs)
        if bias is False:
            param.update(bias_term=False)
            mults = mults[:1]
        param.update((k, v) for k, v in geometry.items() if v != DEFAULTS.get(k))
        param.update(weight_filler=weight or self.weight)
        if bias:
            param.update(bias_filler=dict(type="constant", value=bias))
        return self.layer(type, name, bottom, top, param=mults, **{key: param})

    def conv(self, name, outputs, kernel, stride=1, pad=0, group=1, bottom=None,
             top=None, weight=None, bias=None, mults=None):
        """bias: the filler's value, or False for no bias."""
        return self.weighted("Convolution", "convolution_param", name, outputs, bottom,
                             top, weight, bias, mults, dict(kernel_size=kernel, pad=pad,
                                                            stride=stride, group=group))

    def fc(self, name, outputs, bottom=None, weight=None, bias=None, mults=None):
        return self.weighted("InnerProduct", "inner_product_param", name, outputs,
                             bottom, None, weight, bias, mults, {})

    def relu(self, name):
        return self.layer("ReLU", name, top=self.top)

    def dropout(self, name, ratio=0.5):
        return self.layer("Dropout", name, top=self.top,
                          dropout_param=dict(dropout_ratio=ratio))

    def pool(self, name, method, kernel=None, stride=1, pad=0, bottom=None):
        """Without a kernel the whole plane is pooled."""
        size = dict(kernel_size=kernel, pad=pad, stride=stride)
        size = {k: v for k, v in size.items() if v != DEFAULTS.get(k)}
        return self.layer("Pooling", name, bottom, pooling_param=dict(
            pool=Enum(method), **(size if kernel else dict(global_pooling=True))))

    def lrn(self, name, size, alpha, **more):
        return self.layer("LRN", name, lrn_param=dict(
            local_size=size, alpha=alpha, beta=0.75, **more))

    def batchnorm(self, name, scale, top=None, mults=None, keep=None):
        """BatchNorm and the Scale that gives it its learned gamma and beta. keep: what
        running statistics keep of their past in an iteration."""
        param = dict(batch_norm_param=dict(moving_average_fraction=keep)) if keep else {}
        top = self.layer("BatchNorm", name, top=top or self.top, **param)
        more = dict(param=mults) if mults else {}
        return self.layer("Scale", scale, top=top, scale_param=dict(bias_term=True),
                          **more)

    def concat(self, name, bottoms):
        return self.layer("Concat", name, bottoms)

    def add(self, name, bottoms):
        return self.layer("Eltwise", name, bottoms)

    def classify(self, loss="loss", loss_top=None, weight=None,
                 accuracy=("accuracy", "accuracy_top5")):
        """The loss on the newest blob, and top-1 and top-5 accuracy in the TEST
        phase. The deployed net has a softmax in their place."""
        scores, deployed, self.deployed = self.top, self.deployed, False
        weight = dict(loss_weight=weight) if weight else {}
        self.layer("SoftmaxWithLoss", loss, [scores, "label"], loss_top, **weight)
        for name, top_k in zip(accuracy, (1, 5)):
            param = dict(accuracy_param=dict(top_k=top_k)) if top_k > 1 else {}
            self.layer("Accuracy", name, [scores, "label"],
                       include=dict(phase=Enum("TEST")), **param)
        self.deployed = deployed
        self.top = scores

    def text(self, layers):
        lines = [f"# {self.about}",
                 "# Written by models/generate.py; to change it, edit models/nets.py.",
                 *field("name", self.name)]
        return "\n".join(lines + field("layer", layers)) + "\n"

    def train_val(self):
        return self.text([*self.data.layers(), *(entry for entry, _ in self.layers)])

    def deploy(self):
        """The net for inference: one input, no losses, nothing about training."""
        body = [without(entry, TRAINING_ONLY) for entry, kept in self.layers if kept]
        softmax = dict(name="prob", type="Softmax", bottom=self.top, top="prob")
        return self.text([self.data.input(), *body, softmax])
