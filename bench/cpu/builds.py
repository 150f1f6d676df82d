#!/usr/bin/env python3
"""Training steps of two builds of this project in turns (turns.py): did a change cost speed?

    builds.py OLD_BUILD NEW_BUILD [--threads 2] [--turns 15] [--block 3] [NET...]

Each build directory must hold bench_step (ninja -C DIR bench_step). A ratio above 1 means
that the new build is faster. `chrt -r 1` before the command keeps other work out."""
import argparse
import os

import turns

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NETS = {"lenet": 64, "googlenet": 16, "resnet50": 8, "mobilenet_v1": 8}


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("old")
    p.add_argument("new")
    p.add_argument("nets", nargs="*", help=", ".join(NETS))
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--turns", type=int, default=15)
    p.add_argument("--block", type=int, default=3)
    a = p.parse_intermixed_args()
    for net in a.nets or NETS:
        sides = {name: turns.Side(build, f"{ROOT}/models/{net}", NETS[net], a.threads, [])
                 for name, build in (("old", a.old), ("new", a.new))}
        turns.show(net, NETS[net], "old", "new", turns.compare(sides, a.turns, a.block))


if __name__ == "__main__":
    main()
