#!/usr/bin/env python3
"""What Python costs: training stepped from Python next to the command line, reading a blob
after each forward pass, and importing the package (docs/bench/python.md).

    chrt -r 1 bench/python/overhead.py [BUILD] [--turns N] [--json FILE]

Needs the program, the package (ninja firecaffe python) and data/mnist. Two sides take
turns; each ratio is that of one turn. The two trainings are processes; who is not on turn
is stopped. Processor time is compared beside wall-clock time, because other work on the
machine matters little to it."""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BLOCK = 100  # iterations of a turn
SOLVER = """net: "net.prototxt" base_lr: 0.01 lr_policy: "fixed" momentum: 0.9
weight_decay: 0.0005 display: %d max_iter: 1000000 random_seed: 1
""" % BLOCK
STEPPING = """import caffe
solver = caffe.SGDSolver('solver.prototxt')
while True:
    solver.step(%d)
""" % BLOCK


class Side:
    """A training that is stopped at each line which it logs after BLOCK iterations."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, env=environment, text=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.wall, self.cpu = [], []
        for _ in range(2):  # the second block begins where all others do
            self.to_the_end_of_a_block()
        self.process.send_signal(signal.SIGSTOP)

    def to_the_end_of_a_block(self):
        for line in self.process.stderr:
            if '] Iteration ' in line and ' loss = ' in line:
                return
        sys.exit('a training stopped')

    def used(self):
        """Seconds of processor time, of all threads."""
        total, folder = 0, '/proc/%d/task' % self.process.pid
        for thread in os.listdir(folder):
            with open('%s/%s/schedstat' % (folder, thread)) as file:
                total += int(file.read().split()[0])
        return total * 1e-9

    def turn(self):
        cpu, began = self.used(), time.perf_counter()
        self.process.send_signal(signal.SIGCONT)
        self.to_the_end_of_a_block()
        self.process.send_signal(signal.SIGSTOP)
        self.wall.append(time.perf_counter() - began)
        self.cpu.append(self.used() - cpu)

    def end(self):
        self.process.kill()
        self.process.wait()


def ratios_of(first, second):
    low, middle, high = statistics.quantiles([a / b for a, b in zip(first, second)], n=4)
    return {'ratio': round(middle, 4), 'quarters': [round(low, 4), round(high, 4)],
            'ms': [round(1000 * statistics.median(side), 3) for side in (first, second)]}


def stepping(build, environment, turns):
    """{'wall' or 'cpu': ...}: solver.step() / firecaffe train, LeNet on MNIST."""
    data = os.path.join(ROOT, 'data', 'mnist')
    with open(os.path.join(ROOT, 'models', 'lenet', 'train_val.prototxt')) as file:
        net = file.read()
    for name in 'train', 'test':
        net = net.replace('examples/mnist/mnist_%s_lmdb' % name, 'mnist')
    program = os.path.join(build, 'firecaffe')
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([program, 'convert', 'mnist', data + '/train-images-idx3-ubyte.gz',
                        data + '/train-labels-idx1-ubyte.gz', 'mnist', '--quiet'],
                       check=True, stdout=subprocess.DEVNULL)
        for name, text in ('net', net), ('solver', SOLVER):
            with open(name + '.prototxt', 'w') as file:
                file.write(text)
        sides = [Side([sys.executable, '-c', STEPPING], environment),
                 Side([program, 'train', '--solver', 'solver.prototxt'], environment)]
        for i in range(turns):
            for side in sides[::1 if i % 2 else -1]:
                side.turn()
        for side in sides:
            side.end()
        os.chdir(ROOT)
    return {what: ratios_of(*(getattr(side, what) for side in sides))
            for what in ('wall', 'cpu')}


def reading(turns):
    """Forward passes of GoogLeNet with a blob read after each / without."""
    import caffe
    model = os.path.join(ROOT, 'models', 'googlenet', 'deploy.prototxt')
    name, found = 'pool5/7x7_s1', {}
    for kind, options in (('observed', ({}, {})),
                          ('lean', ({'observe': [name]}, {'lean': True}))):
        nets = [caffe.Net(model, caffe.TEST, **more) for more in options]
        for net in nets:
            net.forward()
        times = [], []
        for i in range(turns):
            for j in (0, 1) if i % 2 else (1, 0):
                began = time.perf_counter()
                nets[j].forward()
                if j == 0:
                    nets[j].blobs[name].data.copy()
                times[j].append(time.perf_counter() - began)
        found[kind] = ratios_of(*times)
    return found


def importing(environment, turns):
    """Median milliseconds of `import caffe` in a new process, and numpy's part of it."""
    script = ('import time; a = time.perf_counter(); import numpy; '
              'b = time.perf_counter(); import caffe; c = time.perf_counter(); '
              'print(c - a, b - a)')
    rows = [subprocess.run([sys.executable, '-c', script], env=environment, check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
            for _ in range(turns)]
    return {name: round(1000 * statistics.median(float(row[i]) for row in rows), 1)
            for i, name in enumerate(('ms', 'numpy_ms'))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('build', nargs='?', default=os.path.join(ROOT, 'build'))
    parser.add_argument('--turns', type=int, default=40)
    parser.add_argument('--json')
    flags = parser.parse_args()
    build = os.path.abspath(flags.build)
    sys.path.insert(0, os.path.join(build, 'python'))
    environment = {**os.environ, 'PYTHONPATH': sys.path[0], 'OMP_NUM_THREADS': '1',
                   'OPENBLAS_NUM_THREADS': '1'}
    os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1',
                      GLOG_minloglevel='2')
    found = {'import': importing(environment, 20),
             'step': stepping(build, environment, flags.turns),
             'read': reading(flags.turns)}
    for what, value in found.items():
        print(what, json.dumps(value))
    if flags.json:
        with open(flags.json, 'w') as file:
            json.dump(found, file, indent=1)


if __name__ == '__main__':
    main()
