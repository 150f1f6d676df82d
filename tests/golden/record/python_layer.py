"""The Python layer: classes of golden_layers.py, which lies in the case, beside what torch
makes of the same formulas."""
import os
import shutil

import torch

from case import LOSS, Case

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden_layers.py")


def begin(out, name, what):
    c = Case(out, name, "Python", what)
    c.json["needs"] = "python"
    shutil.copyfile(SOURCE, os.path.join(c.folder, "golden_layers.py"))
    return c


def settings(layer, text=""):
    return 'python_param { module: "golden_layers" layer: "%s" param_str: "%s" }' % (layer, text)


def record(out):
    c = begin(out, "python_gate", "y = x * sigmoid(w x), one w for each column, learned")
    c.input("x", c.uniform(3, 4, low=-3, high=3))
    c.param(c.uniform(4))
    c.layer(["y"], settings("Gate"))
    c.compute(lambda x, w: x * torch.sigmoid(x * w))

    c = begin(out, "python_sum_difference", "two bottoms, two tops, a factor from param_str")
    c.input("a", c.uniform(2, 3))
    c.input("b", c.uniform(2, 3))
    c.layer(["sum", "difference"], settings("SumDifference", "0.75"))
    c.compute(lambda a, b: [a + b, 0.75 * (a - b)])

    c = begin(out, "python_loss", "the Euclidean loss of pycaffe's example")
    c.input("a", c.uniform(4, 5))
    c.input("b", c.uniform(4, 5))
    c.layer([LOSS], "loss_weight: 1 " + settings("Euclidean"))
    c.compute(lambda a, b: ((a - b) ** 2).sum().reshape(1) / 8, 1.0)
