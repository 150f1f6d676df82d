#!/usr/bin/env python3
"""Training steps in bf16 against those in float32, both ours.

    precision.py [--threads 2] [--turns 20] [--block 3] [--out FILE] [NET...]

Both nets live in processes of their own all the time and go on in turns of a few steps: a
machine whose speed changes from one minute to the next does so for both. The ratio of
each turn is that of its medians; printed are the median over all turns, the quarters
around it, and the ratio of the fastest steps."""
import argparse
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NETS = {"googlenet": 16, "resnet50": 8, "mobilenet_v1": 8}


class Side:
    def __init__(self, net, a, flags):
        self.ms = []
        self.process = subprocess.Popen(
            [a.build + "/bench_step", f"{ROOT}/models/{net}", str(NETS[net]), "--turns",
             "--steps", "1000000", "--threads", str(a.threads)] + flags, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.read_up_to('"ms": [')

    def read_up_to(self, end):
        text = ""
        while not text.endswith(end):
            c = self.process.stdout.read(1)
            if not c:
                sys.exit("bench_step stopped")
            text += c
        return text

    def step(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        wall = self.read_up_to("]").lstrip(", [").split(",")[0]
        self.ms.append(float(wall))
        return self.ms[-1]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(net, a):
    sides = {"fp32": Side(net, a, []), "bf16": Side(net, a, ["--bf16"])}
    turns = []
    for _ in range(a.turns):
        of = {name: statistics.median(side.step() for _ in range(a.block))
              for name, side in sides.items()}
        turns.append(of["fp32"] / of["bf16"])
    for side in sides.values():
        side.end()
    fp32, bf16 = sides["fp32"].ms, sides["bf16"].ms
    low, middle, high = statistics.quantiles(turns, n=4)
    row = {"batch": NETS[net], "fp32_ms": statistics.median(fp32),
           "bf16_ms": statistics.median(bf16), "ratio": middle, "quarters": [low, high],
           "fastest": min(fp32) / min(bf16), "turns": [round(t, 3) for t in turns],
           "fp32": fp32, "bf16": bf16}
    print(f"{net:14} {NETS[net]:3}  fp32 {row['fp32_ms']:7.1f} ms  bf16 "
          f"{row['bf16_ms']:7.1f} ms  ratio {middle:.2f} ({low:.2f} to {high:.2f})  "
          f"of medians {row['fp32_ms'] / row['bf16_ms']:.2f}  "
          f"fastest {min(fp32):.0f}/{min(bf16):.0f} {row['fastest']:.2f}", flush=True)
    return row


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("nets", nargs="*")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--turns", type=int, default=20)
    p.add_argument("--block", type=int, default=3)
    p.add_argument("--build", default=ROOT + "/build")
    p.add_argument("--out")
    a = p.parse_args()
    unknown = [n for n in a.nets if n not in NETS]
    if unknown:
        sys.exit(f"unknown net {unknown[0]}; known: {', '.join(NETS)}")
    rows = {net: measure(net, a) for net in a.nets or NETS}
    if a.out:
        with open(a.out, "w") as f:
            json.dump(rows, f)


if __name__ == "__main__":
    main()
