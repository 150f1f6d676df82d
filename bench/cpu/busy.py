#!/usr/bin/env python3
"""Training steps while other processes keep the cores busy: how much longer than alone?

    busy.py BUILD [--threads 2] [--beside 1] [--rounds 3] [NET...]

Runs bench_step of BUILD (ninja -C BUILD bench_step) alone and beside endless loops, in
turns, once as it is and once with libgomp's own waiting (GOMP_SPINCOUNT=300000). Prints
medians of all steps in milliseconds. A fair share of two cores beside one loop takes 1.33
times as long. Nothing else may run."""
import argparse
import json
import os
import statistics
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NETS = {"lenet": (64, 100), "googlenet": (16, 6), "resnet50": (8, 6)}  # batch, steps


def steps(build, net, threads, environment):
    batch, count = NETS[net]
    out = subprocess.run([f"{build}/bench_step", f"{ROOT}/models/{net}", str(batch),
                          "--threads", str(threads), "--steps", str(count)],
                         env=dict(os.environ, **environment), stdout=subprocess.PIPE,
                         check=True, text=True).stdout
    return [step[0] for step in json.loads(out.splitlines()[-1])["ms"]]


def beside(loops, run):
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(loops)]
    try:
        return run()
    finally:
        for other in others:
            other.kill()
            other.wait()


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("build")
    p.add_argument("nets", nargs="*", help=", ".join(NETS))
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--beside", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    a = p.parse_intermixed_args()
    for net in a.nets or NETS:
        ms = {}
        for _ in range(a.rounds):
            for waiting, environment in (("ours", {}),
                                         ("libgomp's", {"GOMP_SPINCOUNT": "300000"})):
                for loops in 0, a.beside:
                    found = beside(loops, lambda: steps(a.build, net, a.threads, environment))
                    ms.setdefault((waiting, loops), []).extend(found)
        for waiting in "ours", "libgomp's":
            alone, busy = (statistics.median(ms[waiting, loops]) for loops in (0, a.beside))
            print(f"{net:10} {waiting:10} alone {alone:8.2f}  beside {busy:8.2f}  "
                  f"{busy / alone:.2f} times as long", flush=True)


if __name__ == "__main__":
    main()
