"""Tests python/caffe/net_spec.py and python/caffe/coord_map.py."""
import unittest

import numpy as np

import caffe
from caffe import layers as L
from caffe import params as P
from caffe.coord_map import (AxisMismatchException, compose, coord_map_from_to, crop,
                             inverse)


def tiny(**pool):
    n = caffe.NetSpec()
    n.data, n.label = L.DummyData(shape=[dict(dim=[2, 1, 8, 8]), dict(dim=2)], ntop=2)
    n.conv = L.Convolution(n.data, kernel_size=3, num_output=4,
                           weight_filler=dict(type='xavier'),
                           param=[dict(lr_mult=1), dict(lr_mult=2)])
    n.relu = L.ReLU(n.conv, in_place=True)
    n.pool = L.Pooling(n.relu, **{'kernel_size': 2, 'stride': 2, 'pool': P.Pooling.AVE,
                                  **pool})
    n.loss = L.SoftmaxWithLoss(L.InnerProduct(n.pool, num_output=3), n.label)
    return n


class Specs(unittest.TestCase):
    def test_names_types_and_settings_are_what_was_written(self):
        net = tiny().to_proto()
        self.assertEqual([(l.name, l.type) for l in net.layer],
                         [('data', 'DummyData'), ('conv', 'Convolution'),
                          ('relu', 'ReLU'), ('pool', 'Pooling'),
                          ('InnerProduct1', 'InnerProduct'), ('loss', 'SoftmaxWithLoss')])
        self.assertEqual(list(net.layer[0].top), ['data', 'label'])
        self.assertEqual([list(s.dim) for s in net.layer[0].dummy_data_param.shape],
                         [[2, 1, 8, 8], [2]])
        self.assertEqual(list(net.layer[2].top), ['conv'])
        self.assertEqual(net.layer[3].pooling_param.pool, P.Pooling.AVE)
        self.assertEqual([p.lr_mult for p in net.layer[1].param], [1, 2])
        self.assertEqual(list(net.layer[1].convolution_param.kernel_size), [3])

    def test_a_spec_is_a_net(self):
        net = caffe.Net(tiny().to_proto(), caffe.TRAIN)
        self.assertTrue(np.isfinite(net.forward()['loss']))
        self.assertEqual(len(caffe.Net(str(tiny().to_proto()), caffe.TRAIN).layers), 6)

    def test_to_proto_names_what_has_no_name(self):
        data = L.Input(shape=dict(dim=[1, 2]))
        one = L.InnerProduct(data, num_output=1, name='mine')
        net = caffe.to_proto(one, L.InnerProduct(one, num_output=2))
        self.assertEqual([l.name for l in net.layer], ['Input1', 'mine', 'InnerProduct2'])
        self.assertEqual(one.to_proto().layer[1].name, 'mine')

    def test_layers_without_tops_and_rules(self):
        n = caffe.NetSpec()
        n.data = L.Input(shape=dict(dim=3), include=dict(phase=caffe.TEST))
        n.quiet = L.Silence(n.data, ntop=0)
        net = n.to_proto()
        self.assertEqual((net.layer[1].name, list(net.layer[1].top)), ('quiet', []))
        self.assertEqual(net.layer[0].include[0].phase, caffe.TEST)

    def test_items_and_attributes_are_the_same(self):
        n = caffe.NetSpec()
        n['a/b'] = L.Input(shape=dict(dim=3))
        self.assertIs(getattr(n, 'a/b'), n['a/b'])
        self.assertEqual(n.to_proto().layer[0].name, 'a/b')
        with self.assertRaises(AttributeError):
            n.none

    def test_deconvolution_is_set_by_convolution_param(self):
        top = L.Deconvolution(L.Input(shape=dict(dim=[1, 1, 4, 4])), num_output=2,
                              kernel_size=np.int64(4), stride=(2, 2))
        layer = top.to_proto().layer[1]
        self.assertEqual(layer.convolution_param.num_output, 2)
        self.assertEqual(list(layer.convolution_param.stride), [2, 2])

    def test_what_cannot_be_is_refused(self):
        two = L.DummyData(ntop=2)
        with self.assertRaisesRegex(TypeError, r"^Silence input 0 is not a Top \(type is "
                                               r"<class 'tuple'>\)$"):
            L.Silence(two, ntop=0)
        with self.assertRaisesRegex(AttributeError, 'Pooling has no setting "kernal"'):
            tiny(kernal=3).to_proto()

    def test_settings_of_a_written_layer_can_be_changed(self):
        n = caffe.NetSpec()
        n.data = L.Input(shape={'dim': [1, 3, 8, 8]})
        n.conv = L.Convolution(n.data, num_output=2, kernel_size=3)
        n.update('conv', {'dilation': 2, 'num_output': 5})
        param = n.to_proto().layer[1].convolution_param
        self.assertEqual((param.num_output, list(param.dilation)), (5, [2]))
        n.update({'again': L.ReLU(n.conv)})
        self.assertEqual(list(n.keys()), ['data', 'conv', 'again'])


def mapped(ks=3, stride=1, pad=0, pool=2, dstride=2, dpad=0):
    n = caffe.NetSpec()
    n.data = L.Input(shape=dict(dim=[2, 1, 100, 100]))
    n.conv = L.Convolution(n.data, num_output=10, kernel_size=ks, stride=stride, pad=pad)
    n.pool = L.Pooling(n.conv, pool=P.Pooling.MAX, kernel_size=pool, stride=pool)
    n.deconv = L.Deconvolution(n.pool, num_output=10, kernel_size=2 * dstride,
                               stride=dstride, pad=dpad)
    return n


class Coordinates(unittest.TestCase):
    def check(self, found, axis, scale, shift):
        self.assertEqual(found[0], axis)
        np.testing.assert_array_equal(found[1], scale)
        np.testing.assert_array_equal(found[2], shift)

    def test_pooling_and_deconvolution_undo_each_other(self):
        n = mapped()
        self.check(coord_map_from_to(n.deconv, n.data), 1, 1, 0)
        n = mapped(pool=4, dstride=4)
        self.check(coord_map_from_to(n.deconv, n.data), 1, 1, -1)

    def test_padding_shifts(self):
        n = mapped(pad=3, dpad=1)
        self.check(coord_map_from_to(n.deconv, n.data), 1, 1, -2)

    def test_layers_of_single_elements_change_nothing(self):
        n = mapped()
        self.check(coord_map_from_to(L.ReLU(n.deconv), n.data), 1, 1, 0)
        self.check(coord_map_from_to(n.data, n.data), None, 1, 0)

    def test_a_crop_is_followed_too(self):
        n = mapped()
        cut = L.Crop(n.deconv, n.data, axis=2, offset=5)
        self.check(coord_map_from_to(cut, n.data), 1, 1, 5)

    def test_crop_aligns_two_blobs(self):
        n = mapped(pad=3, dpad=1)
        layer = crop(n.deconv, n.data).to_proto().layer[-1]
        self.assertEqual((layer.crop_param.axis, list(layer.crop_param.offset)), (2, [2]))

    def test_what_cannot_be_aligned_is_refused(self):
        n = mapped()
        with self.assertRaises(RuntimeError):
            coord_map_from_to(L.InnerProduct(n.deconv, num_output=1), n.data)
        n = mapped(pool=3)
        with self.assertRaisesRegex(AssertionError, 'scale mismatch'):
            crop(n.deconv, n.data)
        n = mapped(dpad=10)
        with self.assertRaisesRegex(AssertionError, 'negative offset'):
            crop(n.deconv, n.data)

    def test_maps_compose(self):
        self.check(compose((1, 2, 3), (None, 5, 7)), 1, 10, 17)
        self.check(inverse((1, 2., 3)), 1, 0.5, -1.5)
        with self.assertRaises(AxisMismatchException):
            compose((1, 1, 0), (2, 1, 0))


if __name__ == '__main__':
    unittest.main()
