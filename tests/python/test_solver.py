"""Tests python/caffe/solver.py and python/src/trainer*.c: training."""
import _thread
import gc
import glob
import hashlib
import os
import shutil
import subprocess
import threading
import time
import unittest

import numpy as np

import caffe
from nets import InFolder

NET = """name: 'learn'
layer { name: 'data' type: 'DummyData' top: 'data' top: 'label' dummy_data_param {
  shape { dim: 8 dim: 2 dim: 6 dim: 5 } shape { dim: 8 }
  data_filler { type: 'gaussian' std: 1 } data_filler { type: 'constant' value: 3 } } }
layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
  convolution_param { num_output: 3 kernel_size: 3 weight_filler { type: 'xavier' } } }
layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'conv' top: 'ip'
  inner_product_param { num_output: 7 weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: 'loss' }
"""
SOLVER = """net: 'net.prototxt' test_iter: 2 test_interval: 10 base_lr: 0.01 momentum: 0.9
weight_decay: 0.0005 lr_policy: 'inv' gamma: 0.0001 power: 0.75 display: 0 max_iter: 30
snapshot_after_train: false snapshot_prefix: 'model' random_seed: 1
"""


def sha(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


class Solvers(InFolder):
    def setUp(self):
        super().setUp()
        self.write(NET)
        self.write(SOLVER, 'solver.prototxt')
        self.solver = caffe.SGDSolver('solver.prototxt')

    def test_step_solve_and_iter(self):
        self.assertEqual(self.solver.iter, 0)
        self.solver.step(4)
        self.assertEqual(self.solver.iter, 4)
        loss = float(self.solver.net.blobs['loss'].data)
        self.solver.solve()
        self.assertEqual(self.solver.iter, 30)
        self.assertLess(self.solver.net.blobs['loss'].data, loss / 2)

    def test_every_class_has_its_type_whatever_the_file_says(self):
        for name in 'SGD Nesterov AdaGrad RMSProp AdaDelta Adam'.split():
            cls = getattr(caffe, name + 'Solver')
            text = SOLVER.replace('momentum: 0.9', '') if name in (
                'AdaGrad', 'RMSProp') else SOLVER
            if name == 'RMSProp':
                text += 'rms_decay: 0.9'
            solver = cls(text)
            self.assertEqual(solver.type, name)
            solver.step(1)
            same = caffe.get_solver(text + "type: '%s'" % name)
            self.assertIs(type(same), cls)
        self.assertIs(type(caffe.get_solver(SOLVER + 'solver_type: NESTEROV')),
                      caffe.NesterovSolver)

    def test_a_solver_comes_from_text_or_message(self):
        from google.protobuf import text_format
        message = text_format.Parse(SOLVER, caffe.proto.caffe_pb2.SolverParameter())
        for source in SOLVER, message, message.SerializeToString():
            caffe.get_solver(source).step(1)

    def test_nets_are_observed_and_live(self):
        net, test = self.solver.net, self.solver.test_nets[0]
        self.assertEqual(len(self.solver.test_nets), 1)
        conv = net.blobs['conv'].data
        weights = net.params['ip'][0].data
        before = weights.copy()
        self.solver.step(2)
        self.assertTrue((conv != 0).any())
        self.assertTrue((weights != before).any())
        self.assertTrue((net.params['ip'][0].diff != 0).any())
        weights[...] = 0
        np.testing.assert_array_equal(test.params['ip'][0].data, 0)
        np.testing.assert_array_equal(test.forward()['loss'] > 1.9, True)

    def test_step_leaves_every_value_and_gradient_as_a_pass_by_hand(self):
        more = """layer { name: 'bn' type: 'BatchNorm' bottom: 'conv' top: 'bn' }
layer { name: 'sc' type: 'Scale' bottom: 'bn' top: 'bn' scale_param { bias_term: true } }
layer { name: 'r2' type: 'ReLU' bottom: 'bn' top: 'bn' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'bn'"""
        self.write(NET.replace("'gaussian' std: 1", "'constant' value: 1").replace(
            "layer { name: 'ip' type: 'InnerProduct' bottom: 'conv'", more))
        one, two = (caffe.SGDSolver('solver.prototxt') for _ in range(2))
        one.step(1)
        two.net.forward()
        two.net.backward()
        for name in one.net.blobs:
            for part in 'data', 'diff':
                np.testing.assert_array_equal(getattr(one.net.blobs[name], part),
                                              getattr(two.net.blobs[name], part), name)
        if not caffe.has_gpu():  # there observed layers run one by one
            with self.assertRaisesRegex(caffe.Error, 'run forward of the net first'):
                one.net.backward(start='bn')
        one.net.forward()
        one.net.backward(start='bn')
        one.step(1)

    def test_nets_outlive_their_solver(self):
        nets = [self.solver.net] + self.solver.test_nets
        self.solver.step(1)
        array = nets[0].params['ip'][0].data
        copy = array.copy()
        del self.solver
        gc.collect()
        nets[0].forward()
        del nets
        gc.collect()
        np.testing.assert_array_equal(array, copy)

    def test_apply_update_applies_the_diffs(self):
        blob = self.solver.net.layers[1].blobs[0]
        blob.data[...] = 0
        blob.diff[...] = 1
        self.solver.apply_update()
        np.testing.assert_allclose(blob.data, -0.01, rtol=1e-6)
        self.assertEqual(self.solver.iter, 0)

    def test_learning_rate_and_settings_can_be_written(self):
        solver = self.solver
        param = solver.param
        self.assertEqual((param.max_iter, param.display, param.momentum),
                         (30, 0, np.float32(0.9)))
        self.assertTrue(param.layer_wise_reduce)
        self.assertAlmostEqual(solver.lr, 0.01)
        param.base_lr = 0.001
        solver.step(1)
        self.assertAlmostEqual(solver.lr, 0.001)
        solver.lr = 0
        before = solver.net.params['ip'][0].data.copy()
        param.momentum = 0
        solver.step(1)
        np.testing.assert_array_equal(solver.net.params['ip'][0].data, before)
        solver.lr = None
        param.max_iter = 5
        solver.solve()
        self.assertEqual(solver.iter, 5)
        with self.assertRaises(AttributeError):
            param.nonsense = 3
        with self.assertRaises(caffe.Error):
            param.net = 'x'

    def test_callbacks_come_before_and_after_gradients(self):
        calls, diff = [], self.solver.net.params['ip'][0].diff
        self.solver.add_callback(lambda: calls.append('start'),
                                 lambda: calls.append(bool((diff != 0).any())))
        self.solver.step(2)
        self.assertEqual(calls, ['start', True] * 2)

    def test_what_a_callback_does_to_gradients_counts(self):
        solver = self.solver
        solver.param.weight_decay = 0

        def drop():
            for blobs in solver.net.params.values():
                for blob in blobs:
                    blob.diff[...] = 0
        solver.add_callback(lambda: None, drop)
        before = solver.net.params['ip'][0].data.copy()
        solver.step(3)
        np.testing.assert_array_equal(solver.net.params['ip'][0].data, before)

    def test_an_exception_in_a_callback_stops_and_training_goes_on(self):
        def fail():
            if self.solver.iter == 2:
                raise ZeroDivisionError('two')
        self.solver.add_callback(fail, lambda: None)
        with self.assertRaisesRegex(ZeroDivisionError, 'two'):
            self.solver.step(10)
        self.assertEqual(self.solver.iter, 3)
        self.solver.step(2)
        self.assertEqual(self.solver.iter, 5)

    def test_an_exception_in_a_python_layer_comes_out_of_step(self):
        self.write(NET + "layer { name: 'bad' type: 'Python' bottom: 'ip' top: 'bad' "
                   "python_param { module: 'bad_layer' layer: 'Bad' } }")
        self.write('import caffe\nclass Bad(caffe.Layer):\n'
                   ' def reshape(self, b, t): t[0].reshape(1)\n'
                   ' def forward(self, b, t): raise ValueError("bad")\n', 'bad_layer.py')
        solver = caffe.SGDSolver('solver.prototxt')
        with self.assertRaisesRegex(ValueError, 'bad'):
            solver.step(1)

    def test_ctrl_c_stops_step_and_training_goes_on(self):
        threading.Timer(0.3, _thread.interrupt_main).start()
        with self.assertRaises(KeyboardInterrupt):
            self.solver.step(10000000)
        done = self.solver.iter
        self.assertGreater(done, 0)
        self.solver.snapshot()
        self.solver.step(3)
        self.assertEqual(self.solver.iter, done + 3)

    def blobs(self, solver):
        return {(name, part): getattr(blob, part).copy() for part in ('data', 'diff')
                for name, blob in solver.net.blobs.items()}

    def assert_blobs_are_those_of_single_steps(self, solver):
        other = caffe.SGDSolver('solver.prototxt')
        for _ in range(solver.iter):
            other.step(1)
        want, found = self.blobs(other), self.blobs(solver)
        for key in want:
            np.testing.assert_array_equal(found[key], want[key], str(key))

    def test_after_many_iterations_all_blobs_have_the_values_of_the_last(self):
        held = self.solver.net.blobs['conv'].data
        self.solver.step(7)
        self.assert_blobs_are_those_of_single_steps(self.solver)
        np.testing.assert_array_equal(held, self.solver.net.blobs['conv'].data)
        self.solver.step(4)  # the arrays that were made meanwhile are live, too
        self.assert_blobs_are_those_of_single_steps(self.solver)
        np.testing.assert_array_equal(held, self.solver.net.blobs['conv'].data)
        self.solver.solve()
        self.assert_blobs_are_those_of_single_steps(self.solver)

    def test_after_an_interrupt_all_blobs_have_the_values_of_the_last_iteration(self):
        def stop(event):
            if event['iter'] == 3:
                _thread.interrupt_main()
        for listening in False, True:
            solver = caffe.SGDSolver('solver.prototxt')
            if listening:
                solver.listen(stop, 'iteration')
            else:
                threading.Timer(0.2, _thread.interrupt_main).start()
            with self.assertRaises(KeyboardInterrupt):
                solver.step(10000000)
            if solver.iter < 2000:
                self.assert_blobs_are_those_of_single_steps(solver)

    def test_callbacks_and_listeners_look_at_any_blob(self):
        def looks(solver, seen):
            return lambda *event: seen.append(solver.net.blobs['conv'].data.any() and
                                              solver.net.blobs['ip'].diff.any())
        nothing = (lambda: None)
        for how in ('start', 'ready', 'iteration'):
            solver, seen = caffe.SGDSolver('solver.prototxt'), []
            solver.step(1)
            look = looks(solver, seen)
            if how == 'iteration':
                solver.listen(look, how)
            else:
                solver.add_callback(*((look, nothing) if how == 'start' else
                                      (nothing, look)))
            solver.step(4)
            self.assertEqual(seen, [True] * 4, how)

    def test_other_threads_go_on_while_training(self):
        count, stop = [0], threading.Event()

        def work():
            while not stop.is_set():
                count[0] += 1
        thread = threading.Thread(target=work)
        thread.start()
        began = time.perf_counter()
        while time.perf_counter() - began < 0.5:
            self.solver.step(100)
        stop.set()
        thread.join()
        self.assertGreater(count[0], 10000)

    def test_events_tell_what_happens(self):
        events = []
        self.solver.listen(events.append, 'iteration', 'test', 'done')
        self.solver.solve()
        kinds = [event['kind'] for event in events]
        self.assertEqual(kinds.count('iteration'), 30)
        self.assertEqual(kinds[-1], 'done')
        self.assertEqual({e['name'] for e in events if e['kind'] == 'test'}, {'loss'})
        self.assertTrue(np.isfinite([e['loss'] for e in events]).all())

    def test_curves_are_shown_as_the_page_of_a_run(self):
        solver = caffe.SGDSolver('solver.prototxt')
        solver.step(3)
        page = solver.plot()
        self.assertIn('"iter":[0,1,2]', page)
        self.assertIn('<iframe srcdoc="&lt;!', page._repr_html_())
        solver.step(1)
        self.assertIsNone(solver.plot('page.html'))
        with open('page.html') as file:
            self.assertIn('"iter":[0,1,2,3]', file.read())
        with self.assertRaises(caffe.FileError):
            solver.plot('nowhere/page.html')

    def test_test_gives_the_outputs_of_a_test_net(self):
        self.assertEqual(list(self.solver.test()), ['loss'])

    def test_snapshots_continue_with_the_same_bits(self):
        self.solver.step(5)
        self.solver.snapshot()
        self.assertTrue(os.path.exists('model_iter_5.caffemodel'))
        self.solver.step(5)
        weights = self.solver.net.params['ip'][0].data
        other = caffe.SGDSolver('solver.prototxt')
        other.restore('model_iter_5.solverstate')
        self.assertEqual(other.iter, 5)
        other.step(5)
        np.testing.assert_array_equal(other.net.params['ip'][0].data, weights)
        third = caffe.SGDSolver('solver.prototxt')
        self.assertTrue(third.resume())
        self.assertEqual(third.iter, 5)

    def test_share_weights_makes_them_the_same_memory(self):
        other = caffe.SGDSolver('solver.prototxt')
        other.share_weights(self.solver.net)
        self.solver.net.params['ip'][0].data[...] = 5
        self.assertTrue((other.net.params['ip'][0].data == 5).all())

    def test_load_weights_is_for_fine_tuning(self):
        self.solver.step(3)
        self.solver.net.save('w.caffemodel')
        other = caffe.SGDSolver('solver.prototxt')
        other.load_weights('w.caffemodel')
        np.testing.assert_array_equal(other.net.params['conv'][0].data,
                                      self.solver.net.params['conv'][0].data)

    def test_the_seed_of_the_process_is_used_where_the_solver_has_none(self):
        text = SOLVER.replace('random_seed: 1', '')

        def first(seed):
            caffe.set_random_seed(seed)
            return caffe.get_solver(text).net.params['ip'][0].data.copy()
        self.addCleanup(setattr, caffe._settings.settings, 'seed', None)
        np.testing.assert_array_equal(first(4), first(4))
        self.assertTrue((first(4) != first(5)).any())

    def test_scripts_for_nccl_run_alone(self):
        nccl = caffe.NCCL(self.solver, caffe.NCCL.new_uid())
        nccl.bcast()
        self.solver.add_callback(nccl)
        self.solver.step(1)


class LikeTheCommandLine(InFolder):
    """Needs the program: FIRECAFFE names it."""

    def test_the_same_weights_bit_for_bit(self):
        program = os.environ.get('FIRECAFFE')
        if not program or not os.path.exists(program):
            self.skipTest('the program firecaffe is not built')
        self.write(NET)
        text = SOLVER.replace('snapshot_after_train: false', '')
        self.write(text, 'solver.prototxt')
        subprocess.run([program, 'train', '--solver', 'solver.prototxt', '--quiet'],
                       check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        files = sorted(glob.glob('model_iter_30.*'))
        self.assertEqual(len(files), 2)
        want = [sha(name) for name in files]
        # On a GPU observed layers run one by one, which rounds in other places.
        for lean in (True,) if caffe.has_gpu() else (False, True):
            for how in ('solve', 'step'):
                for name in files:
                    os.remove(name)
                solver = caffe.SGDSolver('solver.prototxt', lean=lean)
                if how == 'solve':
                    solver.solve()
                else:
                    for _ in range(3):
                        solver.step(10)
                    solver.snapshot()
                self.assertEqual([sha(name) for name in files], want)
        shutil.rmtree('run', ignore_errors=True)


if __name__ == '__main__':
    unittest.main()
