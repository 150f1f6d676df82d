"""ROIPooling and PSROIPooling."""
import math

import numpy as np
import torch
import torchvision.ops

from case import Case

ROIS = np.array([[0, 0, 0, 7, 7], [1, 4, 2, 15, 11], [0, 3, 3, 3, 3], [1, 9, 7, 30, 40],
                 [0, 40, 40, 50, 50], [1, 12, 9, 4, 3]], dtype=np.float32)
# The whole picture, a part, one point, over the border, all outside, upside down.


def roi(out):
    what = ("Fast R-CNN: corners rounded to the grid, both included; bins overlap by what does "
            "not divide; the maximum of each, 0 of an empty one")
    for name, shape, size, scale in [("roi_2x3_half", (2, 2, 6, 8), (2, 3), 0.5),
                                     ("roi_7x7_eighth", (2, 1, 5, 4), (7, 7), 0.125),
                                     ("roi_1x1", (2, 3, 12, 16), (1, 1), 1.0)]:
        c = Case(out, name, "ROIPooling", what)
        c.input("x", c.uniform(*shape))
        c.input("r", ROIS, fixed=True)
        c.layer(["y"], "roi_pooling_param { pooled_h: %d pooled_w: %d spatial_scale: %g }"
                % (size[0], size[1], scale))
        c.compute(lambda x, r: torchvision.ops.roi_pool(x, r, size, scale))


def ps_bin(lo, size, i, limit):
    """Cells of bin i of a region that begins at lo with bins of this size."""
    first, last = math.floor(lo + i * size), math.ceil(lo + (i + 1) * size)
    return min(max(first, 0), limit), min(max(last, 0), limit)


def psroi_pool(x, rois, scale, maps, group):
    rows = []
    for image, x1, y1, x2, y2 in rois.tolist():
        # Rounded to pixels of the picture first, then scaled: not onto the grid.
        left, top = round(x1) * scale, round(y1) * scale
        width = max((round(x2) + 1) * scale - left, 0.1) / group
        height = max((round(y2) + 1) * scale - top, 0.1) / group
        for m in range(maps):
            for i in range(group):
                for j in range(group):
                    a, b = ps_bin(top, height, i, x.shape[2])
                    d, e = ps_bin(left, width, j, x.shape[3])
                    cells = x[int(image), (m * group + i) * group + j, a:b, d:e]
                    rows.append(cells.mean() if cells.numel() else x.sum() * 0)
    return torch.stack(rows).reshape(len(rois), maps, group, group)


def psroi(out):
    what = ("R-FCN: bin (i, j) of map m is the mean of channel (m * group + i) * group + j in "
            "that part of the region, 0 of an empty one")
    for name, shape, maps, group, scale in [("psroi_2", (2, 8, 6, 8), 2, 2, 0.5),
                                            ("psroi_3", (2, 9, 5, 7), 1, 3, 0.25),
                                            ("psroi_1", (2, 4, 12, 16), 4, 1, 1.0)]:
        c = Case(out, name, "PSROIPooling", what)
        c.input("x", c.uniform(*shape))
        c.input("r", ROIS, fixed=True)
        c.layer(["y"], "psroi_pooling_param { spatial_scale: %g output_dim: %d group_size: %d }"
                % (scale, maps, group))
        c.compute(lambda x, r: psroi_pool(x, r, scale, maps, group))


def record(out):
    roi(out)
    psroi(out)
