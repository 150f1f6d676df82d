"""AnnotatedData: images with boxes from a database, in the order of their keys."""
import math
import struct

import numpy as np
import torch
import torch.nn.functional as F

import lmdb
from case import Case


# ---- protobuf's encoding ----

def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def real(field, x):
    return varint(field << 3 | 5) + struct.pack("<f", x)


def text(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def datum(image):
    channels, height, width = image.shape
    return number(1, channels) + number(2, height) + number(3, width) + text(4, image.tobytes())


def annotated_datum(inner, groups):
    """groups: label -> list of (instance, xmin, ymin, xmax, ymax, difficult)."""
    out = text(1, inner) + number(2, 0)
    for label, members in groups.items():
        group = number(1, label)
        for instance, *corners, difficult in members:
            box = b"".join(real(i + 1, v) for i, v in enumerate(corners)) + number(6, difficult)
            group += text(2, number(1, instance) + text(2, box))
        out += text(3, group)
    return out


# ---- cases ----

def rows(groups, item):
    return [[item, label, *m] for label, members in groups.items() for m in members]


def label_blob(all_groups):
    found = [r for item, groups in enumerate(all_groups) for r in rows(groups, item)]
    return np.array(found or [[-1] * 8], dtype=float).reshape(1, 1, -1, 8)


def begin(out, name, records, batch, transform, hint=None):
    what = ("SSD: a row (item, label, instance, corners, difficult) for each box; one of -1 if "
            "there is none")
    c = Case(out, name, "AnnotatedData", what)
    lmdb.write(c.folder + "/images_lmdb", records)
    if hint:
        c.json["tolerance_hint"] = hint
    c.layer(["data", "label"], "include { phase: TEST } transform_param { %s }\n"
            '  data_param { source: "images_lmdb" batch_size: %d backend: LMDB }\n'
            "  annotated_data_param { anno_type: BBOX }" % (transform, batch))
    return c


TWO = [{1: [(0, 0.1, 0.2, 0.5, 0.6, 0), (1, 0.4, 0.4, 0.9, 0.95, 1)],
        3: [(0, 0.0, 0.0, 1.0, 1.0, 0)]},
       {2: [(0, 0.25, 0.5, 0.75, 0.8, 0)]}]


def plain(out):
    for name, groups, batch, transform, mean, scale in [
            ("annotated_plain", TWO, 2, "", 0, 1),
            ("annotated_mean_scale", TWO, 2,
             "scale: 0.5 mean_value: 10 mean_value: 20 mean_value: 30", [10, 20, 30], 0.5),
            ("annotated_wraps", TWO, 3, "", 0, 1),
            ("annotated_one_without_boxes", [{}, TWO[1]], 2, "", 0, 1),
            ("annotated_no_boxes", [{}, {}], 2, "", 0, 1)]:
        images = np.random.RandomState(5).randint(0, 256, (2, 3, 4, 5)).astype(np.uint8)
        records = {b"%02d" % i: annotated_datum(datum(image), g)
                   for i, (image, g) in enumerate(zip(images, groups))}
        c = begin(out, name, records, batch, transform)
        order = [i % 2 for i in range(batch)]
        data = (images[order] - np.reshape(mean, (-1, 1, 1)).astype(float)) * scale
        c.forward([data, label_blob([groups[i] for i in order])])


# ---- resize_param ----

def lanczos(image, size):
    """Separable, 8 taps around the centre, edges repeated, weights made to add up to 1."""
    for axis, to in ((1, size[0]), (2, size[1])):
        n = image.shape[axis]
        table = np.zeros((to, n))
        for i in range(to):
            at = (i + 0.5) * n / to - 0.5
            near = math.floor(at) + np.arange(-3, 5)
            weight = np.sinc(at - near) * np.sinc((at - near) / 4)
            np.add.at(table[i], near.clip(0, n - 1), weight / weight.sum())
        image = np.moveaxis(np.tensordot(table, image, (1, axis)), 0, axis)
    return image


def scaled(image, size, mode):
    """OpenCV's filters by torch's, which have the same centres and edges."""
    if mode == "LANCZOS4":
        out = lanczos(image.astype(float), size)
    else:
        x = torch.tensor(image[None].astype(np.float64))
        name = {"LINEAR": "bilinear", "CUBIC": "bicubic", "NEAREST": "nearest", "AREA": "area"}
        options = dict(align_corners=False) if mode in ("LINEAR", "CUBIC") else {}
        out = F.interpolate(x, size, mode=name[mode], **options)[0].numpy()
    return out.clip(0, 255)


def picture(shape, seed):
    return np.random.RandomState(seed).randint(0, 256, shape).astype(np.uint8)


def warp(out):
    for mode, shape, size in [("LINEAR", (3, 7, 9), (5, 12)), ("CUBIC", (3, 6, 8), (11, 5)),
                              ("AREA", (3, 8, 12), (4, 4)), ("LANCZOS4", (3, 9, 10), (13, 7)),
                              ("NEAREST", (1, 7, 10), (9, 4))]:
        image = picture(shape, 7)
        hint = None if mode == "NEAREST" else "OpenCV's fixed-point weights: 1 of 255"
        c = begin(out, "annotated_warp_" + mode.lower(),
                  {b"0": annotated_datum(datum(image), TWO[0])}, 1,
                  "resize_param { resize_mode: WARP height: %d width: %d interp_mode: %s }"
                  % (*size, mode), hint)
        c.forward([scaled(image, size, mode)[None], label_blob(TWO[:1])])


def fitted(image, size, pad, fill):
    """The largest copy of the same shape that the size holds, in its middle."""
    _, height, width = image.shape
    wide = width / height > size[1] / size[0]
    inner = ((math.floor(size[1] * height / width), size[1]) if wide
             else (size[0], math.floor(size[0] * width / height)))
    y, x = (size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2
    around = ((0, 0), (y, size[0] - inner[0] - y), (x, size[1] - inner[1] - x))
    small = scaled(image, inner, "NEAREST")
    if pad == "CONSTANT":
        planes = [np.pad(p, around[1:], constant_values=f) for p, f in zip(small, fill)]
        return np.stack(planes)
    return np.pad(small, around, mode={"MIRRORED": "reflect", "REPEAT_NEAREST": "edge"}[pad])


def fitted_boxes(groups, shape, size):
    """Where boxes come to lie; padding counts in fractions of a pixel."""
    _, height, width = shape
    share = (width / height) / (size[1] / size[0])
    out = {}
    for label, members in groups.items():
        out[label] = []
        for i, x1, y1, x2, y2, d in members:
            if share > 1:
                y1, y2 = [(1 - 1 / share) / 2 + y / share for y in (y1, y2)]
            else:
                x1, x2 = [(1 - share) / 2 + x * share for x in (x1, x2)]
            out[label].append((i, x1, y1, x2, y2, d))
    return out


def fit(out):
    for name, shape, size, pad, settings, fill in [
            ("annotated_pad_wide", (3, 5, 9), (8, 8), "CONSTANT",
             "pad_value: 10 pad_value: 20 pad_value: 30", [10, 20, 30]),
            ("annotated_pad_tall", (3, 9, 6), (7, 9), "CONSTANT", "pad_value: 99", [99] * 3),
            ("annotated_pad_zeros", (1, 4, 8), (6, 6), "CONSTANT", "", [0]),
            ("annotated_pad_mirrored", (3, 5, 9), (8, 8), "MIRRORED", "", None),
            ("annotated_pad_nearest", (3, 9, 5), (6, 9), "REPEAT_NEAREST", "", None)]:
        image = picture(shape, 8)
        c = begin(out, name, {b"0": annotated_datum(datum(image), TWO[0])}, 1,
                  "resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: %d width: %d "
                  "interp_mode: NEAREST pad_mode: %s %s }" % (*size, pad, settings))
        c.forward([fitted(image, size, pad, fill)[None],
                   label_blob([fitted_boxes(TWO[0], shape, size)])])
    for name, shape, size, becomes in [("annotated_small_wide", (3, 5, 9), (4, 4), (4, 7)),
                                       ("annotated_small_tall", (3, 9, 6), (4, 4), (6, 4))]:
        image = picture(shape, 9)
        c = begin(out, name, {b"0": annotated_datum(datum(image), TWO[0])}, 1,
                  "resize_param { resize_mode: FIT_SMALL_SIZE height: %d width: %d "
                  "interp_mode: NEAREST }" % size)
        c.forward([scaled(image, becomes, "NEAREST")[None], label_blob(TWO[:1])])


def record(out):
    plain(out)
    warp(out)
    fit(out)
