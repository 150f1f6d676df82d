"""nets - prototxts that several tests use, and a folder for each test."""
import os
import shutil
import tempfile
import unittest

SMALL = """name: 'small' force_backward: true
layer { name: 'data' type: 'Input' top: 'data' top: 'label'
  input_param { shape { dim: 4 dim: 2 dim: 6 dim: 5 } shape { dim: 4 } } }
layer { name: 'conv' type: 'Convolution' bottom: 'data' top: 'conv'
  convolution_param { num_output: 3 kernel_size: 3 weight_filler { type: 'xavier' }
    bias_filler { type: 'constant' value: 0.5 } } }
layer { name: 'relu' type: 'ReLU' bottom: 'conv' top: 'conv' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'conv' top: 'ip'
  inner_product_param { num_output: 7 weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: 'loss' }
"""

DEPLOY = SMALL[:SMALL.index("layer { name: 'loss'")].replace(
    " top: 'label'\n", "\n").replace(" shape { dim: 4 } }", " }") + \
    "layer { name: 'prob' type: 'Softmax' bottom: 'ip' top: 'prob' }\n"


class InFolder(unittest.TestCase):
    """A test that runs in a folder of its own."""

    def setUp(self):
        self._back = os.getcwd()
        self.folder = tempfile.mkdtemp()
        os.chdir(self.folder)

    def tearDown(self):
        os.chdir(self._back)
        shutil.rmtree(self.folder)

    def write(self, text, name='net.prototxt'):
        with open(name, 'w') as file:
            file.write(text)
        return name
