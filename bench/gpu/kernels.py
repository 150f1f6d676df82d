#!/usr/bin/env python3
"""Print a table of the slowest kernels of one training step, measured by Nsight Compute.

    kernels.py MODEL_DIR BATCH [--precision bf16] [--tune] [--build build] [--top 10]
               [--copy TB/s] [--product TFLOP/s] [--skip 1000] [--csv FILE]

Shows for each kernel how often it ran, its time, the bytes that DRAM moved and the
operations of tensor cores, also in percent of --copy and --product (ceilings.py). Kernels
run one by one, outside of a CUDA graph; the step is the last of three, and the first --skip
launches are not measured. --csv reads an earlier output of ncu."""
import argparse
import csv
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIME, READ, WRITTEN = "gpu__time_duration.sum", "dram__bytes_read.sum", \
    "dram__bytes_write.sum"
OPERATIONS = {"bf16": "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
              "tf32": "sm__ops_path_tensor_src_tf32_dst_fp32.sum"}
FIRST = "set_step"  # the kernel that begins a step


def profile(a):
    metrics = ",".join([TIME, READ, WRITTEN, OPERATIONS[a.precision]])
    return subprocess.run(
        ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv",
         "--page", "raw", "--print-units", "base", "--metrics", metrics,
         "--launch-skip", str(a.skip), f"{a.build}/bench_step", a.model, a.batch,
         "--steps", "1", "--layers", "--gpu", "--" + a.precision] +
        ["--tune"] * a.tune, stdout=subprocess.PIPE, check=True, text=True).stdout


def launches(text):
    """Name and metrics of each launch of the last step, in base units."""
    rows = list(csv.reader(s for s in text.splitlines() if s.startswith('"')))
    rows = [dict(zip(rows[0], row)) for row in rows[2:]]  # below names and units
    begins = [i for i, r in enumerate(rows) if r["Kernel Name"].startswith(FIRST)]
    if not begins:
        sys.exit(f"no step among {len(rows)} launches")
    return rows[begins[-1]:]


def number(row, metric):
    text = row.get(metric, "").replace(",", "")
    return float(text) if re.match(r"[0-9]", text) else 0.0


def sums(rows, precision):
    """Launches, seconds, bytes and operations by kernel, the heaviest first."""
    by_name = {}
    for r in rows:
        s = by_name.setdefault(re.sub(r"\(.*", "", r["Kernel Name"]), [0] * 4)
        s[0] += 1
        s[1] += number(r, TIME) * 1e-9
        s[2] += number(r, READ) + number(r, WRITTEN)
        s[3] += number(r, OPERATIONS[precision])
    return sorted(by_name.items(), key=lambda item: -item[1][1])


def show(value, ceiling):
    return f"{value:.2f} ({100 * value / ceiling:.0f} %)" if value > 0.005 else ""


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("batch")
    p.add_argument("--precision", default="bf16", choices=OPERATIONS)
    p.add_argument("--tune", action="store_true")
    p.add_argument("--build", default=f"{ROOT}/build")
    p.add_argument("--top", type=int, default=10)
    p.add_argument("--copy", type=float, default=4.3)
    p.add_argument("--product", type=float, default=790)
    p.add_argument("--skip", type=int, default=1000)
    p.add_argument("--csv")
    a = p.parse_args()
    rows = launches(open(a.csv).read() if a.csv else profile(a))
    table = sums(rows, a.precision)
    total = sum(s[1] for _, s in table)
    print(f"{os.path.basename(a.model)}, {a.batch}, {a.precision}: {len(rows)} launches, "
          f"{total * 1e3:.1f} ms one by one\n")
    print("| launches | ms | TB/s | TFLOP/s | kernel |\n|---|---|---|---|---|")
    for name, (n, seconds, moved, operations) in table[:a.top]:
        print(f"| {n} | {seconds * 1e3:.2f} | {show(moved / seconds / 1e12, a.copy)} "
              f"| {show(operations / seconds / 1e12, a.product)} | {name} |")


if __name__ == "__main__":
    main()
