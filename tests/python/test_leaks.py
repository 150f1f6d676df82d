"""Tests that nets, arrays, solvers, layers and exceptions of python/src leave nothing
behind. PYTHON_LEAK_ROUNDS=10000 makes as many nets as a program that runs for days; the
usual number shows a leak of some kilobytes each, too."""
import gc
import os
import unittest

import numpy as np

import caffe
from nets import DEPLOY, InFolder
from test_solver import NET, SOLVER

ROUNDS = int(os.environ.get('PYTHON_LEAK_ROUNDS', 400))
KILOBYTES = 1  # allowed in a round; a net has 30 or more


class Failing(caffe.Layer):
    """Fails wherever it is told to."""
    where = None

    def setup(self, bottom, top):
        self.here('setup')

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)
        self.here('reshape')

    def forward(self, bottom, top):
        self.kept = top[0].data, bottom[0].data
        self.here('forward')

    def backward(self, top, propagate_down, bottom):
        self.here('backward')

    def here(self, where):
        if Failing.where == where:
            raise ValueError('in ' + where)


FAILING = DEPLOY + """layer { name: 'bad' type: 'Python' bottom: 'ip' top: 'bad'
  python_param { module: '%s' layer: 'Failing' } }""" % __name__


def resident():
    """Kilobytes of memory that the process has."""
    gc.collect()
    with open('/proc/self/status') as file:
        return int([line for line in file if line.startswith('VmRSS')][0].split()[1])


@unittest.skipIf(os.environ.get('PYTHON_PRELOAD'), 'a sanitizer keeps memory that is freed')
class NothingStays(InFolder):
    def check(self, once):
        """Memory does not grow with the number of rounds."""
        for _ in range(ROUNDS // 4):
            once()
        before = resident()
        for _ in range(ROUNDS):
            once()
        grown = resident() - before
        self.assertLess(grown, max(ROUNDS * KILOBYTES, 2000), 'kB in %d rounds' % ROUNDS)

    def test_of_nets(self):
        def once():
            net = caffe.Net(DEPLOY, caffe.TEST)
            net.forward()
        self.check(once)

    def test_of_arrays_that_outlive_their_net(self):
        kept = []

        def once():
            net = caffe.Net(DEPLOY, caffe.TEST)
            net.forward()
            kept.append(net.blobs['prob'].data)
            del net
            if len(kept) > 50:
                self.assertTrue(np.isfinite(kept.pop(0)).all())
        self.check(once)

    def test_of_reshapes_and_arrays_in_between(self):
        net = caffe.Net(DEPLOY, caffe.TEST)

        def once():
            for rows in 3, 7, 1:
                net.blobs['data'].reshape(rows, 2, 6, 5)
                net.blobs['ip'].data[...] = 1
                net.forward(end='ip')
                net.blobs['prob'].diff[...] = 1
        self.check(once)

    def test_of_solvers(self):
        self.write(NET)

        def once():
            solver = caffe.get_solver(SOLVER)
            solver.add_callback(lambda: None, lambda: None)
            solver.step(2)
        self.check(once)

    def test_of_exceptions_in_callbacks(self):
        self.write(NET)
        solver = caffe.get_solver(SOLVER)

        def fail():
            raise ValueError('in a callback')
        solver.add_callback(fail, lambda: None)
        net = caffe.Net(DEPLOY, caffe.TEST)
        net.after_forward(lambda layer: fail())

        def once():
            for run in (lambda: solver.step(1)), net.forward:
                with self.assertRaises(ValueError):
                    run()
        self.check(once)

    def test_of_exceptions_in_python_layers(self):
        def once():
            for Failing.where in 'setup', 'reshape', 'forward', 'backward':
                with self.assertRaises(ValueError):
                    net = caffe.Net(FAILING, caffe.TRAIN)
                    net.forward()
                    net.backward()
        self.check(once)

    def test_of_errors_of_the_engine(self):
        def once():
            with self.assertRaises(caffe.Error):
                caffe.Net(DEPLOY.replace('InnerProduct', 'OuterProduct'), caffe.TEST)
        self.check(once)


if __name__ == '__main__':
    unittest.main()
