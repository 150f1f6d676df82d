"""_layer - layers of a net, and the base of layers written in Python."""
import importlib
import os
import sys

from . import _caffe


class BlobVec(list):
    """Blobs of a net or layer, in order."""

    def add_blob(self, *dims):
        """Add a parameter of this shape to a Python layer, in its setup()."""
        self.append(_caffe._add_param(*dims))


class RawBlobVec(BlobVec):
    """The bottoms or tops that a Python layer is given."""


class _Phase(int):
    """caffe.TRAIN or caffe.TEST, whose text is its name: scripts look settings up by
    str(self.phase)."""

    def __str__(self):
        return 'TEST' if self else 'TRAIN'


class Layer:
    """A layer of a net; to write one in Python, derive from it.

        class Double(caffe.Layer):
            def setup(self, bottom, top):
                self.factor = float(self.param_str or 2)
            def reshape(self, bottom, top):
                top[0].reshape(*bottom[0].shape)
            def forward(self, bottom, top):
                top[0].data[...] = self.factor * bottom[0].data
            def backward(self, top, propagate_down, bottom):
                bottom[0].diff[...] = self.factor * top[0].diff

    and in the prototxt python_param { module: 'my_layers' layer: 'Double' }. blobs: the
    parameters. param_str: the text of the prototxt. phase: caffe.TRAIN or caffe.TEST.
    """

    type = 'Python'
    param_str = param_str_ = ''
    phase = None

    def __new__(cls, *args, **kwargs):
        layer = super().__new__(cls)
        layer.blobs = BlobVec()
        return layer

    def __init__(self, param=None):
        pass

    def setup(self, bottom, top):
        """Called once, when the net is created."""

    def reshape(self, bottom, top):
        """Set the shapes of the tops; called before each forward with new shapes."""

    def forward(self, bottom, top):
        """Compute the tops' data from the bottoms'."""
        raise NotImplementedError('%s has no forward()' % type(self).__name__)

    def samples(self, batch_size):
        """In reshape() and forward() of a layer that brings data: the numbers of the
        samples of this pass, counted over all epochs, as a range. Each of several workers
        has its own, and a resumed training goes on where it was."""
        first, stride, n = _caffe._samples(int(batch_size), 1)[0]
        return range(first, first + n * stride, stride)

    def backward(self, top, propagate_down, bottom):
        """Compute the diff of each bottom i for which propagate_down[i] is true, and
        add to those of the parameters."""


def _layer_of(net, number, kind):
    """The object of a layer: the user's own for a Python layer."""
    layer = net._python_layer(number) if kind == 'Python' else None
    if layer is None:
        layer = Layer()
        layer.type = kind
        layer.blobs = BlobVec(net._layer_blobs(number))
    return layer


def _make(module, name, param_str, phase, layer_name):
    """The object of a Python layer, and its lists of bottoms and tops, which the engine
    fills. It calls its methods from then on."""
    from .proto.caffe_pb2 import LayerParameter
    param = LayerParameter(name=layer_name, type='Python')
    param.python_param.module, param.python_param.layer = module, name
    param.python_param.param_str = param_str
    try:
        layer = getattr(_import(module), name)(param)
    except SyntaxError as error:
        error.msg += ('; if this is Python 2, of which no interpreter is here, convert '
                      'it: 2to3 -w %s' % error.filename)
        raise
    if not isinstance(getattr(layer, 'blobs', None), BlobVec):
        layer.blobs = BlobVec()  # a class that does not derive from Layer
    layer.param_str = layer.param_str_ = param_str
    layer.phase = _Phase(phase)
    return layer, RawBlobVec(), RawBlobVec()


def _import(module):
    """A module on the path, or else in the current directory."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.split('.')[0]:
            raise
    sys.path.append(os.getcwd())
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(os.getcwd())


_caffe._set_layer_maker(_make)
