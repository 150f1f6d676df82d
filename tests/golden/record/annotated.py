"""AnnotatedData: images with boxes from a database, in the order of their keys."""
import struct

import numpy as np

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


def record(out):
    plain(out)
