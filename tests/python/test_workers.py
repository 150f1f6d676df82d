"""Tests python/caffe/workers.py, _job.py and python/src/comm.c: several workers."""
import gc
import glob
import os
import shutil
import subprocess
import sys
import threading
import unittest

import numpy as np

import caffe
from nets import InFolder
from test_solver import NET, SOLVER, sha

LANES = SOLVER.replace('snapshot_after_train: false', '') + 'fire { lanes: 8 }'
SCRIPT = """import caffe
solver = caffe.get_solver('solver.prototxt')
solver.solve()
with open('rank_%d' % caffe.rank, 'w') as file:  # what ranks print may mix
    file.write('%d of %d at %d' % (caffe.rank, caffe.size, solver.iter))
"""
FAILING = """import caffe
solver = caffe.get_solver('solver.prototxt')
def fail():
    if solver.iter == 3 and caffe.rank == 1:
        raise ValueError('rank 1 has a bug')
solver.add_callback(fail)
solver.step(5)
if caffe.rank == 0:
    solver.step(5)
"""


class Workers(InFolder):
    def setUp(self):
        super().setUp()
        self.write(NET)
        self.write(LANES, 'solver.prototxt')

    def trained(self):
        """SHA-256 of the weights and state that were written; they are removed."""
        files = sorted(glob.glob('model_iter_30.*'))
        self.assertEqual(len(files), 2)
        found = [sha(name) for name in files]
        for name in files:
            os.remove(name)
        return found

    def test_any_number_of_workers_gives_the_same_bits(self):
        caffe.get_solver('solver.prototxt').solve()
        want = self.trained()
        for workers in 1, 2, 4:
            with caffe.Trainer('solver.prototxt', workers=workers) as trainer:
                self.assertEqual(trainer.size, workers)
                trainer.solve()
                self.assertEqual(trainer.iter, 30)
            self.assertEqual(self.trained(), want)

    def test_workers_step_and_are_set_together(self):
        with caffe.Trainer('solver.prototxt', workers=2) as trainer:
            trainer.step(3)
            weights = trainer.net.params['ip'][0].data
            copy = weights.copy()
            trainer.lr = 0
            trainer.set(momentum=0)
            trainer.step(1)
            np.testing.assert_array_equal(weights, copy)
            ranks = trainer.each(lambda solver: (solver.rank, solver.size))
            self.assertEqual(ranks, [(0, 2), (1, 2)])
            self.assertEqual(list(trainer.test()), ['loss'])
            self.assertIn('"iter":[0,1,2,3]', trainer.plot())
            with self.assertRaisesRegex(ValueError, 'rank 0 has the curves'):
                trainer._crew.solvers[1].plot()

    def test_a_failure_of_one_worker_is_raised_once(self):
        trainer = caffe.Trainer('solver.prototxt', workers=2)

        def fail(solver):
            if solver.rank == 1:
                raise ZeroDivisionError('rank 1')
        with self.assertRaisesRegex(ZeroDivisionError, 'rank 1'):
            trainer.each(fail)
        trainer.step(1)
        trainer.close()
        with self.assertRaises(caffe.Error):
            caffe.Trainer(LANES.replace('net.prototxt', 'none'), workers=2)

    def test_trainers_that_are_dropped_end_their_threads(self):
        before = threading.active_count()
        trainer = caffe.Trainer('solver.prototxt', workers=2)
        self.assertGreater(threading.active_count(), before)
        thread = trainer._crew.thread
        del trainer
        gc.collect()
        thread.join(10)
        self.assertFalse(thread.is_alive())

    def test_python_layers_work_with_several_workers(self):
        self.write(NET.replace("bottom: 'ip' bottom: 'label' top: 'loss'",
                               "bottom: 'twice' bottom: 'label' top: 'loss'") +
                   "layer { name: 'twice' type: 'Python' bottom: 'ip' top: 'twice' "
                   "python_param { module: 'test_python_layer' layer: 'Scale' "
                   "param_str: '2' } }")
        with open('net.prototxt') as file:  # the loss comes last
            lines = file.read().split('\n')
        at = [i for i, line in enumerate(lines) if "'loss'" in line][0]
        self.write('\n'.join(lines[:at] + lines[at + 1:] + [lines[at]]))
        found = []
        for workers in 1, 2:
            with caffe.Trainer('solver.prototxt', workers=workers) as trainer:
                trainer.step(5)
                found.append([b.data.copy() for b in (*trainer.net.params['ip'],
                                                      *trainer.net.params['twice'])])
        for one, two in zip(*found):
            np.testing.assert_array_equal(one, two)
        self.assertNotEqual(found[0][2], 2)

    @unittest.skipUnless(shutil.which('mpirun'), 'there is no mpirun')
    def test_a_script_under_mpirun_is_a_job(self):
        caffe.get_solver('solver.prototxt').solve()
        want = self.trained()
        self.write(SCRIPT, 'train.py')
        for n in 1, 2, 4:
            out = self.mpirun(n, 'train.py')
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertEqual(self.trained(), want)
            for rank in range(n):
                with open('rank_%d' % rank) as file:
                    self.assertEqual(file.read(), '%d of %d at 30' % (rank, n))

    @unittest.skipUnless(shutil.which('mpirun'), 'there is no mpirun')
    def test_a_rank_that_raises_ends_the_job(self):
        self.write(FAILING, 'train.py')
        out = self.mpirun(2, 'train.py')
        self.assertNotEqual(out.returncode, 0)
        self.assertIn('ValueError: rank 1 has a bug', out.stderr)

    def mpirun(self, n, *script):
        env = {**os.environ, 'OMPI_ALLOW_RUN_AS_ROOT': '1',
               'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMP_NUM_THREADS': '1'}
        return subprocess.run(
            ['mpirun', '--oversubscribe', '-n', str(n), sys.executable, *script], env=env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


if __name__ == '__main__':
    unittest.main()
