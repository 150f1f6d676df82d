"""Tests python/firecaffe/ and python/src/source.c: data from Python."""
import gc
import glob
import hashlib
import mmap
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import numpy as np

import caffe
import firecaffe
from nets import InFolder

HEAD = """name: 'line'
layer { name: 'data' type: 'MemoryData' top: 'x' top: 'label'
  memory_data_param { batch_size: 8 channels: 1 height: 2 width: 3 } }
"""
PYTHON = """name: 'line'
layer { name: 'data' type: 'Python' top: 'x' top: 'label' python_param {
  module: 'firecaffe' layer: 'DataLayer' param_str:
    "{'source': 'test_data.Points', 'batch_size': 8, 'shuffle': True}" } }
"""
TAIL = """layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'
  inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'y' bottom: 'label' top: 'loss' }
"""
SOLVER = """net: 'net.prototxt' base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 display: 0
max_iter: 20 random_seed: 3 snapshot_prefix: 'model' fire { lanes: 4 }
"""
SCRIPT = """import sys
sys.path.insert(0, %r)
import caffe, firecaffe
from test_data import Points
solver = caffe.get_solver('solver.prototxt')
firecaffe.feed(solver, Points(), shuffle=True)
solver.solve()
"""


class Points:
    """Thirty points, with noise that is drawn when they are loaded."""

    def __len__(self):
        return 30

    def __getitem__(self, i):
        x = np.full((1, 2, 3), i, np.float32) + np.random.rand(1, 2, 3) + random.random()
        return x, i % 2


class Broken(Points):
    def __getitem__(self, i):
        if i == 20:
            raise KeyError('point 20 is broken')
        return super().__getitem__(i)


class Counting(Points):
    """Counts its items in memory that processes share."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 1)

    def __getitem__(self, i):
        self.memory[0] += 1
        return super().__getitem__(i)


class Endless:
    """Not indexed: numbers from 0 on, five of them."""

    def __iter__(self):
        return (np.full(2, i, np.float32) for i in range(5))


def passes(samples):
    return [samples] + [(samples[0] + i * samples[2], *samples[1:]) for i in range(1, 9)]


def children():
    return len(multiprocessing.active_children())


class Feeds(unittest.TestCase):
    def test_batches_do_not_depend_on_the_workers(self):
        found = []
        for workers in 0, 1, 3:
            feed = firecaffe.Feed(Points(), 7, shuffle=True, workers=workers, seed=5)
            found.append([[a.copy() for a in feed.batch(passes((i * 7, 1, 7)))]
                          for i in range(10)])
            feed.close()
        for other in found[1:]:
            for a, b in zip(found[0], other):
                np.testing.assert_array_equal(a[0], b[0])
                np.testing.assert_array_equal(a[1], b[1])
        epoch = np.concatenate([a[0][:, 0, 0, 0] for a in found[0]])[:30].astype(int)
        self.assertNotEqual(list(epoch), sorted(epoch))

    def test_each_epoch_has_every_item_once_in_another_order(self):
        class Numbers(list):
            pass
        feed = firecaffe.Feed(Numbers(np.float32(range(30))), 30, shuffle=True, workers=1)
        epochs = [feed.batch([(e * 30, 1, 30)])[0].copy() for e in range(2)]
        for epoch in epochs:
            self.assertEqual(sorted(epoch), list(range(30)))
        self.assertFalse((epochs[0] == epochs[1]).all())

    def test_a_wrong_guess_costs_time_only(self):
        feed = firecaffe.Feed(list(np.float32(range(100))), 4, workers=2, ahead=3)
        for first in 0, 40, 4, 4, 80, 8:  # others than those that it was told of
            rows = feed.batch(passes((first, 2, 4)))[0]
            self.assertEqual(list(rows), [first, first + 2, first + 4, first + 6])

    def test_an_iterable_is_read_in_order_again_and_again(self):
        for workers in 0, 2:
            feed = firecaffe.Feed(Endless(), 4, workers=workers)
            found = [feed.batch(passes((4 * i, 1, 4)))[0][:, 0].copy() for i in range(4)]
            self.assertEqual(list(np.concatenate(found)),
                             [i % 5 for i in range(16)])
            self.assertEqual(list(feed.batch([(1, 2, 3)])[0][:, 0]), [1, 3, 0])
        feed = firecaffe.Feed((np.float32(i) for i in range(6)), 4)
        self.assertEqual(list(feed.batch([(0, 1, 4)])[0]), [0, 1, 2, 3])
        with self.assertRaisesRegex(ValueError, 'no more items'):
            feed.batch([(4, 1, 4)])

    def test_failures_come_when_their_batch_does_with_their_traceback(self):
        feed = firecaffe.Feed(Broken(), 8, workers=2)
        feed.batch(passes((0, 1, 8)))
        feed.batch(passes((8, 1, 8)))
        with self.assertRaisesRegex(KeyError, 'point 20 is broken') as caught:
            feed.batch(passes((16, 1, 8)))
        self.assertIn('__getitem__', str(caught.exception.__cause__))
        feed.batch(passes((24, 1, 8)))
        feed = firecaffe.Feed(Points(), 4, workers=1)
        os.kill(feed._ring.crew.processes[0].pid, signal.SIGKILL)
        with self.assertRaisesRegex(caffe.WorkerError, 'ended with code -9'):
            feed.batch([(0, 1, 4)])

    def test_what_cannot_be_is_refused(self):
        for source, error in ((5, TypeError), ([], ValueError)):
            with self.assertRaises(error):
                firecaffe.Feed(source, 4)
        with self.assertRaisesRegex(ValueError, 'cannot be shuffled'):
            firecaffe.Feed(Endless(), 4, shuffle=True)
        with self.assertRaisesRegex(ValueError, r'item 1 has shape \(3,\), not \(2,\)'):
            firecaffe.Feed([np.zeros(2), np.zeros(3)], 2, workers=0).batch([(0, 1, 2)])
        with self.assertRaisesRegex(RuntimeError, 'only a Python layer'):
            caffe.Layer().samples(3)

    def test_the_numbers_of_the_script_go_on(self):
        np.random.seed(1)
        want = np.random.rand(2)
        np.random.seed(1)
        one = np.random.rand()
        firecaffe.Feed(Points(), 4, workers=0).batch([(0, 1, 4)])
        np.testing.assert_array_equal([one, np.random.rand()], want)

    def test_processes_end_with_the_feed(self):
        before = children()
        feed = firecaffe.Feed(Points(), 4, workers=2)
        self.assertEqual(children(), before + 2)
        del feed
        gc.collect()
        self.assertEqual(children(), before)

    def test_batches_are_loaded_ahead(self):
        source = Counting()
        feed = firecaffe.Feed(source, 4, workers=1, ahead=6, shapes=[(1, 2, 3), ()])
        feed.batch(passes((0, 1, 4)))
        end = time.monotonic() + 60
        while source.memory[0] < 28 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.1)
        self.assertEqual(source.memory[0], 28)  # of seven batches


class Training(InFolder):
    def setUp(self):
        super().setUp()
        self.write(HEAD + TAIL)
        self.write(SOLVER, 'solver.prototxt')

    def solver(self, **options):
        solver = caffe.get_solver('solver.prototxt')
        firecaffe.feed(solver, Points(), shuffle=True, **options)
        return solver

    def trained(self):
        files = sorted(glob.glob('model_iter_20.*'))
        self.assertEqual(len(files), 2)
        found = []
        for name in files:
            with open(name, 'rb') as file:
                found.append(hashlib.sha256(file.read()).hexdigest())
            os.remove(name)
        return found

    def test_a_net_reads_what_the_source_brings(self):
        net = caffe.Net('net.prototxt', caffe.TEST)
        data = [(np.full((1, 2, 3), i), i % 2) for i in range(10)]
        firecaffe.feed(net, data, workers=1)
        for first in 0, 8, 6, 4:
            net.forward()
            self.assertEqual(list(net.blobs['x'].data[:, 0, 1, 1]),
                             [(first + i) % 10 for i in range(8)])
            self.assertEqual(net.blobs['label'].data[1], (first + 1) % 2)

    def test_workers_and_layers_give_the_same_bits(self):
        solver = self.solver()
        solver.solve()
        want = self.trained()
        for workers in 1, 2, 4:
            with caffe.Trainer('solver.prototxt', workers=workers) as trainer:
                trainer.each(lambda solver: firecaffe.feed(solver, Points(), shuffle=True))
                trainer.solve()
            self.assertEqual(self.trained(), want)
        self.write(PYTHON + TAIL)
        for workers in 1, 2:
            with caffe.Trainer('solver.prototxt', workers=workers) as trainer:
                trainer.solve()
                weights = trainer.net.params['ip'][0].data.copy()
            np.testing.assert_array_equal(weights, solver.net.params['ip'][0].data)

    def test_a_resumed_training_goes_on_where_it_was(self):
        self.solver(workers=1).solve()
        want = self.trained()
        solver = self.solver(workers=0)
        solver.step(7)
        solver.snapshot()
        again = self.solver(workers=2)
        again.restore('model_iter_7.solverstate')
        again.solve()
        self.assertEqual(self.trained(), want)

    def test_exceptions_of_a_source_come_out_of_step(self):
        solver = caffe.get_solver('solver.prototxt')
        firecaffe.feed(solver, Broken())
        with self.assertRaisesRegex(KeyError, 'point 20 is broken'):
            solver.step(20)
        with self.assertRaisesRegex(caffe.LayerError, 'no layer of type MemoryData'):
            firecaffe.feed(caffe.Net("layer { name: 'd' type: 'DummyData' top: 'd' "
                                     "dummy_data_param { shape { dim: 1 } } }", caffe.TEST),
                           [1])

    def test_what_a_layer_cannot_use_is_refused(self):
        for old, new in (("'batch_size': 8", "'no': 8"), ('test_data.Points', 'os.path'),
                         (" top: 'label' python", ' python')):
            with self.assertRaises((ValueError, TypeError, caffe.Error)):
                caffe.Net((PYTHON + TAIL).replace(old, new), caffe.TRAIN)

    def test_processes_end_with_their_net(self):
        before = children()
        solver = self.solver(workers=2)
        self.assertEqual(children(), before + 2)
        solver.step(2)
        del solver
        gc.collect()
        self.assertEqual(children(), before)

    @unittest.skipUnless(shutil.which('mpirun'), 'there is no mpirun')
    def test_a_script_under_mpirun_feeds_each_worker(self):
        self.solver().solve()
        want = self.trained()
        self.write(SCRIPT % os.path.dirname(os.path.abspath(__file__)), 'train.py')
        env = {**os.environ, 'OMPI_ALLOW_RUN_AS_ROOT': '1',
               'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMP_NUM_THREADS': '1'}
        out = subprocess.run(['mpirun', '--oversubscribe', '-n', '2', sys.executable,
                              'train.py'], env=env, capture_output=True, text=True,
                             timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(self.trained(), want)


if __name__ == '__main__':
    unittest.main()
