"""Compares exported nets with onnxruntime: check_export.py FOLDER.

FOLDER/list.txt has a line "NUMBER NAME" for each net; FOLDER/NUMBER/ holds net.onnx and,
for every pass K, the inputs K_in_BLOB.npy and our outputs K_out_BLOB.npy ("@" in a file's
name stands for "/"). Outputs must agree to 1e-5 of the largest value in onnxruntime and,
for models and with FIRE_ONNX_ALL set, to 1e-4 in OpenVINO and OpenCV. Exit status 77:
onnx or onnxruntime is not installed.
"""
import glob
import os
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
except ImportError:
    sys.exit(77)


def load(folder, k, kind):
    """{blob: values} of pass k; kind: "in" or "out"."""
    head = "%s/%s_%s_" % (folder, k, kind)
    return {f[len(head):-4].replace("@", "/"): np.load(f) for f in glob.glob(head + "*.npy")}


def difference(got, want, least):
    """The largest difference, relative to the largest value (at least `least`). NaN equals
    NaN: the root of a negative number."""
    if got.shape != want.shape:
        return "shape %s, not %s" % (got.shape, want.shape)
    if (np.isnan(got) != np.isnan(want)).any():
        return "NaN at different places"
    if want.size == 0:
        return 0.0
    got, want = np.nan_to_num(got).astype(np.float64), np.nan_to_num(want)
    return float(np.abs(got - want).max()) / max(float(np.abs(want).max()), least)


def in_onnxruntime(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def run(inputs, names):
        known = {i.name for i in session.get_inputs()}
        return session.run(names, {n: x for n, x in inputs.items() if n in known})
    return run


def in_openvino(path):
    import openvino
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    compiled = core.compile_model(path, "CPU")
    return lambda inputs, names: [compiled(inputs)[n] for n in names]


def in_opencv(path):
    import cv2
    net = cv2.dnn.readNetFromONNX(path)

    def run(inputs, names):
        for name, x in inputs.items():
            net.setInput(x, name)
        return list(net.forward(names))
    return run


def check(folder, runtime, limit, single):
    """Yields what differs; single: the net is a case of one layer."""
    run = runtime(folder + "/net.onnx")
    passes = sorted({os.path.basename(f).split("_")[0] for f in glob.glob(folder + "/*_in_*")})
    for k in passes:
        want = load(folder, k, "out")
        inputs = load(folder, k, "in")
        got = run(inputs, sorted(want))
        # Sums of a single layer may cancel out: then their terms are the measure.
        least = 1e-30 if not single else max(float(np.abs(x).max()) for x in inputs.values())
        for name, values in zip(sorted(want), got):
            d = difference(np.asarray(values), want[name], least)
            if isinstance(d, str) or not d <= limit:
                yield "%s, pass %s, %s: %s" % (runtime.__name__, k, name, d)


def main(root):
    bad = 0
    others = []
    if "FIRE_ONNX_ALL" in os.environ:
        for name, runtime in (("openvino", in_openvino), ("cv2", in_opencv)):
            try:
                __import__(name)
                others.append(runtime)
            except ImportError:
                print("%s is not installed" % name)
    for line in open(root + "/list.txt"):
        number, name = line.rstrip("\n").split(" ", 1)
        folder = root + "/" + number
        wrong = []
        try:
            onnx.checker.check_model(folder + "/net.onnx", full_check=True)
            model = name.startswith("model ")
            wrong += check(folder, in_onnxruntime, 1e-5, not model)
            for runtime in others if model else []:
                wrong += check(folder, runtime, 1e-4, False)
        except Exception as e:  # of a runtime, whatever it is
            wrong.append("%s: %s" % (type(e).__name__, str(e)[:600]))
        for text in wrong:
            print("%s: %s" % (name, text))
        bad += bool(wrong)
        if "FIRE_ONNX_ALL" in os.environ and model and not wrong:
            print("%s: equal" % name)
    print("%d nets differ" % bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) > 1 else 0)
