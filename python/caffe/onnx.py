"""onnx - nets to ONNX files, ONNX files to nets (docs/guide/onnx.md).

    net = caffe.Net('deploy.prototxt', caffe.TEST, weights='net.caffemodel')
    caffe.onnx.export(net, 'net.onnx')
    net = caffe.onnx.load('resnet18.onnx', batch=8)
"""
import os
import tempfile

from . import _caffe
from .proto.caffe_pb2 import TEST
from .pycaffe import Net, names_of, path_of


def export(net, filename, opset=17, batch=None, fold=False, custom_ops=False,
           with_transform=False, rgb=False, external=False):
    """Write a net of phase TEST, with its weights, as an ONNX file.

    opset: version of ONNX's operators. batch: number of rows; None leaves it open. fold:
    put BatchNorm, Scale and Bias into the weights of the layer below. custom_ops: write
    layers that ONNX cannot say as operators of the domain "caffe", instead of failing.
    with_transform: subtract mean and scale as transform_param says. rgb: the file takes
    channels as red, green, blue. external: weights in a second file, FILENAME.data.
    """
    net._onnx(path_of(filename), opset, batch or 0, fold, custom_ops, with_transform, rgb,
              external)


def load(filename, phase=TEST, batch=None, shapes=None, folder=None, **options):
    """The net of an ONNX file, with its weights.

    batch: number of rows; None: as in the file, or 1. shapes: {input: shape}, where the
    file leaves more open than that. folder: keep deploy.prototxt, train_val.prototxt,
    solver.prototxt and net.caffemodel there. options: those of caffe.Net.
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as folder:
            return load(filename, phase, batch, shapes, folder, **options)
    texts = ['%s=%s' % (name, ','.join(str(int(n)) for n in shape))
             for name, shape in (shapes or {}).items()]
    _caffe._onnx_import(path_of(filename), path_of(folder), batch or 0, names_of(texts))
    return Net(os.path.join(os.fspath(folder), 'deploy.prototxt'), phase,
               weights=os.path.join(os.fspath(folder), 'net.caffemodel'), **options)
