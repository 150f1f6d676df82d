"""Build a PyTorch module from one of our prototxts: the same layers, sizes and losses, so
that a comparison times the same work. Needs torch; knows the layers of the nets that are
benchmarked."""
import re

import torch
import torch.nn as nn
import torch.nn.functional as F


# ---- the text format, as far as nets use it ----

def tokens(text):
    text = re.sub(r"#[^\n]*", "", text)
    return re.findall(r'"[^"]*"|[{}:]|[^\s{}:"]+', text)


def value(token):
    if token[0] == '"':
        return token[1:-1]
    try:
        return float(token) if re.search(r"[.eE]", token) else int(token)
    except ValueError:
        return {"true": True, "false": False}.get(token, token)


def parse(token, at=0):
    """A message from token[at] on: a dict of lists, and where it ends."""
    message = {}
    while at < len(token) and token[at] != "}":
        name, at = token[at], at + 1
        if token[at] == ":" and token[at + 1] != "{":
            item, at = value(token[at + 1]), at + 2
        else:
            at += 1 + (token[at] == ":")
            item, at = parse(token, at)
            at += 1
        message.setdefault(name, []).append(item)
    return message, at


def one(message, name, default=None):
    return message.get(name, [default])[0]


def load(path):
    with open(path) as f:
        return parse(tokens(f.read()))[0].get("layer", [])


# ---- layers ----

def is_used(layer, phase):
    rules = layer.get("include", [])
    return not rules or any(one(r, "phase", phase) == phase and "stage" not in r
                            for r in rules)


def pair(p, name, default):
    h, w = one(p, name + "_h"), one(p, name + "_w")
    square = one(p, {"kernel": "kernel_size"}.get(name, name), default)
    return (square if h is None else h, square if w is None else w)


def convolution(p, channels):
    return nn.Conv2d(channels, p["num_output"][0], pair(p, "kernel", 1),
                     pair(p, "stride", 1), pair(p, "pad", 0), one(p, "dilation", 1),
                     one(p, "group", 1), one(p, "bias_term", True))


def pooling(p):
    if one(p, "global_pooling"):
        return nn.AdaptiveAvgPool2d(1) if one(p, "pool") == "AVE" \
            else nn.AdaptiveMaxPool2d(1)
    kind = nn.AvgPool2d if one(p, "pool") == "AVE" else nn.MaxPool2d
    ceil = one(p, "round_mode", "CEIL") == "CEIL" and one(p, "ceil_mode", True)
    return kind(pair(p, "kernel", 1), pair(p, "stride", 1), pair(p, "pad", 0),
                ceil_mode=ceil)


class Net(nn.Module):
    """Runs the layers in order on named tensors; the result is the sum of losses, or the
    last top where there is none."""

    def __init__(self, layers, phase, shape):
        super().__init__()
        self.steps, self.parts = [], nn.ModuleList()
        known = {"data": torch.zeros(1, *shape), "label": torch.zeros(1, dtype=torch.long)}
        norms = set()  # blobs whose BatchNorm takes in the Scale that follows
        for l in layers:
            if not is_used(l, phase) or l["type"][0] in ("Data", "Input", "Accuracy"):
                continue
            bottom, top = l.get("bottom", []), l.get("top", [])
            if l["type"][0] == "Scale" and bottom[0] in norms:
                norms.discard(bottom[0])
                if bottom != top:
                    self.add(known, lambda x: x, bottom, top)
                continue
            if l["type"][0] == "BatchNorm":
                norms.add(top[0])
            self.add(known, self.make(l, known), bottom, top)

    def add(self, known, part, bottom, top):
        if isinstance(part, nn.Module):
            self.parts.append(part)
        self.steps.append((part, bottom, top))
        with torch.no_grad():
            known[top[0]] = part(*[known[b] for b in bottom])

    def make(self, l, known):
        kind, x = l["type"][0], known[l["bottom"][0]]
        p = next((v[0] for k, v in l.items() if k.endswith("_param") and
                  k not in ("transform_param", "loss_param")), {})
        in_place = l["bottom"][0] == l["top"][0]
        if kind == "Convolution":
            return convolution(p, x.shape[1])
        if kind == "Pooling":
            return pooling(p)
        if kind == "InnerProduct":
            return nn.Sequential(nn.Flatten(), nn.Linear(
                x[0].numel(), p["num_output"][0], one(p, "bias_term", True)))
        if kind == "ReLU":
            return nn.ReLU(in_place)
        if kind == "LRN":
            return nn.LocalResponseNorm(one(p, "local_size", 5), one(p, "alpha", 1.0),
                                        one(p, "beta", 0.75), one(p, "k", 1.0))
        if kind == "BatchNorm":
            return nn.BatchNorm2d(x.shape[1], one(p, "eps", 1e-5))
        if kind == "Dropout":
            return nn.Dropout(one(p, "dropout_ratio", 0.5))
        if kind == "Softmax":
            return nn.Softmax(1)
        if kind == "Concat":
            return lambda *x: torch.cat(x, one(p, "axis", 1))
        if kind == "Eltwise":
            return lambda a, b: a + b
        if kind == "SoftmaxWithLoss":
            weight = one(l, "loss_weight", 1.0)
            return lambda x, y: weight * F.cross_entropy(x.flatten(1), y)
        raise ValueError(f"layer type {kind} is not known here")

    def forward(self, data, label=None):
        known, loss = {"data": data, "label": label}, []
        for part, bottom, top in self.steps:
            known[top[0]] = part(*[known[b] for b in bottom])
            if "label" in bottom:
                loss.append(known[top[0]])
        return sum(loss) if loss else known[top[0]]


def train_net(folder):
    shape = load(folder + "/deploy.prototxt")[0]["input_param"][0]["shape"][0]["dim"][1:]
    return Net(load(folder + "/train_val.prototxt"), "TRAIN", shape), shape


def deploy_net(folder):
    layers = load(folder + "/deploy.prototxt")
    shape = layers[0]["input_param"][0]["shape"][0]["dim"][1:]
    return Net(layers, "TEST", shape), shape
