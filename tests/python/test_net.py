"""Tests python/caffe/pycaffe.py and python/src/net*.c: nets, run and looked into."""
import ctypes
import gc
import os
import threading
import time
import traceback
import unittest
from collections import OrderedDict

import numpy as np

import caffe
from nets import DEPLOY, SMALL, InFolder


def filled(seed=1, phase=caffe.TRAIN, text=SMALL, **options):
    net = caffe.Net(text, phase, seed=seed, **options)
    rng = np.random.default_rng(seed)
    net.blobs['data'].data[...] = rng.standard_normal(net.blobs['data'].shape)
    if 'label' in net.blobs:
        net.blobs['label'].data[...] = rng.integers(0, 7, 4)
    return net


class ManagedTensor(ctypes.Structure):
    """What a capsule of DLPack's holds."""
    _fields_ = [('data', ctypes.c_void_p), ('device', ctypes.c_int32),
                ('number', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8),
                ('lanes', ctypes.c_uint16), ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.c_void_p), ('byte_offset', ctypes.c_uint64),
                ('context', ctypes.c_void_p),
                ('deleter', ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


class Creating(InFolder):
    def test_a_net_comes_from_a_file_a_text_a_message_or_bytes(self):
        from google.protobuf import text_format
        message = text_format.Parse(SMALL, caffe.proto.caffe_pb2.NetParameter())
        path = self.write(SMALL)
        with open(path, 'rb') as file:
            as_path = file.name
        for source in (path, as_path, os.path.abspath(path), SMALL, message,
                       message.SerializeToString()):
            net = caffe.Net(source, caffe.TEST)
            self.assertEqual(list(net.blobs), ['data', 'label', 'conv', 'ip', 'loss'])

    def test_keywords_are_those_of_pycaffe(self):
        net = caffe.Net(network_file=self.write(SMALL), phase=caffe.TRAIN, level=0,
                        stages=['a'], weights=None)
        self.assertEqual(net.outputs, ['loss'])

    def test_the_old_constructor_loads_weights(self):
        one = filled(seed=5)
        one.save('w.caffemodel')
        two = caffe.Net(self.write(SMALL), 'w.caffemodel', caffe.TEST)
        np.testing.assert_array_equal(one.params['conv'][0].data,
                                      two.params['conv'][0].data)

    def test_levels_and_stages_choose_layers(self):
        text = SMALL + """
layer { name: 'a' type: 'ReLU' bottom: 'ip' top: 'a' include { stage: 'A' } }
layer { name: 'b' type: 'ReLU' bottom: 'ip' top: 'b' include { min_level: 1 } }"""
        names = [set(caffe.Net(text, caffe.TEST, **how).blobs) & {'a', 'b'} for how in
                 ({}, {'stages': ['A']}, {'level': 1})]
        self.assertEqual(names, [set(), {'a'}, {'b'}])

    def test_a_net_needs_a_phase(self):
        with self.assertRaises(TypeError):
            caffe.Net(SMALL)

    def test_the_seed_makes_the_weights(self):
        def first(seed):
            caffe.set_random_seed(seed)
            return caffe.Net(SMALL, caffe.TEST).params['conv'][0].data.copy()
        self.addCleanup(caffe.set_random_seed, 1)
        np.testing.assert_array_equal(first(7), first(7))
        self.assertTrue((first(7) != first(8)).any())


class Looking(unittest.TestCase):
    def setUp(self):
        self.net = filled()

    def test_dictionaries_are_in_the_order_of_the_net(self):
        net = self.net
        for name in ('blobs', 'params', 'layer_dict', 'top_names', 'bottom_names',
                     'blob_loss_weights'):
            self.assertIsInstance(getattr(net, name), OrderedDict, name)
        self.assertEqual(list(net.params), ['conv', 'ip'])
        self.assertEqual(list(net.layer_dict), ['data', 'conv', 'relu', 'ip', 'loss'])
        self.assertEqual(net.top_names['data'], ['data', 'label'])
        self.assertEqual(net.bottom_names['loss'], ['ip', 'label'])
        self.assertEqual(net.inputs, ['data', 'label'])
        self.assertEqual(net.outputs, ['loss'])
        self.assertEqual(list(net.blob_loss_weights.values()), [0, 0, 0, 0, 1])

    def test_layers_have_type_and_blobs(self):
        self.assertEqual([layer.type for layer in self.net.layers],
                         ['Input', 'Convolution', 'ReLU', 'InnerProduct',
                          'SoftmaxWithLoss'])
        self.assertEqual([b.shape for b in self.net.layers[1].blobs], [(3, 2, 3, 3), (3,)])

    def test_private_names_that_scripts_use_are_there(self):
        net = self.net
        self.assertEqual(net._layer_names, list(net.layer_dict))
        self.assertEqual(net._blob_names, list(net.blobs))
        self.assertEqual(len(net._blobs), 5)
        self.assertEqual((net._inputs, net._outputs), ([0, 1], [4]))
        self.assertEqual((net._top_ids(0), net._bottom_ids(4)), ([0, 1], [3, 1]))
        self.assertEqual(net._blob_loss_weights, [0, 0, 0, 0, 1])
        self.assertIs(type(net.params['conv']), caffe._caffe.BlobVec)
        self.assertIsInstance(net, caffe._caffe.Net)

    def test_a_blob_tells_its_shape(self):
        b = self.net.blobs['data']
        self.assertEqual(tuple(b.shape), (4, 2, 6, 5))
        self.assertEqual((b.num, b.channels, b.height, b.width, b.count),
                         (4, 2, 6, 5, 240))
        ip = self.net.blobs['ip']
        self.assertEqual((ip.num, ip.channels, ip.height, ip.width), (4, 7, 1, 1))
        self.assertEqual(repr(ip), '<caffe.Blob (4, 7)>')

    def test_a_net_shows_itself_as_a_picture(self):
        self.assertIn('<svg', self.net.plot())
        self.assertEqual(self.net.plot()._repr_html_(), self.net.plot())
        self.assertIn('conv', self.net._repr_html_())
        with self.assertRaises(caffe.Error):
            self.net.plot('net.bmp')


class Arrays(unittest.TestCase):
    def test_an_array_taken_before_forward_shows_the_new_values(self):
        net = filled()
        before = net.blobs['ip'].data
        self.assertTrue((before == 0).all())
        net.forward()
        np.testing.assert_array_equal(before, net.blobs['ip'].data)
        self.assertTrue((before != 0).any())

    def test_writing_an_array_changes_what_the_net_computes(self):
        net = filled()
        weights = net.params['ip'][0].data
        net.forward()
        weights[...] = 0  # taken before a pass, written after it
        net.forward()
        np.testing.assert_array_equal(net.blobs['ip'].data, 0)

    def test_arrays_and_blobs_outlive_their_net(self):
        net = filled()
        net.forward()
        kept = net.blobs['conv'].data
        copy = kept.copy()
        blob = net.params['ip'][0]
        del net
        gc.collect()
        filled().forward()  # reuses memory that is free
        np.testing.assert_array_equal(kept, copy)
        kept[...] = 1
        self.assertEqual(blob.data.shape, (7, 36))

    def test_an_array_survives_a_reshape_that_grows(self):
        net = filled(text=DEPLOY)
        net.forward()
        old = net.blobs['data'].data
        copy = old.copy()
        net.blobs['data'].reshape(64, 2, 6, 5)
        net.reshape()
        net.blobs['data'].data[...] = 3
        np.testing.assert_array_equal(old, copy)
        self.assertEqual(net.blobs['prob'].data.shape, (64, 7))

    def test_gradients_are_live_over_clear_param_diffs(self):
        net = filled()
        diff = net.params['conv'][0].diff
        net.forward()
        net.backward()
        self.assertTrue((diff != 0).any())
        net.clear_param_diffs()
        self.assertTrue((diff == 0).all())

    def test_numpy_and_others_read_a_blob_without_a_copy(self):
        net = filled()
        blob = net.blobs['data']
        self.assertEqual(memoryview(blob).format, 'f')
        self.assertEqual(memoryview(blob).shape, (4, 2, 6, 5))
        for array in (np.asarray(blob), np.from_dlpack(blob)):
            self.assertEqual(array.dtype, np.float32)
            np.testing.assert_array_equal(array, blob.data)
        np.asarray(blob)[0] = 9
        self.assertTrue((blob.data[0] == 9).all())
        self.assertEqual(np.array(blob, dtype=np.float64).dtype, np.float64)
        self.assertEqual(blob.__dlpack_device__()[0], 1)

    def test_libraries_read_blobs_on_the_gpu_without_a_copy(self):
        if not caffe.has_gpu():
            self.skipTest('there is no GPU')
        before = caffe._settings.settings.gpu
        caffe.set_mode_gpu()
        try:
            net = caffe.Net(SMALL, caffe.TEST)
        finally:
            caffe._settings.settings.gpu = before
        blob = net.blobs['data']
        self.assertEqual(blob.__dlpack_device__(), (2, 0))
        capsule = blob.__dlpack__(stream=1, max_version=(1, 0))
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        tensor = ManagedTensor.from_address(get(capsule, b'dltensor'))
        self.assertEqual(tensor.data, blob._gpu_data_ptr)
        self.assertEqual((tensor.device, tensor.number, tensor.ndim), (2, 0, 4))
        self.assertEqual((tensor.code, tensor.bits, tensor.lanes), (2, 32, 1))
        self.assertEqual(tensor.shape[:4], [4, 2, 6, 5])
        # who takes it renames the capsule, and calls the deleter in the end
        rename = ctypes.pythonapi.PyCapsule_SetName
        rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
        rename(capsule, b'used_dltensor')
        del net, blob, capsule
        tensor.deleter(ctypes.addressof(tensor))

    def test_ten_thousand_arrays_are_kept_beyond_their_nets(self):
        arrays = []
        for i in range(100):
            net = filled(seed=i + 1)
            net.forward()
            arrays += [net.blobs['ip'].data for _ in range(100)]
        del net
        gc.collect()
        self.assertEqual(len({a.tobytes() for a in arrays}), 100)


class Running(unittest.TestCase):
    def test_forward_takes_inputs_and_gives_outputs(self):
        net = caffe.Net(DEPLOY, caffe.TEST)
        data = np.random.rand(4, 2, 6, 5)
        out = net.forward(blobs=['ip'], data=data)
        self.assertEqual(sorted(out), ['ip', 'prob'])
        np.testing.assert_allclose(out['prob'].sum(1), 1, rtol=1e-6)
        np.testing.assert_array_equal(net.blobs['data'].data, data.astype(np.float32))

    def test_forward_refuses_other_inputs(self):
        net = caffe.Net(DEPLOY, caffe.TEST)
        with self.assertRaisesRegex(Exception, 'inputs of this net are data, not dat'):
            net.forward(dat=np.zeros((4, 2, 6, 5)))
        with self.assertRaisesRegex(caffe.ShapeError, 'not batch sized'):
            net.forward(data=np.zeros((3, 2, 6, 5)))

    def test_start_and_end_run_a_part(self):
        net = filled(text=DEPLOY)
        whole = net.forward()['prob'].copy()
        self.assertEqual(list(net.forward(end='conv')), ['conv'])
        net.blobs['conv'].data[...] = 1
        part = net.forward(start='ip')['prob']
        self.assertTrue((part != whole).any())
        with self.assertRaisesRegex(KeyError, 'no layer "none"'):
            net.forward(end='none')

    def test_backward_takes_gradients_and_gives_those_of_inputs(self):
        net = filled(text=DEPLOY, phase=caffe.TRAIN)
        net.forward()
        diff = np.random.rand(4, 7).astype(np.float32)
        out = net.backward(diffs=['ip'], prob=diff)
        self.assertEqual(sorted(out), ['data', 'ip'])
        p = net.blobs['prob'].data
        np.testing.assert_allclose(
            net.blobs['ip'].diff, p * (diff - (p * diff).sum(1, keepdims=True)),
            rtol=1e-4, atol=1e-6)
        self.assertEqual(list(net.backward(start='ip', end='ip')), ['conv'])

    def test_forward_all_takes_any_number_of_rows(self):
        net = filled(text=DEPLOY)
        data = np.random.rand(10, 2, 6, 5).astype(np.float32)
        out = net.forward_all(blobs=['conv'], data=data)
        self.assertEqual(out['prob'].shape, (10, 7))
        self.assertEqual(out['conv'].shape[0], 10)
        np.testing.assert_array_equal(out['prob'][4:8],
                                      net.forward(data=data[4:8])['prob'])

    def test_forward_backward_all_gives_values_and_gradients(self):
        net = filled(text=DEPLOY, phase=caffe.TRAIN)
        data = np.random.rand(6, 2, 6, 5).astype(np.float32)
        outs, diffs = net.forward_backward_all(data=data, diffs=['ip'],
                                               prob=np.ones((6, 7), np.float32))
        self.assertEqual(outs['prob'].shape, (6, 7))
        self.assertEqual(diffs['data'].shape, data.shape)
        self.assertEqual(diffs['ip'].shape, (6, 7))

    def test_reshape_is_followed_by_forward(self):
        net = caffe.Net(DEPLOY, caffe.TEST)
        net.blobs['data'].reshape(2, 2, 6, 5)
        self.assertEqual(net.forward()['prob'].shape, (2, 7))
        net.blobs['data'].reshape(*(3, 2, 6, 5))
        net.reshape()
        self.assertEqual(net.blobs['prob'].shape, (3, 7))

    def test_lean_gives_the_same_outputs(self):
        plain, lean = filled(text=DEPLOY, seed=3), filled(text=DEPLOY, seed=3, lean=True)
        np.testing.assert_array_equal(plain.forward()['prob'], lean.forward()['prob'])

    def test_observed_blobs_of_a_lean_net_have_their_values(self):
        plain = filled(text=DEPLOY, seed=3)
        some = filled(text=DEPLOY, seed=3, observe=['ip'])
        for net in plain, some:
            net.forward()
        np.testing.assert_array_equal(plain.blobs['ip'].data, some.blobs['ip'].data)
        with self.assertRaises(caffe.Error):
            caffe.Net(DEPLOY, caffe.TEST, observe=['none'])
        with self.assertRaises(TypeError):
            caffe.Net(DEPLOY, caffe.TEST, observe='ip')

    def test_kernels_can_be_chosen(self):
        one = filled(text=DEPLOY, kernels='all=ref').forward()['prob']
        np.testing.assert_allclose(filled(text=DEPLOY).forward()['prob'], one, rtol=1e-5)
        with self.assertRaises(caffe.Error):
            filled(kernels='Convolution=none')

    def test_without_a_gpu_nets_compute_on_the_cpu_with_a_warning(self):
        if caffe.has_gpu():
            self.skipTest('there is a GPU')
        self.addCleanup(caffe.set_mode_cpu)
        with self.assertWarnsRegex(RuntimeWarning, 'no GPU'):
            caffe.set_mode_gpu()
        filled().forward()
        with self.assertRaises(caffe.Error):
            filled().blobs['data']._gpu_data_ptr

    def test_callbacks_run_around_layers_and_see_the_values_of_then(self):
        net, seen = filled(), []
        ip = net.blobs['ip'].data
        net.before_forward(lambda i: seen.append(('bf', i, bool((ip != 0).any()))))
        net.after_forward(lambda i: seen.append(('af', i, bool((ip != 0).any()))))
        net.before_backward(lambda i: seen.append(('bb', i)))
        net.after_backward(lambda i: seen.append(('ab', i)))
        net.forward()
        self.assertEqual(seen, [(kind, i, i > 3 or (i, kind) == (3, 'af'))
                                for i in range(5) for kind in ('bf', 'af')])
        del seen[:]
        net.backward()
        self.assertEqual(seen[:2], [('bb', 4), ('ab', 4)])

    def test_what_a_callback_writes_into_a_kept_array_counts(self):
        net = filled(text=DEPLOY)
        ip = net.blobs['ip'].data

        def zero(layer):
            if net._layer_names[layer] == 'ip':
                ip[...] = 0
        net.after_forward(zero)
        np.testing.assert_allclose(net.forward()['prob'], 1 / 7, rtol=1e-6)

    def test_an_exception_in_a_callback_ends_the_pass_and_the_net_goes_on(self):
        net = filled()

        def fail(layer):
            if layer == 3:
                raise ZeroDivisionError('layer three')
        net.before_forward(fail)
        for _ in range(3):
            with self.assertRaisesRegex(ZeroDivisionError, 'layer three'):
                net.forward()
        try:
            net.forward()
        except ZeroDivisionError:
            self.assertIn('in fail', traceback.format_exc())
        net._hooks[0].clear()
        self.assertTrue(np.isfinite(net.forward()['loss']))

    def test_other_threads_go_on_while_a_net_runs(self):
        net = caffe.Net(SMALL.replace('dim: 4', 'dim: 4000'), caffe.TEST)
        count, stop = [0], threading.Event()

        def work():
            while not stop.is_set():
                count[0] += 1
        thread = threading.Thread(target=work)
        thread.start()
        began = time.perf_counter()
        while time.perf_counter() - began < 0.5:
            net.forward()
        stop.set()
        thread.join()
        self.assertGreater(count[0], 10000)

    def test_two_threads_may_use_one_net(self):
        net = filled(text=DEPLOY)
        right = net.forward()['prob'].copy()
        wrong = []

        def work():
            for _ in range(200):
                if not np.array_equal(net.forward()['prob'], right):
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Weights(InFolder):
    def test_save_and_copy_from(self):
        one, two = filled(seed=3), filled(seed=4)
        for name in ('w.caffemodel', 'w.caffemodel.h5'):
            one.save(name)
            two.params['conv'][0].data[...] = 0
            two.copy_from(name)
            for layer in one.params:
                for a, b in zip(one.params[layer], two.params[layer]):
                    np.testing.assert_array_equal(a.data, b.data)

    def test_hdf5_of_any_name(self):
        one, two = filled(seed=3), filled(seed=4)
        one.forward()
        one.backward()
        one.save_hdf5('weights', True)
        self.assertEqual(os.listdir(), ['weights'])
        two.load_hdf5('weights')
        np.testing.assert_array_equal(one.params['ip'][0].data, two.params['ip'][0].data)
        two.copy_from('weights')

    def test_share_with_makes_weights_the_same_memory(self):
        one, two = filled(seed=3), filled(seed=4)
        two.share_with(one)
        one.params['ip'][0].data[...] = 2
        self.assertTrue((two.params['ip'][0].data == 2).all())
        two.params['ip'][0].diff[...] = 1
        self.assertTrue((one.params['ip'][0].diff == 0).all())

    def test_net_surgery_changes_what_is_saved(self):
        net = filled()
        net.params['ip'][0].data[0] = np.arange(36)
        net.save('w.caffemodel')
        message = caffe.proto.caffe_pb2.NetParameter()
        with open('w.caffemodel', 'rb') as file:
            message.ParseFromString(file.read())
        layer = [layer for layer in message.layer if layer.name == 'ip'][0]
        self.assertEqual(layer.blobs[0].data[:36], list(range(36)))


if __name__ == '__main__':
    unittest.main()
