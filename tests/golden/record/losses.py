"""L1Loss, SmoothL1Loss, CTCLoss."""
import numpy as np
import torch
import torch.nn.functional as F

from case import LOSS, Case


def l1(out):
    what = "DetectNet: sum of |a - b| over the number of items"
    for name, shape, weight in [("l1_4d", (2, 3, 2, 2), 1.0), ("l1_weight", (5, 4), 2.5),
                                ("l1_equal_elements", (3, 2), 1.0)]:
        c = Case(out, name, "L1Loss", what)
        a, b = c.uniform(*shape), c.uniform(*shape)
        if "equal" in name:
            b[0] = a[0]  # the gradient there is 0
        c.input("a", a)
        c.input("b", b)
        c.layer([LOSS], "loss_weight: %g" % weight)
        c.compute(lambda x, y: F.l1_loss(x, y, reduction="sum") / shape[0], weight)


def smooth(d, sigma):
    """Fast R-CNN, with sigma as its authors' later code has it: torch's huber_loss with
    delta 1 / sigma^2 is this over sigma^2."""
    delta = 1 / sigma ** 2
    return F.huber_loss(d, torch.zeros_like(d), reduction="none", delta=delta) / delta


def smooth_l1(out):
    what = ("Fast R-CNN: sum of w_out * f(w_in * (a - b)) over the number of items; f(d) = "
            "0.5 (sigma d)^2 where |d| < 1 / sigma^2, else |d| - 0.5 / sigma^2")
    for name, shape, sigma in [("smooth_l1_default", (3, 4), 1.0),
                               ("smooth_l1_sigma3", (2, 4, 3, 2), 3.0)]:
        c = Case(out, name, "SmoothL1Loss", what)
        c.input("a", c.uniform(*shape, low=-2, high=2))
        c.input("b", c.uniform(*shape, low=-2, high=2))
        c.layer([LOSS], "smooth_l1_loss_param { sigma: %g }" % sigma)
        c.compute(lambda a, b: smooth(a - b, sigma).sum() / shape[0], 1.0)
    c = Case(out, "smooth_l1_weights", "SmoothL1Loss", what)
    c.input("a", c.uniform(3, 8, low=-2, high=2))
    c.input("b", c.uniform(3, 8, low=-2, high=2))
    c.input("inside", (c.uniform(3, 8) > 0).astype(np.float32), fixed=True)
    c.input("outside", c.uniform(3, 8, low=0, high=2), fixed=True)
    c.layer([LOSS], "loss_weight: 0.5 smooth_l1_loss_param { sigma: 2 }")
    c.compute(lambda a, b, i, o: (o * smooth(i * (a - b), 2.0)).sum() / 3, 0.5)


def ctc(out):
    what = ("Graves et al. 2006: -log of the probability of the labels, over softmax of the "
            "scores; mean over sequences. A sequence goes on while its indicator is 1, labels "
            "end with -1, the blank is the last class unless said otherwise")
    for name, classes, times, labels, blank in [
            ("ctc_repeated_label", 5, [7, 5], [[1, 1, 0], [2, 3]], None),
            ("ctc_blank_first", 4, [6, 6], [[1, 2, 3], [3]], 0),
            ("ctc_no_label", 3, [4, 2], [[], [1]], None),
            ("ctc_as_long_as_labels", 6, [3, 4], [[4, 0, 2], [1, 1]], None),
            ("ctc_one_step", 3, [1], [[1]], None)]:
        n, longest, most = len(times), max(times), max(1, max(map(len, labels)))
        c = Case(out, name, "CTCLoss", what)
        c.input("x", c.uniform(longest, n, classes, low=-3, high=3))
        go_on = np.zeros((longest, n))
        for i, t in enumerate(times):
            go_on[1:t, i] = 1
        c.input("cont", go_on, fixed=True)
        padded = np.full((most, n), -1.0)
        for i, row in enumerate(labels):
            padded[:len(row), i] = row
        c.input("labels", padded, fixed=True)
        c.layer([LOSS], "" if blank is None else "ctc_loss_param { blank_index: %d }" % blank)
        flat = torch.tensor([v for row in labels for v in row], dtype=torch.long)
        c.compute(lambda x, *_: F.ctc_loss(
            F.log_softmax(x, 2), flat, torch.tensor(times), torch.tensor([len(r) for r in labels]),
            blank=classes - 1 if blank is None else blank, reduction="sum") / n, 1.0)


def record(out):
    for group in (l1, smooth_l1, ctc):
        group(out)
