#!/usr/bin/env python3
"""Count a net's parameters, |W|, |D| and FLOPs straight from its prototxt.

    python3 tests/models/count.py                        all nets of models/, as a table
    python3 tests/models/count.py FILE.prototxt [CxHxW]  one file

Written apart from the library and from models/generate.py, to check both. The
definitions are those of docs/models.md. Standard library only.
"""
import collections
import math
import pathlib
import re
import sys

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
TOKEN = re.compile(r'\s*(?:#[^\n]*\s*)*("[^"]*"|[{}:]|[^\s{}:"#]+)')
SAME_SHAPE = {"ReLU", "Dropout", "LRN", "BatchNorm", "Scale", "Softmax"}
NO_SHAPE = {"SoftmaxWithLoss", "Accuracy"}
Volume = collections.namedtuple("Volume", "parameters weights inputs macs")


def parse(text):
    """Text format as a dict from field name to the list of its values."""
    tokens, stack, key = TOKEN.findall(text), [collections.defaultdict(list)], None
    for token in tokens:
        if token == "{":
            message = collections.defaultdict(list)
            stack[-1][key].append(message)
            stack.append(message)
            key = None
        elif token == "}":
            stack.pop()
        elif token == ":":
            pass
        elif key is None:
            key = token
        else:
            stack[-1][key].append(token.strip('"'))
            key = None
    return stack[0]


def included(layer, phase, stages=()):
    """Caffe's rule: a layer with include rules is in when one of them is met."""
    def met(rule):
        return (rule["phase"] in ([], [phase])
                and all(s in stages for s in rule["stage"])
                and not any(s in stages for s in rule["not_stage"]))
    return not layer["include"] or any(met(rule) for rule in layer["include"])


def number(param, name, default=None):
    return int(param[name][0]) if param[name] else default


def window(param):
    return (number(param, "kernel_size"), number(param, "stride", 1),
            number(param, "pad", 0))


def convolution(layer, shape):
    param = layer["convolution_param"][0]
    outputs, (kernel, stride, pad) = number(param, "num_output"), window(param)
    size = [(s + 2 * pad - kernel) // stride + 1 for s in shape[1:]]
    weights = outputs * shape[0] // number(param, "group", 1) * kernel ** 2
    bias = 0 if param["bias_term"] == ["false"] else outputs
    return [outputs, *size], weights, bias, weights * size[0] * size[1]


def inner_product(layer, shape):
    outputs = number(layer["inner_product_param"][0], "num_output")
    weights = outputs * math.prod(shape)
    return [outputs], weights, outputs, weights


def pooled(layer, shape):
    param = layer["pooling_param"][0]
    if param["global_pooling"] == ["true"]:
        return [shape[0], 1, 1]
    kernel, stride, pad = window(param)
    size = []
    for s in shape[1:]:
        out = -(-(s + 2 * pad - kernel) // stride) + 1
        # Caffe drops a last window that would start in the padding.
        size.append(out - 1 if pad and (out - 1) * stride >= s + pad else out)
    return [shape[0], *size]


def top_shape(layer, bottoms):
    """Shape of the only top of a layer without weights of its own."""
    kind = layer["type"][0]
    if kind in SAME_SHAPE:
        return bottoms[0]
    if kind == "Pooling":
        return pooled(layer, bottoms[0])
    if kind == "Eltwise":
        assert all(b == bottoms[0] for b in bottoms), (layer["name"], bottoms)
        return bottoms[0]
    if kind == "Concat":
        assert all(b[1:] == bottoms[0][1:] for b in bottoms), (layer["name"], bottoms)
        return [sum(b[0] for b in bottoms), *bottoms[0][1:]]
    raise ValueError(f"{layer['name'][0]}: type {kind} is not known here")


def count(text, image, phase="TRAIN", group=True):
    """Volume of a net, per image. group=False counts as if no layer had groups."""
    shapes, total = {"data": list(image), "label": []}, Volume(0, 0, 0, 0)
    for layer in parse(text)["layer"]:
        kind = layer["type"][0]
        if not included(layer, phase) or kind in ("Data", "Input"):
            continue
        bottoms = [shapes[b] for b in layer["bottom"]]  # KeyError: no such blob
        if kind in ("Convolution", "InnerProduct"):
            if not group and layer["convolution_param"]:
                layer["convolution_param"][0]["group"] = []
            of = convolution if kind == "Convolution" else inner_product
            shape, weights, bias, macs = of(layer, bottoms[0])
            more = (weights + bias, weights, math.prod(bottoms[0]), macs)
        else:
            shape = [] if kind in NO_SHAPE else top_shape(layer, bottoms)
            more = (2 * shape[0] if kind == "Scale" else 0, 0, 0, 0)
        shapes[layer["top"][0]] = shape
        total = Volume(*(a + b for a, b in zip(total, more)))
    return total


def image_of(deploy):
    shape = parse(deploy)["layer"][0]["input_param"][0]["shape"][0]
    return [int(d) for d in shape["dim"][1:]]


def volume_of(folder, **options):
    """Volume of models/<folder>/train_val.prototxt."""
    image = image_of((MODELS / folder / "deploy.prototxt").read_text())
    return count((MODELS / folder / "train_val.prototxt").read_text(), image, **options)


def cells(volume):
    return (f"{volume.parameters:,} "
            f"| {volume.weights * 4 / 1e6:.2f} | {volume.inputs * 4 * 1024 / 1e9:.2f} "
            f"| {volume.inputs * 1024 / volume.weights:,.0f} "
            f"| {2 * volume.macs / 1e9:.3f} |")


def row(folder, volume):
    """The columns of docs/models.md that are computed."""
    return f"| [{folder}](../models/{folder}) | {cells(volume)}"


def main(arguments):
    if arguments:
        text = pathlib.Path(arguments[0]).read_text()
        image = arguments[1].split("x") if arguments[1:] else image_of(text)
        print(f"| {arguments[0]} | {cells(count(text, [int(d) for d in image]))}")
    else:
        for path in sorted(MODELS.glob("*/train_val.prototxt")):
            print(row(path.parent.name, volume_of(path.parent.name)))


if __name__ == "__main__":
    main(sys.argv[1:])
