#!/usr/bin/env python3
"""Random faults against real trainings: `./dev chaos [MINUTES]`.

    chaos.py [MINUTES] [--seed N] [--job K] [--program build/firecaffe] [--emulated FILE]
             [--kinds threads,mpi,hosts,gpu] [--faults N] [--dir DIR] [--keep]

One job after the other is trained by 2 to 5 workers: threads, processes under mpirun, processes on
hosts of their own (network namespaces; as root), or workers on an emulated GPU. Meanwhile ranks,
launchers and supervisors are killed, stopped and made to crash, links go down or lose packets, the
disk is full or hangs, newest snapshots are damaged. Each job must end by itself, with the weights of
the undisturbed training bit for bit, and leave no process, no temporary file and no shared memory.

Everything that is random comes from the seed: `--seed N --job K` repeats one job, though not the
moments at which processes are when they are hit."""
import argparse
import collections
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

import faults
import hosts
import job

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("minutes", nargs="?", type=float, default=10)
    p.add_argument("--seed", type=int)
    p.add_argument("--job", type=int, help="only this one")
    p.add_argument("--program", default=f"{ROOT}/build/firecaffe")
    p.add_argument("--emulated", help="a program built with FIRE_CUDA_EMULATOR")
    p.add_argument("--kinds", help="threads,mpi,hosts,gpu (default: what can be run here)")
    p.add_argument("--faults", type=int, default=8, help="most of them in a job")
    p.add_argument("--iterations", type=int, default=4000)
    p.add_argument("--dir")
    p.add_argument("--keep", action="store_true", help="keep the files of good jobs too")
    return p.parse_args()


def kinds_of(a):
    if a.kinds:
        return a.kinds.split(",")
    kinds = ["threads"]
    if shutil.which("mpirun"):
        kinds += ["mpi", "mpi"]
        if hosts.possible():
            kinds += ["hosts"]
    return kinds + (["gpu"] if a.emulated else [])


class Tally:
    """What all jobs together have met."""

    def __init__(self):
        self.jobs = 0
        self.faults = collections.Counter()
        self.recoveries, self.losses, self.bad = [], [], []

    def add(self, number, result):
        self.jobs += 1
        self.faults.update(result.faults)
        self.recoveries += result.recoveries
        self.losses += result.losses
        self.bad += [f"job {number}: {what}" for what in result.bad]

    def show(self, seed, minutes):
        count = sum(self.faults.values())
        print(f"\nSeed {seed}: {self.jobs} jobs, {count} faults in {minutes:.1f} minutes")
        for name, n in sorted(self.faults.items()):
            print(f"  {n:4d} {name}")
        if self.recoveries:
            r = sorted(self.recoveries)
            print(f"Recovery: median {statistics.median(r):.2f} s, 95 % within "
                  f"{r[int(0.95 * (len(r) - 1))]:.2f} s, longest {r[-1]:.2f} s "
                  f"({len(r)} measured)")
        if self.losses:
            print(f"Iterations lost: median {statistics.median(self.losses):.0f}, most "
                  f"{max(self.losses)}")
        print("Broken: " + ("none" if not self.bad else ""))
        for what in self.bad:
            print(f"  {what}")


def main():
    a = arguments()
    seed = a.seed if a.seed is not None else random.SystemRandom().randrange(1 << 32)
    top = os.path.abspath(a.dir or tempfile.mkdtemp(prefix="chaos."))
    os.makedirs(top, exist_ok=True)
    kinds, tally, began = kinds_of(a), Tally(), time.monotonic()
    print(f"Seed {seed}, files in {top}, jobs of {', '.join(sorted(set(kinds)))}", flush=True)
    bench = job.Bench(top, ROOT, os.path.abspath(a.program), a.emulated, a.iterations)
    with hosts.Network() if "hosts" in kinds else hosts.NoNetwork() as network:
        number = a.job or 0
        while time.monotonic() - began < 60 * a.minutes:
            rng = random.Random(f"{seed}:{number}")
            one = job.Job(bench, number, rng, rng.choice(kinds), network)
            result = faults.torment(one, rng, a.faults)
            tally.add(number, result)
            if result.bad:
                print(f"BROKEN: repeat it with --seed {seed} --job {number}; see {one.dir}")
            elif not a.keep:
                one.remove()
            if a.job is not None:
                break
            number += 1
    tally.show(seed, (time.monotonic() - began) / 60)
    if not tally.bad and not a.keep and a.dir is None:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
