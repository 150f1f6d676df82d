"""Boxes (xmin, ymin, xmax, ymax) as SSD codes, matches and thins them out."""
import numpy as np
import torch


def overlap(a, b):
    """Intersection over union."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / (area(a) + area(b) - both)


def area(box):
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def center(box):
    return torch.stack([(box[..., 0] + box[..., 2]) / 2, (box[..., 1] + box[..., 3]) / 2,
                        box[..., 2] - box[..., 0], box[..., 3] - box[..., 1]], -1)


def encode(box, prior, variance, code):
    """A box as offsets from its prior, in units of the variance."""
    if code == "CORNER":
        offset = box - prior
    elif code == "CORNER_SIZE":
        size = center(prior)[..., 2:]
        offset = (box - prior) / torch.cat([size, size], -1)
    else:
        b, p = center(box), center(prior)
        offset = torch.cat([(b[..., :2] - p[..., :2]) / p[..., 2:],
                            torch.log(b[..., 2:] / p[..., 2:])], -1)
    return offset / variance


def decode(offset, prior, variance, code):
    offset = offset * variance
    if code == "CORNER":
        return prior + offset
    p = center(prior)
    if code == "CORNER_SIZE":
        return prior + offset * torch.cat([p[..., 2:], p[..., 2:]], -1)
    middle = p[..., :2] + offset[..., :2] * p[..., 2:]
    half = p[..., 2:] * torch.exp(offset[..., 2:]) / 2
    return torch.cat([middle - half, middle + half], -1)


def thin_out(boxes, scores, threshold, top_k=None, eta=1.0):
    """Greedy non-maximum suppression of the top_k best; the threshold shrinks by eta with
    every box that is kept while it is above one half."""
    kept = []
    for i in np.argsort(-np.asarray(scores), kind="stable")[:top_k]:
        if all(overlap(boxes[i], boxes[k]) <= threshold for k in kept):
            kept.append(int(i))
            if eta < 1 and threshold > 0.5:
                threshold *= eta
    return kept


def match(truth, priors, threshold, per_prediction=True):
    """The truth of each prior, -1 without one, and its best overlap. First each truth gets
    the prior that it overlaps most, best pairs first; then each prior that is left gets the
    truth that it overlaps most, if by the threshold."""
    table = np.array([[overlap(t, p) for p in priors] for t in truth])
    table = table.reshape(len(truth), len(priors))
    found = np.full(len(priors), -1)
    best = table.max(0) if len(truth) else np.zeros(len(priors))
    left = table.copy()
    for _ in range(len(truth)):
        t, p = np.unravel_index(left.argmax(), left.shape)
        if left[t, p] <= 1e-6:
            break
        found[p], left[t, :], left[:, p] = t, -1, -1
        best[p] = table[t, p]
    if per_prediction and len(truth):
        for p in range(len(priors)):
            if found[p] < 0 and table[:, p].max() >= threshold:
                found[p] = table[:, p].argmax()
    return found, best
