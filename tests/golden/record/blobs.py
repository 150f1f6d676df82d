"""Layers that move or combine elements: Axpy, Permute, Reorg, ShuffleChannel, Upsample,
Interp."""
import numpy as np
import torch
import torch.nn.functional as F

from case import Case


def axpy(out):
    what = "SENet: y = a * x + b, a one number for each map"
    for name, shape, a_shape in [("axpy_2d_scale", (2, 3, 2, 4), (2, 3)),
                                 ("axpy_4d_scale", (3, 2, 3, 1), (3, 2, 1, 1)),
                                 ("axpy_one_map", (1, 1, 1, 5), (1, 1))]:
        c = Case(out, name, "Axpy", what)
        c.input("a", c.uniform(*a_shape))
        c.input("x", c.uniform(*shape))
        c.input("b", c.uniform(*shape))
        c.layer(["y"], "")
        c.compute(lambda a, x, b: a.reshape(a.shape[0], a.shape[1], 1, 1) * x + b)


def permute(out):
    what = "SSD: axis i of the top is axis order[i] of the bottom; axes not named follow"
    for name, shape, order, full in [
            ("permute_nhwc", (2, 3, 4, 5), [0, 2, 3, 1], (0, 2, 3, 1)),
            ("permute_two_named", (2, 3, 4), [2, 0], (2, 0, 1)),
            ("permute_identity", (2, 3), [0, 1], (0, 1)),
            ("permute_5d", (2, 1, 3, 2, 4), [4, 2, 0, 1, 3], (4, 2, 0, 1, 3))]:
        c = Case(out, name, "Permute", what)
        c.input("x", c.uniform(*shape))
        c.layer(["y"], "permute_param { %s }" % " ".join("order: %d" % o for o in order))
        c.compute(lambda x: x.permute(*full))


def reorg_indices(channels, height, width, stride):
    """darknet's order: place of each element of a (channels, height, width) array in one
    with stride * stride times fewer maps that are stride times as high and wide."""
    maps = channels // (stride * stride)
    place = np.empty((channels, height, width), dtype=np.int64)
    for c in range(channels):
        part, to = divmod(c, maps)
        for h in range(height):
            for w in range(width):
                y, x = h * stride + part // stride, w * stride + part % stride
                place[c, h, w] = (to * height * stride + y) * width * stride + x
    return torch.tensor(place.reshape(-1))


def reorg(out):
    what = ("YOLOv2, as darknet runs it: with reverse, map c goes to map c mod (C / s^2) at "
            "offset c div (C / s^2) in each s x s square; without, the inverse of that, of "
            "the bottom's shape, on the same bytes")
    for name, shape, stride in [("reorg_down_2", (2, 4, 4, 6), 2),
                                ("reorg_down_3", (1, 9, 3, 6), 3)]:
        n, ch, h, w = shape
        c = Case(out, name, "Reorg", what)
        c.input("x", c.uniform(*shape))
        c.layer(["y"], "reorg_param { stride: %d }" % stride)
        place = reorg_indices(ch, h, w, stride)
        c.compute(lambda x: x.reshape(n, -1)[:, place].reshape(
            n, ch * stride * stride, h // stride, w // stride))
    for name, shape, stride in [("reorg_up_2", (2, 8, 2, 3), 2), ("reorg_up_3", (1, 9, 1, 2), 3)]:
        n, ch, h, w = shape
        c = Case(out, name, "Reorg", what)
        c.input("x", c.uniform(*shape))
        c.layer(["y"], "reorg_param { stride: %d reverse: true }" % stride)
        place = reorg_indices(ch, h, w, stride)
        c.compute(lambda x: torch.zeros(n, ch * h * w, dtype=x.dtype).index_copy(
            1, place, x.reshape(n, -1)).reshape(n, ch // stride ** 2, h * stride, w * stride))


def shuffle_channel(out):
    what = "ShuffleNet: channels as a (group, C / group) matrix, transposed"
    for name, shape, group in [("shuffle_2", (2, 6, 2, 3), 2), ("shuffle_3", (1, 12, 1, 2), 3),
                               ("shuffle_1", (2, 4, 2, 2), 1), ("shuffle_all", (1, 5, 2, 2), 5)]:
        c = Case(out, name, "ShuffleChannel", what)
        c.input("x", c.uniform(*shape))
        c.layer(["y"], "shuffle_channel_param { group: %d }" % group)
        c.compute(lambda x: x.reshape(shape[0], group, -1, *shape[2:]).transpose(1, 2)
                  .reshape(*shape))
        # torch's own has no gradient; both must agree.
        x = torch.tensor(c.inputs["x"])
        y = np.load(c.folder + "/out_y.npy")
        assert np.array_equal(F.channel_shuffle(x, group).numpy(), y)


def unpool(x, mask, height, width):
    n, ch = x.shape[:2]
    flat = torch.zeros(n, ch, height * width, dtype=x.dtype)
    return flat.scatter(2, mask.reshape(n, ch, -1).long(), x.reshape(n, ch, -1)).reshape(
        n, ch, height, width)


def upsample(out):
    what = "SegNet: values return to where MAX pooling found them, zeros elsewhere"
    for name, size, settings, (height, width) in [
            ("upsample_mask_2", (4, 6), "scale: 2", (4, 6)),
            ("upsample_mask_pad_out", (5, 3), "scale: 2 pad_out_h: true pad_out_w: true", (5, 3)),
            ("upsample_mask_size", (6, 5), "upsample_h: 6 upsample_w: 5", (6, 5))]:
        c = Case(out, name, "Upsample", what)
        big = torch.tensor(c.uniform(2, 2, *size))
        _, mask = F.max_pool2d(big, 2, 2, ceil_mode=True, return_indices=True)
        c.input("x", c.uniform(*mask.shape))
        c.input("mask", mask.numpy(), fixed=True)
        c.layer(["y"], "upsample_param { %s }" % settings)
        c.compute(lambda x, m: unpool(x, m, height, width))
    c = Case(out, "upsample_repeat_2x3", "Upsample", "each element repeated (YOLOv3)")
    c.input("x", c.uniform(2, 2, 3, 2))
    c.layer(["y"], "upsample_param { scale_h: 2 scale_w: 3 }")
    c.compute(lambda x: F.interpolate(x, scale_factor=(2, 3), mode="nearest"))


def interp(out):
    what = "DeepLab, ICNet: bilinear with aligned corners"
    for name, shape, settings, size, crop in [
            ("interp_zoom_2", (2, 2, 3, 4), "zoom_factor: 2", (5, 7), (0, 0)),
            ("interp_zoom_3", (1, 1, 2, 2), "zoom_factor: 3", (4, 4), (0, 0)),
            ("interp_shrink_2", (1, 2, 7, 6), "shrink_factor: 2", (4, 3), (0, 0)),
            ("interp_shrink_zoom", (1, 1, 9, 5), "shrink_factor: 2 zoom_factor: 3", (13, 7),
             (0, 0)),
            ("interp_crop", (1, 2, 7, 8), "zoom_factor: 2 pad_beg: -1 pad_end: -2", (7, 9), (1, 2)),
            ("interp_size", (2, 1, 5, 4), "height: 3 width: 9", (3, 9), (0, 0)),
            ("interp_same_size", (1, 2, 3, 3), "height: 3 width: 3", (3, 3), (0, 0)),
            ("interp_to_one", (1, 2, 4, 3), "height: 1 width: 5", (1, 5), (0, 0)),
            ("interp_from_one", (1, 2, 1, 1), "height: 3 width: 4", (3, 4), (0, 0))]:
        c = Case(out, name, "Interp", what)
        c.input("x", c.uniform(*shape))
        c.layer(["y"], "interp_param { %s }" % settings)
        first, last = crop
        c.compute(lambda x: F.interpolate(
            x[:, :, first:x.shape[2] - last, first:x.shape[3] - last], size=size,
            mode="bilinear", align_corners=True))
    c = Case(out, "interp_like", "Interp", what)
    c.input("x", c.uniform(1, 2, 4, 3))
    c.input("like", c.uniform(1, 1, 6, 7), fixed=True)
    c.layer(["y"], "")
    c.compute(lambda x, like: F.interpolate(x, size=(6, 7), mode="bilinear", align_corners=True))


def record(out):
    for group in (axpy, permute, reorg, shuffle_channel, upsample, interp):
        group(out)
