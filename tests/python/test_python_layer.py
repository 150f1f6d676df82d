"""Tests python/src/host.c and python/caffe/_layer.py: layers written in Python."""
import gc
import traceback
import unittest
import weakref

import numpy as np

import caffe
from nets import InFolder


class Scale(caffe.Layer):
    """Multiplies by its parameter, which learns."""

    def setup(self, bottom, top):
        self.calls = ['setup']
        self.blobs.add_blob(1)
        self.blobs[0].data[...] = float(self.param_str or 1)

    def reshape(self, bottom, top):
        self.calls.append('reshape')
        top[0].reshape(*bottom[0].shape)
        self.kept = top[0].data

    def forward(self, bottom, top):
        self.calls.append('forward')
        self.kept[...] = self.blobs[0].data * bottom[0].data

    def backward(self, top, propagate_down, bottom):
        self.calls.append(('backward', propagate_down))
        self.blobs[0].diff[...] += (top[0].diff * bottom[0].data).sum()
        if propagate_down[0]:
            bottom[0].diff[...] = self.blobs[0].data * top[0].diff


class Phase(caffe.Layer):
    def reshape(self, bottom, top):
        top[0].reshape()

    def forward(self, bottom, top):
        top[0].data[()] = self.phase


class Kinds(caffe.Layer):
    """Looks at the lists that it is given."""

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.kinds = type(bottom), type(top), type(self.blobs)


class Growing(caffe.Layer):
    """Has one element more in every pass, and says so in forward only."""
    reshaped = passes = 0

    def reshape(self, bottom, top):
        self.reshaped += 1
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.passes += 1
        top[0].reshape(self.passes + 1)
        top[0].data[...] = self.passes


class Bad(caffe.Layer):
    where = None

    def setup(self, bottom, top):
        self.fail('setup')

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)
        self.fail('reshape')

    def forward(self, bottom, top):
        self.fail('forward')

    def backward(self, top, propagate_down, bottom):
        self.fail('backward')

    def fail(self, where):
        if Bad.where == where:
            raise KeyError('in ' + where)


def net_of(kind, param_str='', more='', phase=caffe.TRAIN):
    return caffe.Net("""force_backward: true
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 3 } } }
layer { name: 'mine' type: 'Python' bottom: 'data' top: 'mine'
  python_param { module: '%s' layer: '%s' param_str: '%s' } }
%s""" % (__name__, kind, param_str, more), phase)


class PythonLayers(InFolder):
    def test_the_layer_of_a_net_is_the_users_object(self):
        net = net_of('Scale', '3')
        layer = net.layers[1]
        self.assertIs(type(layer), Scale)
        self.assertIs(net.layer_dict['mine'], layer)
        self.assertEqual((layer.param_str, layer.param_str_, layer.type),
                         ('3', '3', 'Python'))
        net.forward()
        self.assertEqual(layer.calls[:2], ['setup', 'reshape'])
        self.assertEqual(layer.calls[-1], 'forward')
        self.assertEqual(net.params['mine'][0].data, 3)

    def test_lists_of_blobs_have_the_types_that_layers_import(self):
        from caffe._caffe import BlobVec, RawBlobVec
        net = net_of('Kinds')
        net.forward()
        self.assertEqual(net.layers[1].kinds, (RawBlobVec, RawBlobVec, BlobVec))
        self.assertIs(type(net.layers), caffe._caffe.LayerVec)

    def test_arrays_that_a_layer_keeps_are_live(self):
        net = net_of('Scale', '2', "layer { name: 'ip' type: 'InnerProduct' bottom: "
                     "'mine' top: 'ip' inner_product_param { num_output: 1 bias_term: "
                     "false weight_filler { type: 'constant' value: 1 } } }")
        for i in range(3):
            out = net.forward(data=np.full((2, 3), i))
            np.testing.assert_array_equal(out['ip'], np.full((2, 1), 6 * i))

    def test_gradients_go_through_and_to_parameters(self):
        net = net_of('Scale', '2')
        net.forward(data=np.ones((2, 3)))
        out = net.backward(mine=np.full((2, 3), 5, np.float32))
        np.testing.assert_array_equal(out['data'], np.full((2, 3), 10))
        self.assertEqual(net.layers[1].blobs[0].diff, 30)
        self.assertEqual(net.layers[1].calls[-1], ('backward', [True]))

    def test_parameters_are_saved_loaded_and_shared(self):
        net, other = net_of('Scale', '7'), net_of('Scale', '1')
        net.save('w.caffemodel')
        other.copy_from('w.caffemodel')
        self.assertEqual(other.params['mine'][0].data, 7)
        other.share_with(net)
        net.params['mine'][0].data[...] = 9
        self.assertEqual(other.layers[1].blobs[0].data, 9)
        np.testing.assert_array_equal(other.forward(data=np.ones((2, 3)))['mine'],
                                      np.full((2, 3), 9))

    def test_the_phase_is_known(self):
        for phase in caffe.TRAIN, caffe.TEST:
            net = net_of('Phase', phase=phase)
            self.assertEqual(net.forward()['mine'], phase)
            self.assertEqual(str(net.layers[1].phase), ['TRAIN', 'TEST'][phase])

    def test_a_layer_is_reshaped_before_every_pass_and_may_reshape_in_forward(self):
        net = net_of('Growing', more="layer { name: 'after' type: 'Power' bottom: 'mine' "
                     "top: 'after' power_param { scale: 2 } }")
        for n in 1, 2, 3:
            np.testing.assert_array_equal(net.forward()['after'], np.full(n + 1, 2 * n))
        self.assertEqual(net.layers[1].reshaped, 4)

    def test_a_new_shape_reshapes_the_layer(self):
        net = net_of('Scale', '2')
        net.blobs['data'].reshape(5, 4, 3)
        self.assertEqual(net.forward()['mine'].shape, (5, 4, 3))

    def test_exceptions_come_out_with_their_traceback(self):
        for where in 'setup', 'reshape', 'forward', 'backward':
            Bad.where = where
            try:
                net = net_of('Bad')
                net.forward()
                net.backward()
            except KeyError as error:
                self.assertEqual(error.args, ('in ' + where,))
                self.assertIn('in fail', traceback.format_exc())
            else:
                self.fail(where)
        Bad.where = None
        net_of('Bad').forward()

    def test_a_missing_module_or_class_is_an_import_error(self):
        with self.assertRaises(AttributeError):
            net_of('NoSuchClass')
        text = ("layer { name: 'x' type: 'Python' top: 'x' python_param "
                "{ module: 'no_such_module' layer: 'X' } }")
        with self.assertRaises(ImportError):
            caffe.Net(text, caffe.TEST)

    def test_a_module_in_the_current_directory_is_found(self):
        self.write('import caffe\nclass One(caffe.Layer):\n'
                   ' def reshape(self, b, t): t[0].reshape(1)\n'
                   ' def forward(self, b, t): t[0].data[...] = 4\n', 'my_own_layer.py')
        net = caffe.Net("layer { name: 'x' type: 'Python' top: 'x' python_param "
                        "{ module: 'my_own_layer' layer: 'One' } }", caffe.TEST)
        self.assertEqual(net.forward()['x'], 4)

    def test_layers_end_with_their_net(self):
        net = net_of('Scale')
        gone = weakref.ref(net.layers[1])
        self.assertIsNotNone(gone())
        del net
        gc.collect()
        self.assertIsNone(gone())


if __name__ == '__main__':
    unittest.main()
