"""One golden case: a net around one layer, inputs, and what the layer must make of them.

The expected numbers come from a function on float64 tensors that the caller writes from
the layer's published definition; gradients are autograd's of that function."""
import json
import os
import zlib

import numpy as np
import torch

LOSS = "loss"  # the name that a loss gives its top


def draws(name):
    """Random numbers of a case, the same in every run."""
    return np.random.RandomState(zlib.crc32(name.encode()) & 0x7FFFFFFF)


class Case:
    def __init__(self, out, name, kind, definition, phase="TEST"):
        self.folder = os.path.join(out, name)
        self.draw = draws(name)
        os.makedirs(self.folder)
        self.json = {
            "name": name,
            "source": "independent",
            "layer_type": kind,
            "group": kind,
            "phase": phase,
            "net": "net.prototxt",
            "note": definition,
            "layers": [],
            "params": [],
            "steps": [{"inputs": [], "outputs": [], "loss": 0.0}],
            "backward": None,
        }
        self.text = ['name: "%s"\nforce_backward: true\n' % name]
        self.kind, self.inputs, self.fixed = kind, {}, set()

    def array(self, entries, blob, file, value):
        value = np.ascontiguousarray(value, dtype="<f4").reshape(np.shape(value))
        np.save(os.path.join(self.folder, file), value)
        entries.append({"blob": blob, "shape": list(value.shape), "file": file})
        return value

    def uniform(self, *shape, low=-1.0, high=1.0):
        return self.draw.uniform(low, high, shape).astype(np.float32)

    def input(self, blob, value, fixed=False):
        """An Input layer; a fixed one gets no gradient."""
        step = self.json["steps"][0]
        value = self.array(step["inputs"], blob, "in_%s.npy" % blob, value)
        self.json["layers"].append(["in_" + blob, "Input"])
        dims = " ".join("dim: %d" % d for d in value.shape)
        self.text.append('layer { name: "in_%s" type: "Input" top: "%s" input_param '
                         "{ shape { %s } } }\n" % (blob, blob, dims))
        self.inputs[blob] = value
        if fixed:
            self.fixed.add(blob)

    def param(self, value):
        i = len(self.json["params"])
        names = {"layer": "it", "index": i, "file": "param_it_%d.npy" % i}
        value = self.array([], "", names["file"], value)
        self.json["params"].append(names)
        self.inputs[i] = value

    def layer(self, tops, settings):
        bottoms = [b for b in self.inputs if isinstance(b, str)]
        text = 'layer { name: "it" type: "%s"' % self.kind
        text += "".join(' bottom: "%s"' % b for b in bottoms)
        text += "".join(' top: "%s"' % t for t in tops)
        if self.fixed:
            text += "".join(" propagate_down: %s" % str(b not in self.fixed).lower()
                            for b in bottoms)
        self.text.append(text + "\n  %s }\n" % settings)
        self.json["layers"].append(["it", self.kind])
        self.tops = tops

    def forward(self, values):
        """The tops as they are; for layers without a gradient."""
        for top, value in zip(self.tops, values):
            self.array(self.json["steps"][0]["outputs"], top, "out_%s.npy" % top, value)
        self.write()

    def compute(self, function, weight=None):
        """The tops by `function` of all inputs, then parameters, and their gradients;
        weight: of a loss."""
        given = {k: torch.tensor(v.astype(np.float64), requires_grad=k not in self.fixed)
                 for k, v in self.inputs.items()}
        tops = function(*given.values())
        tops = tops if isinstance(tops, (list, tuple)) else [tops]
        step, objective = self.json["steps"][0], 0
        back = {"topdiffs": [], "bottomdiffs": []}
        for name, top in zip(self.tops, tops):
            self.array(step["outputs"], name, "out_%s.npy" % name, top.detach().numpy())
            diff = self.uniform(*top.shape) if weight is None else np.full(top.shape, weight)
            diff = self.array(back["topdiffs"], name, "topdiff_%s.npy" % name, diff)
            objective = objective + (top * torch.tensor(diff.astype(np.float64))).sum()
        if weight is not None:
            step["loss"] = float(objective)
        objective.backward()
        for key, tensor in given.items():
            if key in self.fixed:
                continue
            grad = np.zeros(tensor.shape) if tensor.grad is None else tensor.grad.numpy()
            if isinstance(key, str):
                self.array(back["bottomdiffs"], key, "bottomdiff_%s.npy" % key, grad)
            else:
                file = "paramdiff_it_%d.npy" % key
                self.array([], "", file, grad)
                self.json["params"][key]["diff"] = file
        self.json["backward"] = back
        self.write()

    def write(self):
        with open(os.path.join(self.folder, "net.prototxt"), "w") as f:
            f.write("".join(self.text))
        with open(os.path.join(self.folder, "case.json"), "w") as f:
            json.dump(self.json, f)
            f.write("\n")
