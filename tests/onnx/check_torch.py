"""Imports torchvision's nets and compares with PyTorch: check_torch.py FIRECAFFE FOLDER [NET ...].

Every net gets random weights and statistics, is exported by both exporters of torch.onnx,
imported, and run on the same two images: outputs must agree to 1e-4 of the largest value.
Then ResNet-18 and MobileNet v2 are trained for ten steps here and there: losses must agree
to 1e-3. Prints a table; exit status 1 if something differs.
"""
import logging
import os
import re
import shutil
import subprocess
import sys
import warnings

import h5py
import numpy as np
import torch
import torchvision

# Height and width of the images. VGG and AlexNet are exported for one size only.
NETS = {
    "alexnet": 224, "convnext_tiny": 96, "deeplabv3_mobilenet_v3_large": 64, "densenet121": 96,
    "efficientnet_b0": 96, "fcn_resnet50": 64, "googlenet": 96, "inception_v3": 128,
    "lraspp_mobilenet_v3_large": 64, "mnasnet0_5": 96, "mobilenet_v2": 96,
    "mobilenet_v3_small": 96, "regnet_y_400mf": 96, "resnet18": 96, "resnext50_32x4d": 64,
    "shufflenet_v2_x1_0": 96, "squeezenet1_1": 96, "vgg11_bn": 224, "vgg16": 224,
    "wide_resnet50_2": 64}
STEPS, BATCH = 10, 8


class Scores(torch.nn.Module):
    """The first output of a segmentation net."""
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)["out"]


def make(name):
    torch.manual_seed(0)
    segments = hasattr(torchvision.models.segmentation, name)
    options = {"weights": None}
    if segments:
        options["weights_backbone"] = None
    if name in ("googlenet", "inception_v3"):
        options.update(aux_logits=False, init_weights=False)
    where = torchvision.models.segmentation if segments else torchvision.models
    net = getattr(where, name)(**options)
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.1)
            m.running_var.uniform_(0.5, 1.5)
            m.weight.data.uniform_(0.5, 1.5)
            m.bias.data.normal_(0, 0.1)
    return Scores(net).eval() if segments else net.eval()


def call(*command):
    r = subprocess.run(command, capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(r.stderr.strip()[-500:])
    return r.stdout + r.stderr


def tops(prototxt):
    return re.findall(r'top: "([^"]*)"', open(prototxt).read())


def difference(firecaffe, folder, net, x, dynamo):
    """Export, import, run: the largest difference relative to the largest value."""
    os.makedirs(folder)
    with torch.no_grad():
        want = net(x).numpy()
        torch.onnx.export(net, (x,), folder + "/n.onnx", dynamo=dynamo, verbose=False)
    call(firecaffe, "import", "onnx", folder + "/n.onnx", "-o", folder, "--quiet")
    blobs = tops(folder + "/deploy.prototxt")
    np.save(folder + "/x.npy", x.numpy())
    call(firecaffe, "run", "--model", folder + "/deploy.prototxt", "--weights",
         folder + "/net.caffemodel", "--in", "%s=%s/x.npy" % (blobs[0], folder), "--out",
         folder + "/out", "--quiet")
    got = np.load("%s/out/%s.npy" % (folder, blobs[-1].replace("/", "_")))
    return float(abs(got - want).max() / abs(want).max())


def train_torch(net, x, y):
    step = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
    losses = []
    for i in range(STEPS):
        rows = slice(i * BATCH, (i + 1) * BATCH)
        step.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        step.step()
        losses.append(float(loss.detach()))
    return losses


def train_here(firecaffe, folder, x, y):
    """The imported train_val.prototxt with the images of an HDF5 file."""
    text = open(folder + "/train_val.prototxt").read()
    data = tops(folder + "/train_val.prototxt")[0]
    with h5py.File(folder + "/d.h5", "w") as f:
        f[data] = x.numpy()
        f["label"] = y.numpy().astype("f4")
    open(folder + "/list.txt", "w").write(folder + "/d.h5\n")
    source = ('layer { name: "d" type: "HDF5Data" top: "%s" top: "label" hdf5_data_param '
              '{ source: "%s/list.txt" batch_size: %d } }\n' % (data, folder, BATCH))
    open(folder + "/t.prototxt", "w").write(
        source + "layer {".join([""] + text.split("layer {")[3:]))
    open(folder + "/s.prototxt", "w").write(
        'net: "%s/t.prototxt"\nbase_lr: 0.001 lr_policy: "fixed" momentum: 0.9 weight_decay: 0 '
        'display: 1 max_iter: %d snapshot_after_train: false solver_mode: CPU\n' % (folder, STEPS))
    log = call(firecaffe, "train", "--solver", folder + "/s.prototxt", "--weights",
               folder + "/net.caffemodel")
    return [float(v) for v in re.findall(r"Iteration \d+ .*?loss = ([-\d.e+]+)", log)][:STEPS]


def training(firecaffe, folder, name):
    """The largest relative difference of ten losses."""
    torch.manual_seed(1)
    net = getattr(torchvision.models, name)(weights=None, num_classes=10)
    for m in net.modules():
        if isinstance(m, torch.nn.Dropout):
            m.p = 0.0
    x = torch.randn(STEPS * BATCH, 3, 96, 96)
    y = torch.randint(0, 10, (STEPS * BATCH,))
    net.train()
    os.makedirs(folder)
    torch.onnx.export(net, (x[:BATCH],), folder + "/n.onnx", dynamo=False,
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
    call(firecaffe, "import", "onnx", folder + "/n.onnx", "-o", folder, "--quiet")
    want, got = train_torch(net, x, y), train_here(firecaffe, folder, x, y)
    return max(abs(a - b) / a for a, b in zip(want, got)) if len(got) == STEPS else float("inf")


def main(firecaffe, root, *names):
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    bad = 0
    for name in names or NETS:
        net, row = make(name), []
        x = torch.randn(2, 3, NETS[name], NETS[name])
        for dynamo in (False, True):
            folder = root + "/net"
            shutil.rmtree(folder, ignore_errors=True)
            try:
                d = difference(firecaffe, folder, net, x, dynamo)
                row.append("%.1e" % d)
                bad += not d <= 1e-4
            except Exception as e:  # of an exporter, or of ours
                row.append("%s: %s" % (type(e).__name__, str(e)[-300:]))
                bad += 1
        print("| %s | %s |" % (name, " | ".join(row)), flush=True)
    for name in ("resnet18", "mobilenet_v2"):
        if names and name not in names:
            continue
        shutil.rmtree(root + "/net", ignore_errors=True)
        d = training(firecaffe, root + "/net", name)
        print("%s: losses of %d steps differ by %.1e" % (name, STEPS, d), flush=True)
        bad += not d <= 1e-3
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
