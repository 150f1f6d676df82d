#!/usr/bin/env python3
"""Time training steps (or inference) of the usual nets, ours and PyTorch's, in turns.

    run.py [--threads 2] [--rounds 3] [--infer] [--bf16] [--out build/bench_cpu.json] [NET...]
    run.py --profile [NET...]
    run.py --depthwise

Each round runs our step, then PyTorch's in both memory layouts, each in its own process.
The result is the median over all steps of all rounds, for PyTorch in its better layout. It
is merged into the JSON file, and a table is printed and a plot written next to the file.
Without python3-torch only our side runs.

--profile prints the ten layers that take most of a training step, and the ratio of their
time to a lower bound: the larger of direct arithmetic at sgemm's speed, and of reading
inputs and writing outputs once at the speed of memory. That is measured by a copy of 268 MB
by the same threads after each step; medians are compared.

--depthwise does so for the depthwise layers of MobileNet v1, with medians of 15 steps:
forward reads x and writes y, backward reads x and dy and writes dx. There are two lower
bounds: all bytes at the speed of memory, and all bytes at the speed of repeated copies of as
many bytes as the layer moves, from whichever cache holds them."""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# net: batch, steps per round, ratio to reach
NETS = {"lenet": (64, 40, 2.0), "cifar10_quick": (100, 20, 2.0), "alexnet": (16, 5, 1.6),
        "nin_imagenet": (16, 5, 1.1), "googlenet": (16, 4, 1.7), "resnet50": (8, 4, 1.35),
        "mobilenet_v1": (8, 6, 1.5)}


def json_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def torch_python():
    """A Python that has torch, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0:
            return python
    return None


def commands(net, a, python):
    batch, steps, _ = NETS[net]
    tail = [f"{ROOT}/models/{net}", str(batch), "--steps", str(steps), "--threads",
            str(a.threads)] + ["--infer"] * a.infer + ["--bf16"] * a.bf16
    sides = {"ours": [f"{a.build}/bench_step"] + tail}
    if python:
        for layout in ("nchw", "nhwc"):
            sides["torch_" + layout] = [python, HERE + "/torch_step.py", *tail,
                                        "--layout", layout]
    return sides


def measure(net, a, python):
    sides, found = commands(net, a, python), {}
    for _ in range(a.rounds):
        for side, command in sides.items():
            r = json_of(command)
            f = found.setdefault(side, {"ms": [], "peak_mb": 0, "params": r["params"]})
            f["ms"] += [wall for wall, _ in r["ms"]]
            f["peak_mb"] = max(f["peak_mb"], r["peak_mb"])
            f["gflop"] = r.get("gflop")
    for side, f in found.items():
        if f["params"] != found["ours"]["params"]:
            sys.exit(f"{net}: {side} has {f['params']} parameters, we have "
                     f"{found['ours']['params']}: not the same net")
        f["median_ms"] = round(statistics.median(f["ms"]), 3)
        f["fastest_ms"] = min(f["ms"])
    return found


def summary(net, found, peak):
    batch, _, target = NETS[net]
    ours = found["ours"]
    row = {"net": net, "batch": batch, "target": target, "sides": found,
           "images_per_s": round(batch * 1e3 / ours["median_ms"], 1),
           "percent_of_sgemm": round(100 * ours["gflop"] / ours["median_ms"] * 1e3 /
                                     peak["sgemm_gflops"], 1)}
    peers = [f for side, f in found.items() if side != "ours"]
    if peers:
        best = min(peers, key=lambda f: f["median_ms"])
        row["torch_images_per_s"] = round(batch * 1e3 / best["median_ms"], 1)
        row["ratio"] = round(best["median_ms"] / ours["median_ms"], 2)
        row["memory_ratio"] = round(ours["peak_mb"] / best["peak_mb"], 2)
        row["torch_peak_mb"] = best["peak_mb"]
    return row


def print_table(rows):
    print(f"{'net':14} {'batch':>5} {'ms':>9} {'img/s':>8} {'% sgemm':>8} {'MB':>7} "
          f"{'torch ms':>9} {'MB':>7} {'ratio':>6} {'goal':>5}")
    for r in rows:
        ours = r["sides"]["ours"]
        print(f"{r['net']:14} {r['batch']:5} {ours['median_ms']:9.2f} "
              f"{r['images_per_s']:8.1f} {r['percent_of_sgemm']:8.1f} "
              f"{ours['peak_mb']:7.0f} ", end="")
        if "ratio" in r:
            torch_ms = r["batch"] * 1e3 / r["torch_images_per_s"]
            print(f"{torch_ms:9.2f} {r['torch_peak_mb']:7.0f} {r['ratio']:6.2f} "
                  f"{r['target']:5.2f}")
        else:
            print("        -       -      -     -")


def layer_times(net, a, steps):
    """Of bench_step --layers: GB/s of a copy, and lines as (name, type, kernel, numbers)."""
    done = subprocess.run([f"{a.build}/bench_step", f"{ROOT}/models/{net}", str(NETS[net][0]),
                           "--steps", str(steps), "--threads", str(a.threads), "--layers"]
                          + ["--bf16"] * a.bf16, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=True, text=True)
    copy, *lines = done.stderr.splitlines()
    rows = [line.split() for line in lines]
    return float(copy), [(*row[:3], *map(float, row[3:])) for row in rows]


def profile(net, a, peak):
    rows, total = [], 0
    copy, layers = layer_times(net, a, 3 * NETS[net][1])
    for name, kind, kernel, forward, backward, gflop, mb in layers:
        floor = max(gflop / peak["sgemm_gflops"], mb / 1e3 / copy) * 1e3
        rows.append((forward + backward, name, kind, kernel, forward, backward, floor))
        total += forward + backward
    print(f"\n{net}: {total:.1f} ms in layers; sgemm {peak['sgemm_gflops']} GFLOP/s, copy "
          f"{copy} GB/s\n{'layer':26} {'type':14} {'kernel':9} "
          f"{'forward':>8} {'backward':>8} {'share':>6} {'floors':>7}")
    for ms, name, kind, kernel, forward, backward, floor in sorted(rows)[:-11:-1]:
        print(f"{name:26} {kind:14} {kernel:9} {forward:8.2f} {backward:8.2f} "
              f"{100 * ms / total:5.1f}% {ms / (3 * floor) if floor else 0:7.2f}")


def depthwise(a, peak):
    copy, layers = layer_times("mobilenet_v1", a, 15)

    def floors(ms, mb):
        gbs = next(g for size, g in peak["copies"] if size >= mb)
        return f"{ms / mb * copy:8.2f} {ms / mb * gbs:8.2f}"

    ms, mb = [0, 0], [0, 0]
    print(f"copy {copy} GB/s; again and again [MB, GB/s] {peak['copies']}")
    print(f"{'':14} {'forward':>8} {'floors':>8} {'cached':>8} {'backward':>9} {'floors':>8} "
          f"{'cached':>8}")
    for name, kind, _, forward, backward, gflop, both in layers:
        if kind != "Convolution" or not name.endswith("/dw"):
            continue
        y = gflop / 18 * 4e3  # 9 products for each of them
        x = both - y
        moved = [both, 2 * x + y]
        print(f"{name:14} {forward:8.3f} {floors(forward, moved[0])} {backward:9.3f} "
              f"{floors(backward, moved[1])}")
        for i, t in enumerate((forward, backward)):
            ms[i] += t
            mb[i] += moved[i]
    print("all            " + " ".join(
        f"{t:8.3f} {t / m * copy:8.2f}         " for t, m in zip(ms, mb)))


def plot(rows, title, path):
    """Bars: how many times PyTorch's speed; a tick where the goal is."""
    rows = [r for r in rows if "ratio" in r]
    if not rows:
        return
    left, unit, step = 130, 420 / max(max(r["ratio"], r["target"]) for r in rows), 34
    height = 50 + step * len(rows)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="640" height="{height}" fill="#fff"/>',
           f'<text x="{left}" y="22" font-weight="bold">{title}</text>']
    for i, r in enumerate(rows):
        y, x = 38 + i * step, left + r["target"] * unit
        svg.append(
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{r["net"]}</text>'
            f'<rect x="{left}" y="{y}" width="{r["ratio"] * unit:.1f}" height="20" '
            f'fill="#d9541e"/><line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 3}" '
            f'y2="{y + 23}" stroke="#333" stroke-width="2"/>'
            f'<text x="{left + r["ratio"] * unit + 6:.1f}" y="{y + 15}">'
            f'{r["ratio"]:.2f}x</text>')
    one = left + unit
    svg.append(f'<line x1="{one:.1f}" x2="{one:.1f}" y1="30" y2="{height - 8}" '
               'stroke="#888" stroke-dasharray="3 3"/></svg>')
    with open(path, "w") as f:
        f.write("\n".join(svg) + "\n")


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("nets", nargs="*")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--infer", action="store_true")
    p.add_argument("--bf16", action="store_true")
    p.add_argument("--profile", action="store_true")
    p.add_argument("--depthwise", action="store_true")
    p.add_argument("--alone", action="store_true", help="only our side")
    p.add_argument("--build", default=ROOT + "/build")
    p.add_argument("--out", default=ROOT + "/build/bench_cpu.json")
    a = p.parse_args()
    unknown = [n for n in a.nets if n not in NETS]
    if unknown:
        sys.exit(f"unknown net {unknown[0]}; known: {', '.join(NETS)}")
    python = None if a.alone or a.profile or a.depthwise else torch_python()
    peak = json_of([a.build + "/bench_peak", str(a.threads)])
    if a.depthwise:
        depthwise(a, peak)
        return
    if a.profile:
        for net in a.nets or NETS:
            profile(net, a, peak)
        return
    key = ("infer" if a.infer else "train") + ("_bf16" if a.bf16 else "")
    saved = {}
    if os.path.exists(a.out):
        with open(a.out) as f:
            saved = json.load(f)
    table = saved.setdefault(key, {})
    for net in a.nets or NETS:
        table[net] = {**summary(net, measure(net, a, python), peak), "peak": peak}
        with open(a.out, "w") as f:
            json.dump(saved, f, indent=1)
        print_table([table[net]])
    rows = [table[n] for n in NETS if n in table]
    print(f"\n{key}, {peak['threads']} threads; sgemm {peak['sgemm_gflops']} GFLOP/s, "
          f"copy {peak['copy_gb_per_s']} GB/s")
    print_table(rows)
    plot(rows, f"Speed against PyTorch ({key}, {peak['threads']} threads)",
         os.path.splitext(a.out)[0] + ("" if key == "train" else "_" + key) + ".svg")


if __name__ == "__main__":
    main()
