"""PriorBox, DetectionOutput, DetectionEvaluate, MultiBoxLoss: the paper on SSD and the
message definitions of its authors' code."""
import math

import numpy as np
import torch
import torch.nn.functional as F

import boxes
from case import LOSS, Case


# ---- PriorBox ----

def prior_sizes(sizes, largest, ratios, flip):
    """Width and height of the boxes at one place: for each size a square, the square of the
    geometric mean with its max_size, then the ratios; ratio 1 and repetitions only once."""
    wanted = [1.0]
    for r in ratios:
        for value in [r, 1 / r] if flip else [r]:
            if all(abs(value - w) > 1e-6 for w in wanted):
                wanted.append(value)
    for i, size in enumerate(sizes):
        yield size, size
        if largest:
            yield math.sqrt(size * largest[i]), math.sqrt(size * largest[i])
        for r in wanted[1:]:
            yield size * math.sqrt(r), size / math.sqrt(r)


def priors(grid, image, sizes, largest=(), ratios=(), flip=True, clip=False, variance=(0.1,),
           step=None, offset=0.5):
    dy, dx = step or (image[0] / grid[0], image[1] / grid[1])
    rows = []
    for i in range(grid[0]):
        for j in range(grid[1]):
            y, x = (i + offset) * dy, (j + offset) * dx
            for w, h in prior_sizes(sizes, largest, ratios, flip):
                rows.append([(x - w / 2) / image[1], (y - h / 2) / image[0],
                             (x + w / 2) / image[1], (y + h / 2) / image[0]])
    rows = np.array(rows)
    if clip:
        rows = rows.clip(0, 1)
    spread = np.tile(np.array(variance if len(variance) == 4 else [variance[0]] * 4), len(rows))
    return np.stack([rows.reshape(-1), spread])[None]


def fields(name, values):
    return "".join(" %s: %g" % (name, v) for v in values)


def prior_box(out):
    for name, grid, image, settings, options in [
            ("prior_ssd", (3, 2), (60, 40),
             "min_size: 10 max_size: 20 aspect_ratio: 2 aspect_ratio: 3"
             + fields("variance", [0.1, 0.1, 0.2, 0.2]),
             dict(sizes=[10], largest=[20], ratios=[2, 3], variance=(0.1, 0.1, 0.2, 0.2))),
            ("prior_clip", (2, 2), (30, 50), "min_size: 25 aspect_ratio: 2 clip: true",
             dict(sizes=[25], ratios=[2], clip=True)),
            ("prior_two_sizes", (2, 3), (33, 47),
             "min_size: 8 min_size: 13.5 max_size: 11 max_size: 20 aspect_ratio: 1.5 flip: false",
             dict(sizes=[8, 13.5], largest=[11, 20], ratios=[1.5], flip=False)),
            ("prior_step_offset", (2, 2), (32, 32),
             "min_size: 6 step_h: 12 step_w: 9 offset: 0.25 variance: 0.3",
             dict(sizes=[6], step=(12, 9), offset=0.25, variance=(0.3,))),
            ("prior_same_ratios", (1, 2), (20, 20),
             "min_size: 6 aspect_ratio: 2 aspect_ratio: 0.5 aspect_ratio: 1",
             dict(sizes=[6], ratios=[2, 0.5, 1])),
            ("prior_image_size", (2, 1), (40, 80), "min_size: 10 img_h: 40 img_w: 80",
             dict(sizes=[10]))]:
        c = Case(out, name, "PriorBox",
                 "SSD: boxes around the centres of a grid, then their variances")
        c.input("x", np.zeros((1, 2) + grid))
        c.input("image", np.zeros((1, 3) + ((7, 9) if "img_h" in settings else image)))
        c.layer(["y"], "prior_box_param { %s }" % settings)
        c.forward([priors(grid, image, **options)])


# ---- DetectionOutput ----

def some_priors(draw, n):
    corner, size = draw.uniform(0, 0.7, (n, 2)), draw.uniform(0.1, 0.4, (n, 2))
    where = np.concatenate([corner, corner + size], 1).astype(np.float32)
    spread = np.tile(np.array([0.1, 0.1, 0.2, 0.2], np.float32), n)
    return np.stack([where.reshape(-1), spread])[None]


def detect(loc, conf, prior, classes, code="CENTER_SIZE", shared=True, background=0,
           threshold=-math.inf, nms=0.3, top_k=None, eta=1.0, keep=-1, encoded=False):
    n, p = len(loc), prior.shape[2] // 4
    where = torch.tensor(prior[0, 0].reshape(p, 1, 4).astype(np.float64))
    spread = torch.tensor(prior[0, 1].reshape(p, 1, 4).astype(np.float64))
    rows = []
    for i in range(n):
        offsets = torch.tensor(loc[i].reshape(p, -1, 4).astype(np.float64))
        unit = torch.ones_like(spread) if encoded else spread
        box = boxes.decode(offsets, where, unit, code).numpy()
        score, found = conf[i].reshape(p, classes), []
        for label in range(classes):
            if label == background:
                continue
            mine = box[:, 0 if shared else label]
            above = [k for k in range(p) if score[k, label] > threshold]
            kept = boxes.thin_out(mine[above], score[above, label], nms, top_k, eta)
            found += [(label, above[k], score[above[k], label], mine[above[k]]) for k in kept]
        if -1 < keep < len(found):
            found = sorted(found, key=lambda f: -f[2])[:keep]
        found.sort(key=lambda f: (f[0], -f[2]))
        rows += [[i, label, s, *b] for label, _, s, b in found]
    if not rows:
        rows = [[i] + [-1] * 6 for i in range(n)]
    return np.array(rows).reshape(1, 1, -1, 7)


def detection_output(out):
    what = "SSD: decode, threshold, suppress within each class, keep the best of an image"
    for name, classes, settings, options in [
            ("detection_out_center", 3, "code_type: CENTER_SIZE confidence_threshold: 0.3 "
             "nms_param { nms_threshold: 0.45 top_k: 400 }",
             dict(threshold=0.3, nms=0.45, top_k=400)),
            ("detection_out_keep_top_k", 4, "code_type: CENTER_SIZE keep_top_k: 5 "
             "nms_param { nms_threshold: 0.6 top_k: 3 }", dict(nms=0.6, top_k=3, keep=5)),
            ("detection_out_corner_own_boxes", 3, "code_type: CORNER share_location: false "
             "nms_param { nms_threshold: 0.4 }", dict(code="CORNER", shared=False, nms=0.4)),
            ("detection_out_corner_size_encoded", 2, "code_type: CORNER_SIZE "
             "variance_encoded_in_target: true confidence_threshold: 0.2",
             dict(code="CORNER_SIZE", encoded=True, threshold=0.2)),
            ("detection_out_adaptive", 2, "code_type: CENTER_SIZE "
             "nms_param { nms_threshold: 0.7 eta: 0.8 }", dict(nms=0.7, eta=0.8)),
            ("detection_out_background_last", 3, "code_type: CENTER_SIZE "
             "background_label_id: 2 confidence_threshold: 0.5",
             dict(background=2, threshold=0.5)),
            ("detection_out_nothing", 3, "code_type: CENTER_SIZE confidence_threshold: 2",
             dict(threshold=2))]:
        c = Case(out, name, "DetectionOutput", what)
        shared = options.get("shared", True)
        loc = c.uniform(2, 8 * (1 if shared else classes) * 4, low=-0.5, high=0.5)
        conf, prior = c.uniform(2, 8 * classes, low=0), some_priors(c.draw, 8)
        c.input("loc", loc)
        c.input("conf", conf)
        c.input("prior", prior)
        c.layer(["y"], "detection_output_param { num_classes: %d %s }" % (classes, settings))
        c.forward([detect(loc, conf, prior, classes, **options)])


# ---- DetectionEvaluate ----

def evaluate(found, truth, classes, threshold=0.5, difficult=True, background=0, sizes=None):
    """Rows (-1, label, number of truths, -1, -1) of each class, then (image, label, score,
    true, false) of each detection; rows that are left stay 0."""
    def scaled(box, image):
        h, w = sizes[image] if sizes else (1, 1)
        return np.array(box) * [w, h, w, h]

    def meets(a, b):
        # With sizes, boxes are of pixels, and the last one counts.
        if not sizes:
            return boxes.overlap(a, b)
        w = min(a[2], b[2]) - max(a[0], b[0]) + 1
        h = min(a[3], b[3]) - max(a[1], b[1]) + 1
        both = w * h if w > 0 and h > 0 else 0
        one, other = [(x[2] - x[0] + 1) * (x[3] - x[1] + 1) for x in (a, b)]
        return both / (one + other - both)

    rows = []
    for label in range(classes):
        if label != background:
            count = sum(1 for t in truth if t[1] == label and (difficult or not t[7]))
            rows.append([-1, label, count, -1, -1])
    groups = sorted({(d[0], d[1]) for d in found if d[0] != -1})
    for image, label in groups:
        mine = [d for d in found if (d[0], d[1]) == (image, label)]
        right = [t for t in truth if (t[0], t[1]) == (image, label)]
        if right:
            mine = sorted(mine, key=lambda d: -d[2])
        seen = set()
        for d in mine:
            box = scaled(d[3:7], int(image))
            each = [meets(box, scaled(t[3:7], int(image))) for t in right]
            best = int(np.argmax(each)) if each else -1
            hit, miss = 0, 1
            if best >= 0 and each[best] >= threshold:
                if right[best][7] and not difficult:
                    hit, miss = 0, 0
                elif best not in seen:
                    seen.add(best)
                    hit, miss = 1, 0
            rows.append([image, label, d[2], hit, miss])
    rows += [[0] * 5] * (classes - (background >= 0) + len(found) - len(rows))
    return np.array(rows, dtype=float).reshape(1, 1, -1, 5)


FOUND = [[0, 1, 0.9, 0.1, 0.1, 0.4, 0.4], [0, 1, 0.95, 0.11, 0.1, 0.42, 0.41],
         [0, 1, 0.3, 0.7, 0.7, 0.9, 0.9], [0, 2, 0.8, 0.5, 0.5, 0.8, 0.9],
         [1, 1, 0.7, 0.2, 0.2, 0.5, 0.6], [1, 2, 0.6, 0.0, 0.0, 0.3, 0.3],
         [2, 1, 0.5, 0.3, 0.3, 0.6, 0.6]]
TRUTH = [[0, 1, 0, 0.1, 0.1, 0.4, 0.42, 0], [0, 2, 0, 0.52, 0.5, 0.8, 0.88, 1],
         [0, 2, 1, 0.1, 0.6, 0.3, 0.8, 0], [1, 1, 0, 0.22, 0.18, 0.5, 0.6, 0]]


def detection_evaluate(out):
    what = "SSD: which detections are true, by the truth of the same class that each overlaps most"
    lines = "a 40 60\nb 100 80\nc 30 30\n"
    for name, found, settings, options in [
            ("evaluate_all", FOUND, "", {}),
            ("evaluate_no_difficult", FOUND, "evaluate_difficult_gt: false", dict(difficult=False)),
            ("evaluate_strict", FOUND, "overlap_threshold: 0.9", dict(threshold=0.9)),
            ("evaluate_pixels", FOUND, 'name_size_file: "sizes.txt"',
             dict(sizes=[(40, 60), (100, 80), (30, 30)])),
            ("evaluate_nothing_found", [[-1] * 7], "", {}),
            ("evaluate_image_without_detection", [[0] + [-1] * 6], "", {})]:
        c = Case(out, name, "DetectionEvaluate", what)
        c.input("found", np.array(found).reshape(1, 1, -1, 7))
        c.input("truth", np.array(TRUTH).reshape(1, 1, -1, 8))
        c.layer(["y"], "detection_evaluate_param { num_classes: 4 %s }" % settings)
        if "sizes" in options:
            with open(c.folder + "/sizes.txt", "w") as f:
                f.write(lines)
        c.forward([evaluate(found, TRUTH, 4, **options)])


# ---- MultiBoxLoss ----

class MultiBox:
    """One function of loc and conf, given priors and truths."""

    def __init__(self, prior, truth, classes, code="CENTER_SIZE", shared=True,
                 loc_loss="SMOOTH_L1", conf_loss="SOFTMAX", loc_weight=1.0, threshold=0.5,
                 per_prediction=True, background=0, difficult=True, mining="MAX_NEGATIVE",
                 ratio=3.0, neg_overlap=0.5, sample=64, nms=None, encoded=False,
                 normalization="VALID"):
        self.__dict__.update({k: v for k, v in locals().items() if k != "self"})
        self.p = prior.shape[2] // 4
        self.where = torch.tensor(prior[0, 0].reshape(-1, 4).astype(np.float64))
        self.spread = torch.tensor(prior[0, 1].reshape(-1, 4).astype(np.float64))

    def loc_cost(self, d):
        if self.loc_loss == "L2":
            return 0.5 * d * d
        return F.smooth_l1_loss(d, torch.zeros_like(d), reduction="none")

    def conf_cost(self, row, label):
        if self.conf_loss == "SOFTMAX":
            return -F.log_softmax(row, 0)[label]
        wanted = torch.zeros_like(row)
        wanted[label] = 1
        return F.binary_cross_entropy_with_logits(row, wanted, reduction="sum")

    def offsets(self, loc, k, t):
        """What prior k says of its truth, less what is right."""
        said = loc.reshape(self.p, -1, 4)[k, 0 if self.shared else int(t[1])]
        box, one = torch.tensor(t[3:7], dtype=torch.float64), torch.ones(4, dtype=torch.float64)
        if self.encoded:  # what is said has no variance in it yet: both get it here
            return (said - boxes.encode(box, self.where[k], one, self.code)) / self.spread[k]
        return said - boxes.encode(box, self.where[k], self.spread[k], self.code)

    def choose(self, loc, conf, truths, found, best):
        """Priors that stay matched, and those that count as background."""
        labels = [int(truths[t][1]) if t >= 0 else self.background for t in found]
        positive = [k for k in range(self.p) if found[k] >= 0]
        negative = [k for k in range(self.p) if found[k] < 0]
        if self.mining == "NONE":
            return positive, negative
        cost = [float(self.conf_cost(conf[k], labels[k])) for k in range(self.p)]
        if self.mining == "MAX_NEGATIVE":
            able = [k for k in negative if best[k] < self.neg_overlap]
            able.sort(key=lambda k: -cost[k])
            return positive, able[:int(len(positive) * self.ratio)]
        for k in positive:
            cost[k] += float(self.loc_cost(self.offsets(loc, k, truths[found[k]])).sum())
        order = sorted(range(self.p), key=lambda k: -cost[k])
        if self.nms is not None:
            order = boxes.thin_out(self.where.numpy(), cost, self.nms)
        hard = set(order[:self.sample])
        return [k for k in positive if k in hard], [k for k in negative if k in hard]

    def __call__(self, loc, conf, *_):
        total_loc, total_conf, matches = loc.sum() * 0, conf.sum() * 0, 0
        for i in range(len(loc)):
            truths = [t for t in self.truth if t[0] == i and (self.difficult or not t[7])]
            found, best = boxes.match([t[3:7] for t in truths], self.where.tolist(),
                                      self.threshold, self.per_prediction)
            rows = conf[i].reshape(self.p, self.classes)
            positive, negative = self.choose(loc[i].detach(), rows.detach(), truths, found, best)
            matches += len(positive)
            for k in positive:
                t = truths[found[k]]
                total_loc = total_loc + self.loc_cost(self.offsets(loc[i], k, t)).sum()
                total_conf = total_conf + self.conf_cost(rows[k], int(t[1]))
            for k in negative:
                total_conf = total_conf + self.conf_cost(rows[k], self.background)
        by = {"VALID": matches, "FULL": len(loc) * self.p, "BATCH_SIZE": len(loc), "NONE": 1}
        return (self.loc_weight * total_loc + total_conf) / max(1, by[self.normalization])


def multibox_loss(out):
    what = ("SSD: truths matched to priors; cost of the offsets of those that match, cost of the "
            "classes of these and of the hardest others; over the number of matches")
    truth = [[0, 1, 0, 0.15, 0.1, 0.45, 0.42, 0], [0, 2, 0, 0.5, 0.52, 0.85, 0.9, 0],
             [0, 1, 1, 0.6, 0.05, 0.8, 0.3, 1], [1, 2, 0, 0.1, 0.5, 0.35, 0.9, 0]]
    for name, settings, options in [
            ("multibox_ssd", "code_type: CENTER_SIZE", {}),
            ("multibox_all_boxes", "code_type: CENTER_SIZE mining_type: NONE", dict(mining="NONE")),
            ("multibox_logistic_l2", "code_type: CORNER loc_loss_type: L2 "
             "conf_loss_type: LOGISTIC loc_weight: 2 neg_pos_ratio: 1",
             dict(code="CORNER", loc_loss="L2", conf_loss="LOGISTIC", loc_weight=2.0, ratio=1.0)),
            ("multibox_own_boxes", "code_type: CENTER_SIZE share_location: false "
             "encode_variance_in_target: true", dict(shared=False, encoded=True)),
            ("multibox_bipartite", "code_type: CORNER_SIZE match_type: BIPARTITE neg_overlap: 0.3",
             dict(code="CORNER_SIZE", per_prediction=False, neg_overlap=0.3)),
            ("multibox_no_difficult", "code_type: CENTER_SIZE use_difficult_gt: false "
             "overlap_threshold: 0.35", dict(difficult=False, threshold=0.35)),
            ("multibox_hard_examples", "code_type: CENTER_SIZE mining_type: HARD_EXAMPLE "
             "sample_size: 4", dict(mining="HARD_EXAMPLE", sample=4)),
            ("multibox_hard_nms", "code_type: CENTER_SIZE mining_type: HARD_EXAMPLE sample_size: 5 "
             "nms_param { nms_threshold: 0.3 } use_prior_for_nms: true",
             dict(mining="HARD_EXAMPLE", sample=5, nms=0.3)),
            ("multibox_batch_size",
             "code_type: CENTER_SIZE } loss_param { normalization: BATCH_SIZE",
             dict(normalization="BATCH_SIZE"))]:
        add_multibox(out, name, what, settings, options, truth)
    add_multibox(out, "multibox_no_truth", what, "code_type: CENTER_SIZE", {}, [[-1] * 8])


def add_multibox(out, name, what, settings, options, truth, classes=3, nprior=10):
    c = Case(out, name, "MultiBoxLoss", what)
    shared = options.get("shared", True)
    prior = some_priors(c.draw, nprior)
    c.input("loc", c.uniform(2, nprior * (1 if shared else classes) * 4))
    c.input("conf", c.uniform(2, nprior * classes, low=-2, high=2))
    c.input("prior", prior, fixed=True)
    c.input("truth", np.array(truth, dtype=float).reshape(1, 1, -1, 8), fixed=True)
    c.layer([LOSS], "multibox_loss_param { num_classes: %d %s }" % (classes, settings))
    truth = np.array(truth, dtype=np.float32).astype(np.float64).tolist()
    c.compute(MultiBox(prior, truth, classes, **options), 1.0)


def record(out):
    for group in (prior_box, detection_output, detection_evaluate, multibox_loss):
        group(out)
