"""What the checks of the page share: real runs to look at, and sentences that must hold."""
import os
import shutil
import subprocess
import sys
import tempfile

import browser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

SOLVER = """net: "net.prototxt"
base_lr: 0.01 lr_policy: "inv" gamma: 0.0001 power: 0.75 momentum: 0.9 weight_decay: 0.0005
test_iter: 5 test_interval: {interval} display: 5 max_iter: {iters}
snapshot: {snapshot} snapshot_prefix: "lenet" random_seed: 1 fire {{ {fire} }}
"""


def need_browser():
    if browser.find() is None:
        print("skipped: there is no Chromium here")
        sys.exit(77)


class Place:
    """A directory with MNIST's test set, LeNet, and the program."""

    def __init__(self):
        self.program = os.path.abspath(sys.argv[1])
        self.dir = tempfile.mkdtemp(prefix="report-")
        data = os.path.join(ROOT, "data", "mnist", "t10k-")
        self.run("convert", "mnist", data + "images-idx3-ubyte.gz", data + "labels-idx1-ubyte.gz", "mnist")
        with open(os.path.join(ROOT, "models", "lenet", "train_val.prototxt")) as f:
            net = f.read()
        for name in ("train", "test"):
            net = net.replace(f"examples/mnist/mnist_{name}_lmdb", "mnist")
        self.write("net.prototxt", net)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)

    def start(self, *args, **more):
        return subprocess.Popen([self.program, *args], cwd=self.dir, **more)

    def run(self, *args):
        done = subprocess.run([self.program, *args], cwd=self.dir, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(args)}:\n{done.stderr}")
        return done.stdout

    def solver(self, iters, interval=10, snapshot=0, fire=""):
        name = f"solver-{iters}.prototxt"
        self.write(name, SOLVER.format(iters=iters, interval=interval, snapshot=snapshot, fire=fire))
        return name

    def train(self, run_dir, *flags, iters=20, **more):
        return self.run("train", "--solver", self.solver(iters, **more), "--run_dir", run_dir, "--quiet", *flags)

    def report(self, name, *runs, flags=()):
        self.run("report", *runs, "-o", name, *flags)
        return "file://" + self.path(name)


def holds(what, condition, seen=None):
    print(("ok      " if condition else "FAILED  ") + what)
    if not condition:
        sys.exit(f"FAILED: {what}: {seen!r}")


def is_quiet(page, where):
    """Nothing went wrong in the page, and it asked nobody for anything."""
    holds(f"{where}: no error in the console", not page.errors(), page.errors())
    asked = [r for r in page.requests() if not r.startswith(("file:", "data:", "blob:"))]
    holds(f"{where}: no request to the network", not asked, asked)
