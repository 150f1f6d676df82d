"""Tests python/caffe/onnx.py and python/src/net_onnx.c."""
import os
import unittest

import numpy as np

import caffe
from nets import DEPLOY, SMALL, InFolder


class Onnx(InFolder):
    def setUp(self):
        super().setUp()
        self.net = caffe.Net(DEPLOY, caffe.TEST)
        self.x = np.random.RandomState(1).rand(*self.net.blobs['data'].shape)
        self.want = self.net.forward(data=self.x)['prob'].copy()

    def test_a_net_leaves_and_comes_back(self):
        caffe.onnx.export(self.net, 'net.onnx')
        net = caffe.onnx.load('net.onnx', batch=4)
        self.assertEqual(net.inputs, ['data'])
        np.testing.assert_array_equal(net.forward(data=self.x)['prob'], self.want)

    def test_files_of_an_import_are_kept_in_a_folder(self):
        caffe.onnx.export(self.net, 'net.onnx', batch=2, external=True, opset=20)
        self.assertTrue(os.path.exists('net.onnx.data'))
        net = caffe.onnx.load('net.onnx', folder='here', threads=1)
        self.assertEqual(net.blobs['data'].shape[0], 2)
        self.assertEqual(sorted(os.listdir('here'))[0], 'deploy.prototxt')
        again = caffe.Net('here/deploy.prototxt', caffe.TEST, weights='here/net.caffemodel')
        np.testing.assert_array_equal(again.forward(data=self.x[:2])['prob'], self.want[:2])

    def test_shapes_can_be_given(self):
        caffe.onnx.export(self.net, 'net.onnx')
        net = caffe.onnx.load('net.onnx', shapes={'data': (3, 2, 6, 5)})
        self.assertEqual(net.blobs['data'].shape, (3, 2, 6, 5))

    def test_what_cannot_be_is_an_error(self):
        with self.assertRaisesRegex(caffe.LayerError, 'phase TEST'):
            caffe.onnx.export(caffe.Net(SMALL, caffe.TRAIN), 'net.onnx')
        with self.assertRaises(caffe.LayerError):
            caffe.onnx.export(self.net, 'net.onnx', opset=3)
        with self.assertRaises(caffe.FileError):
            caffe.onnx.load('none.onnx')
        with open('bad.onnx', 'wb') as file:
            file.write(b'no')
        with self.assertRaises(caffe.ParseError):
            caffe.onnx.load('bad.onnx')


if __name__ == '__main__':
    unittest.main()
