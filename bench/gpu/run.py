#!/usr/bin/env python3
"""Training steps on one GPU, ours and PyTorch's, same nets, batches and precisions.

    run.py [--steps 20] [--out build/bench_gpu.json] [--only resnet50,lenet]
           [--modes eager,graph,compile] [--flags=--tune] [--no-torch]

Prints a table of images/s and ratios, and writes all numbers as JSON. Every run is a
process of its own; one that fails shows as "-", with its words on stderr. The column
"wanted" is what we set out to reach on an H200."""
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


def json_of(command):
    """What the command prints, or None."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, text=True)
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
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


def ours(tail, batch, precision, a):
    kind = [] if precision == "fp32" else ["--" + precision]
    r = json_of([f"{a.build}/bench_step", *tail, "--gpu", *kind, *a.flags.split()])
    if r:
        r["images_per_s"] = batch * 1e3 / statistics.median(wall for wall, _ in r["ms"])
    return r


def measure(row, a, python):
    net, batch, precision, wanted = row
    steps = a.steps * (25 if net == "lenet" else 1)
    tail = [f"{ROOT}/models/{net}", str(batch), "--steps", str(steps)]
    sides = {"ours": ours(tail, batch, precision, a)}
    for mode in a.modes.split(",") if python else []:
        sides[mode] = json_of([python, f"{HERE}/torch_step.py", *tail, "--precision",
                               precision, "--mode", mode])
    return {"net": net, "batch": batch, "precision": precision, "wanted": wanted,
            "sides": {k: v for k, v in sides.items() if v}}


def rate(row, side):
    return row["sides"].get(side, {}).get("images_per_s")


def show(number):
    return f"{number:.0f}" if number else "-"


def line(row, modes):
    ours = rate(row, "ours")
    best = max((rate(row, m) or 0 for m in modes), default=0)
    memory = row["sides"].get("ours", {}).get("gpu_peak_mb")
    return [row["net"], str(row["batch"]), row["precision"], show(ours)] + \
        [show(rate(row, m)) for m in modes] + \
        [f"{ours / best:.2f}" if ours and best else "-", str(row["wanted"]),
         f"{ours / row['wanted']:.2f}" if ours else "-",
         f"{memory / 1024:.1f}" if memory else "-"]


def print_table(rows, modes):
    head = ["net", "batch", "precision", "ours"] + ["PyTorch " + m for m in modes] + \
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
    a.add_argument("--flags", default="--tune", help="for our side")
    a.add_argument("--no-torch", action="store_true")
    a = a.parse_args()
    python = None if a.no_torch else torch_python()
    rows = []
    for row in ROWS:
        if a.only and row[0] not in a.only.split(","):
            continue
        rows.append(measure(row, a, python))
        print(f"{row[0]} {row[1]} {row[2]}: {show(rate(rows[-1], 'ours'))} images/s",
              file=sys.stderr)
    if not any(rate(r, "ours") for r in rows):
        sys.exit("nothing was measured: is there a GPU?")
    with open(a.out, "w") as f:
        json.dump({"date": time.strftime("%Y-%m-%d"), "rows": rows,
                   "gpu": text_of(["nvidia-smi", "--format=csv,noheader",
                                   "--query-gpu=name,driver_version"])}, f, indent=1)
    print_table(rows, a.modes.split(",") if python else [])


if __name__ == "__main__":
    main()
