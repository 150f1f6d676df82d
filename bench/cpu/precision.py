#!/usr/bin/env python3
"""Compare our training steps in bf16 with those in float32, in turns (turns.py).

    precision.py [--threads 2] [--turns 20] [--block 3] [--out FILE] [NET...]

Prints the medians of both, the median of the ratios of all turns with its quartiles, and
the ratio of the fastest steps."""
import argparse
import json
import os
import sys

import turns

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NETS = {"googlenet": 16, "resnet50": 8, "mobilenet_v1": 8}


def measure(net, a):
    def side(flags):
        return turns.Side(a.build, f"{ROOT}/models/{net}", NETS[net], a.threads, flags)

    row = turns.compare({"fp32": side([]), "bf16": side(["--bf16"])}, a.turns, a.block)
    turns.show(net, NETS[net], "fp32", "bf16", row)
    return dict(row, batch=NETS[net])


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
