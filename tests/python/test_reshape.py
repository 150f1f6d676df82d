"""Tests of nets whose blobs are read between a reshape and the next pass."""
import unittest

import numpy as np

import caffe
from nets import DEPLOY


class Reshaped(unittest.TestCase):
    def test_gradients_are_read_after_a_reshape_before_the_next_backward(self):
        text = DEPLOY.replace('num_output: 3', 'num_output: 32').replace(
            "layer { name: 'ip' type: 'InnerProduct' bottom: 'conv'",
            """layer { name: 'next' type: 'Convolution' bottom: 'conv' top: 'next'
  convolution_param { num_output: 16 kernel_size: 3 weight_filler { type: 'xavier' } } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'next'""")
        found = []
        for rows in 4, 1:
            net = caffe.Net(text, caffe.TEST)
            net.blobs['data'].data[...] = 1
            net.forward()
            net.backward(prob=np.eye(4, 7, dtype=np.float32))
            net.blobs['data'].reshape(rows, 2, 6, 5)
            net.forward(end='conv')
            found.append(net.blobs['conv'].diff)
        self.assertEqual(found[1].shape, (1, 32, 4, 3))
        self.assertTrue(found[1].any())
        np.testing.assert_array_equal(found[1], found[0][:1])


if __name__ == '__main__':
    unittest.main()
