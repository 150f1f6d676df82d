#!/usr/bin/env python3
"""Print what tests/data/test_prepare.c expects: windows cut out of a picture and made the
input of a net as pycaffe's Detector and Transformer define it, in numpy, double precision."""
import numpy as np

SIDE, PAD, RAW, SCALE = 10, 2, 255.0, 0.5
MEAN = np.array([104.0, 117.0, 123.0])  # blue, green, red
WINDOWS = [(3, 4, 9, 12), (0, 0, 5, 6), (6, 9, 12, 17), (-2, 5, 4, 20), (5, 8, 6, 9)]
POINTS = [(0, 0), (0, 9), (3, 4), (5, 5), (7, 1), (9, 9)]


def picture(height=12, width=17):
    y, x, c = np.meshgrid(range(height), range(width), range(3), indexing="ij")
    return ((3 * x * x + 5 * y * x + 7 * y + 11 * c) % 29) / 29.0


def weights(old, new):
    """Rows of shares in old + 2 places: the first and last are beyond the border."""
    share = np.zeros((new, old + 2))
    for i, at in enumerate((np.arange(new) + 0.5) * old / new - 0.5):
        low = int(np.floor(at))
        share[i, low + 1] += 1 - (at - low)
        if at > low:
            share[i, low + 2] += at - low
    return share


def resize(image, height, width):
    framed = np.pad(image, ((1, 1), (1, 1), (0, 0)), constant_values=image.min())
    return np.einsum("ya,abc,xb->yxc", weights(image.shape[0], height), framed,
                     weights(image.shape[1], width))


def cut(image, window):
    window = np.array(window)
    half = (window[2:] - window[:2] + 1) / 2.0
    center = window[:2] + half
    grown = half * SIDE / (SIDE - 2 * PAD)
    box = np.round(np.concatenate([center - grown, center + grown]))
    shrink = SIDE / (box[2:] - box[:2] + 1)
    at = np.round(np.maximum(0, -box[:2]) * shrink).astype(int)
    box = np.clip(box, 0, np.tile(image.shape[:2], 2)).astype(int)
    size = np.round((box[2:] - box[:2] + 1) * shrink).astype(int)
    size = np.minimum(size, SIDE - at)
    crop = np.ones((SIDE, SIDE, 3)) * MEAN[::-1] / RAW
    crop[at[0]:at[0] + size[0], at[1]:at[1] + size[1]] = resize(
        image[box[0]:box[2], box[1]:box[3]], *size)
    return crop


def prepare(crop):
    if crop.shape[:2] != (SIDE, SIDE):
        crop = resize(crop, SIDE, SIDE)
    return (crop[:, :, ::-1].transpose(2, 0, 1) * RAW - MEAN[:, None, None]) * SCALE


def show(values):
    points = [values[c, y, x] for y, x in POINTS for c in range(3)]
    place = np.arange(values.size).reshape(values.shape) % 7
    print("{%s, %.6g}," % (", ".join("%.6g" % v for v in points), (values * place).sum()))


for w in WINDOWS:
    show(prepare(cut(picture(), w)))
print("without context:")
show(prepare(picture()[3:9, 4:12]))
