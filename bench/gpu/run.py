#!/usr/bin/env python3
"""Time training steps on one GPU, ours and PyTorch's: same nets, batches and precisions.

    run.py [--steps 20] [--out build/bench_gpu.json] [--only resnet50,lenet]
           [--modes eager,graph,compile] [--seconds 600] [--no-torch]

Prints a table of images/s and ratios, and writes all numbers as JSON. Every run is its own
process; a failed one is shown as "-", with its message on stderr, and so are those of
PyTorch that would begin after --seconds. Ours run first, without and with --tune. The
column "wanted" is the goal on an H200."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# net, batch, precision, images/s wanted
ROWS = [("resnet50", 256, "bf16", 7500), ("googlenet", 1024, "bf16", 13000),
        ("googlenet", 128, "bf16", 9500), ("nin_imagenet", 1024, "bf16", 38000),
        ("alexnet", 1024, "bf16", 30000), ("resnet50", 256, "tf32", 4500),
        ("googlenet", 128, "tf32", 7000), ("nin_imagenet", 1024, "tf32", 21000),
        ("lenet", 64, "fp32", 300000)]


OURS = {"ours": [], "with --tune": ["--tune"]}
VERSIONS = "import torch; print(torch.__version__, torch.version.cuda, " \
           "torch.backends.cudnn.version())"


def json_of(command, seconds=None):
    """What the command prints, or None."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, text=True, timeout=seconds)
        return json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command)}: no time left", file=sys.stderr)
    except (IndexError, ValueError):
        print(f"{' '.join(command)}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return None


def text_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def torch_python():
    """A Python whose torch sees a GPU, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if text_of([python, "-c", "import torch; print(torch.cuda.is_available())"]) \
                == "True":
            return python
    return None


def tail_of(row, a):
    steps = a.steps * (25 if row["net"] == "lenet" else 1)
    return [f"{ROOT}/models/{row['net']}", str(row["batch"]), "--steps", str(steps)]


def ours(row, a, flags):
    kind = [] if row["precision"] == "fp32" else ["--" + row["precision"]]
    r = json_of([f"{a.build}/bench_step", *tail_of(row, a), "--gpu", *kind, *flags])
    if r:
        r["images_per_s"] = row["batch"] * 1e3 / \
            statistics.median(wall for wall, _ in r["ms"])
    return r


def measure_ours(row, a):
    for side, flags in OURS.items():
        row["sides"][side] = ours(row, a, flags)
    print(f"{row['net']} {row['batch']} {row['precision']}: "
          f"{show(rate(row, 'ours'))} images/s", file=sys.stderr)


def measure_torch(rows, a, python, began):
    for mode in a.modes.split(","):
        for row in rows:
            left = began + a.seconds - time.time()
            row["sides"][mode] = json_of(
                [python, f"{HERE}/torch_step.py", *tail_of(row, a), "--precision",
                 row["precision"], "--mode", mode], left) if left > 0 else None


def rate(row, side):
    return (row["sides"].get(side) or {}).get("images_per_s")


def show(number):
    return f"{number:.0f}" if number else "-"


def line(row, modes):
    ours = max(rate(row, side) or 0 for side in OURS)
    best = max((rate(row, m) or 0 for m in modes), default=0)
    memory = (row["sides"].get("ours") or {}).get("gpu_mb")
    return [row["net"], str(row["batch"]), row["precision"]] + \
        [show(rate(row, side)) for side in [*OURS, *modes]] + \
        [f"{ours / best:.2f}" if ours and best else "-", str(row["wanted"]),
         f"{ours / row['wanted']:.2f}" if ours else "-",
         f"{memory / 1024:.1f}" if memory else "-"]


def print_table(rows, modes):
    head = ["net", "batch", "precision", *OURS] + ["PyTorch " + m for m in modes] + \
        ["ratio to best", "wanted", "of wanted", "GiB"]
    table = [head] + [line(r, modes) for r in rows]
    wide = [max(len(r[i]) for r in table) for i in range(len(head))]
    for i, r in enumerate(table):
        print("| " + " | ".join(c.ljust(w) for c, w in zip(r, wide)) + " |")
        if i == 0:
            print("|" + "|".join("-" * (w + 2) for w in wide) + "|")


def main():
    a = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--steps", type=int, default=20)
    a.add_argument("--build", default=f"{ROOT}/build")
    a.add_argument("--out", default=f"{ROOT}/build/bench_gpu.json")
    a.add_argument("--only", default="")
    a.add_argument("--modes", default="eager,graph,compile")
    a.add_argument("--seconds", type=float, default=3600)
    a.add_argument("--no-torch", action="store_true")
    a = a.parse_args()
    python = None if a.no_torch else torch_python()
    began = time.time()
    rows = [dict(zip(("net", "batch", "precision", "wanted"), row), sides={})
            for row in ROWS if not a.only or row[0] in a.only.split(",")]
    for row in rows:
        measure_ours(row, a)
    if not any(rate(r, "ours") for r in rows):
        sys.exit("nothing was measured: is there a GPU?")
    if python:
        measure_torch(rows, a, python, began)
    with open(a.out, "w") as f:
        json.dump({"date": time.strftime("%Y-%m-%d"), "rows": rows,
                   "gpu": text_of(["nvidia-smi", "--format=csv,noheader",
                                   "--query-gpu=name,driver_version"]),
                   "torch": text_of([python, "-c", VERSIONS]) if python else ""},
                  f, indent=1)
    print_table(rows, a.modes.split(",") if python else [])


if __name__ == "__main__":
    main()
