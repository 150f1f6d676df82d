"""pycaffe - nets: create, run, look into, change, save."""
import html
import os
import tempfile
from collections import OrderedDict
from itertools import zip_longest

import numpy as np
from google.protobuf import text_format

from . import _caffe
from ._layer import BlobVec, Layer, _layer_of
from ._settings import settings
from .errors import Error, ShapeError
from .proto.caffe_pb2 import TEST, TRAIN, NetParameter

FILE, TEXT, MESSAGE = range(3)  # what a net or solver is created from


def source_of(source):
    """(kind, bytes) of what a net or solver is created from: a path, the text of a
    prototxt, a message, or the bytes of one."""
    if hasattr(source, 'SerializeToString'):
        return MESSAGE, source.SerializeToString()
    if isinstance(source, (bytes, bytearray, memoryview)):
        return MESSAGE, bytes(source)
    text = os.fspath(source)
    if isinstance(text, bytes):
        return FILE, text
    if ('\n' in text or '{' in text or ': ' in text) and not os.path.exists(text):
        return TEXT, text.encode()
    return FILE, path_of(text)


def names_of(names):
    """A tuple of bytes of a list of names, or of None."""
    if isinstance(names, str):
        raise TypeError('a list of names is needed, not a string')
    return tuple(name.encode() for name in names or ())


def path_of(path):
    """The bytes of a path."""
    name = os.fsencode(path)
    if b'\0' in name:
        raise ValueError('a path cannot have a zero in it')
    return name


class Picture(str):
    """The text of an SVG or a page, which a notebook shows as a picture."""

    def _repr_html_(self):
        if self.startswith('<svg'):
            return str(self)
        return ('<iframe srcdoc="%s" width="100%%" height="700" style="border: 0"></iframe>'
                % html.escape(self))


def drawn(draw, filename, ending):
    """Let draw(path) write a file; or, if there is no name, the Picture of it."""
    if filename is not None:
        return draw(path_of(filename))
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, 'picture' + ending)
        draw(path_of(name))
        with open(name, encoding='utf-8') as file:
            return Picture(file.read())


class Net(_caffe._Net):
    """A net: its blobs, parameters and layers, forward and backward.

        net = caffe.Net('deploy.prototxt', caffe.TEST, weights='net.caffemodel')
        net.blobs['data'].data[...] = images
        scores = net.forward()['prob']

    network: a path; or the text of a prototxt, a NetParameter or its bytes.
    phase: caffe.TRAIN or caffe.TEST. level, stages: which layers are included.
    weights: a .caffemodel or .h5 file. Net(network, weights, phase) is understood too.
    observe: names of blobs; the net is lean then: it gives memory back when no layer
    reads a blob any more, and kernels may compute several layers in one step; only
    inputs, outputs, parameters and these blobs have values after a pass. Without it all
    have. lean=True is observe=[]. threads: of the CPU. seed: of fillers. precision,
    kernels: as the options of the program, "bf16", "Convolution=ref".
    """

    def __init__(self, network_file, phase=None, level=0, stages=None, weights=None,
                 observe=None, lean=False, threads=None, seed=None, precision=None,
                 kernels=None):
        if isinstance(phase, (str, bytes, os.PathLike)):  # Net(network, weights, phase)
            phase, weights, level = level, phase, 0
        if phase not in (TRAIN, TEST):
            raise TypeError('a net needs a phase: caffe.TRAIN or caffe.TEST')
        if seed is None:
            seed = 1 if settings.seed is None else settings.seed
        self._open(*source_of(network_file), phase, level, names_of(stages),
                   lean or observe is not None, names_of(observe), seed,
                   settings.threads if threads is None else threads,
                   settings.device if settings.gpu else -1, precision, kernels)
        self._kept = {}
        self._look()
        if weights is not None:
            self.copy_from(weights)

    @classmethod
    def _of_trainer(cls, training, i):
        """Its test net i, or its training net for -1."""
        net = cls.__new__(cls)
        net._adopt(training, i)
        net._kept = training.kept.setdefault(i, {})  # the net may end later than this
        net._look()
        return net

    def _look(self):
        """Read what does not change: names, numbers, layers."""
        (self.name, layers, self._blob_names, self._blob_loss_weights, self._inputs,
         self._outputs) = self._describe()
        self._layer_names = [layer[0] for layer in layers]
        self._layer_types = [layer[1] for layer in layers]
        self._bottoms = [layer[2] for layer in layers]
        self._tops = [layer[3] for layer in layers]
        self._blobs = BlobVec(self._blob(i) for i in range(len(self._blob_names)))
        self._hooks = ([], [], [], [])
        self.layers = [_layer_of(self, i, kind)
                       for i, kind in enumerate(self._layer_types)]
        self.blobs = OrderedDict(zip(self._blob_names, self._blobs))
        self.blob_loss_weights = OrderedDict(zip(self._blob_names,
                                                 self._blob_loss_weights))
        self.layer_dict = OrderedDict(zip(self._layer_names, self.layers))
        self.params = OrderedDict((name, layer.blobs) for name, layer in
                                  zip(self._layer_names, self.layers)
                                  if len(layer.blobs))
        self.inputs = [self._blob_names[i] for i in self._inputs]
        self.outputs = [self._blob_names[i] for i in self._outputs]
        self.top_names = self._names_of(self._tops)
        self.bottom_names = self._names_of(self._bottoms)

    def _names_of(self, ids):
        return OrderedDict((name, [self._blob_names[i] for i in blobs])
                           for name, blobs in zip(self._layer_names, ids))

    def _top_ids(self, i):
        return self._tops[i]

    def _bottom_ids(self, i):
        return self._bottoms[i]

    def __repr__(self):
        return '<caffe.Net "%s": %d layers, %s -> %s>' % (
            self.name, len(self.layers), ', '.join(self.inputs) or 'no inputs',
            ', '.join(self.outputs) or 'no outputs')

    def plot(self, filename=None):
        """The net as a picture: written to a .svg or .html file, or the text of an SVG if
        there is none, which a notebook shows; a net shows itself there too."""
        return drawn(self._draw, filename, '.svg')

    def _repr_html_(self):
        return self.plot()

    # ---- running ----

    def _number_of(self, layer):
        try:
            return self._layer_names.index(layer)
        except ValueError:
            raise KeyError('there is no layer "%s"' % layer) from None

    def _set_batch(self, kwargs, names, what, part):
        """Write arrays given by name to the data or diff of blobs."""
        if set(kwargs) != set(names):
            raise Error('%s are %s, not %s' % (what, ', '.join(names) or 'none',
                                               ', '.join(kwargs)))
        for name, values in kwargs.items():
            blob = self.blobs[name]
            if len(values) != blob.shape[0]:
                raise ShapeError('"%s" is not batch sized: it has %d rows, the blob %d' %
                                 (name, len(values), blob.shape[0]))
            getattr(blob, part)[...] = values

    def forward(self, blobs=None, start=None, end=None, **kwargs):
        """Run the net, or layers start ... end, both included.

        kwargs: a batch for every input, by name; without them inputs are as they are.
        Returns {name: array} of the outputs (of the tops of `end`) and of the blobs
        asked for. The arrays are live: copy what is to be kept over the next pass.
        """
        first = 0 if start is None else self._number_of(start)
        last = len(self.layers) - 1 if end is None else self._number_of(end)
        wanted = self.outputs if end is None else self.top_names[end]
        if kwargs:
            self._set_batch(kwargs, self.inputs, 'the inputs of this net', 'data')
        self._forward(first, last)
        return {name: self.blobs[name].data for name in [*wanted, *(blobs or [])]}

    def backward(self, diffs=None, start=None, end=None, **kwargs):
        """Run backward from the end, or from layer start, down to layer end.

        kwargs: a gradient for every output, by name; without them losses have their
        weight. Returns {name: array} of the gradients of the inputs (of the bottoms of
        `end`) and of the blobs named in diffs.
        """
        first = len(self.layers) - 1 if start is None else self._number_of(start)
        last = 0 if end is None else self._number_of(end)
        wanted = self.inputs if end is None else self.bottom_names[end]
        if kwargs:
            self._set_batch(kwargs, self.outputs, 'the outputs of this net', 'diff')
        self._backward(first, last)
        return {name: self.blobs[name].diff for name in [*wanted, *(diffs or [])]}

    def forward_all(self, blobs=None, **kwargs):
        """forward() on inputs of any length, in batches; the last one is padded.
        Returns {name: array of all rows}."""
        outs = {}
        for batch in self._batch(kwargs):
            for name, rows in self.forward(blobs=blobs, **batch).items():
                outs.setdefault(name, []).extend(rows.copy())
        return _trimmed(outs, kwargs)

    def forward_backward_all(self, blobs=None, diffs=None, **kwargs):
        """forward() and backward() on inputs and gradients of outputs of any length.
        Returns ({name: values}, {name: gradients}) of all rows."""
        batches = [list(self._batch({name: kwargs[name] for name in names
                                     if name in kwargs}))
                   for names in (self.inputs, self.outputs)]
        all_outs, all_diffs = {}, {}
        for fb, bb in zip_longest(*batches, fillvalue={}):
            for found, one in ((all_outs, self.forward(blobs=blobs, **fb)),
                               (all_diffs, self.backward(diffs=diffs, **bb))):
                for name, rows in one.items():
                    found.setdefault(name, []).extend(rows.copy())
        return _trimmed(all_outs, kwargs), _trimmed(all_diffs, kwargs)

    def _batch(self, blobs):
        """Yield {name: batch} of arrays of any length, the last filled with zeros."""
        if not blobs:
            return
        size = next(iter(self.blobs.values())).shape[0]
        for at in range(0, len(next(iter(blobs.values()))), size):
            batch = {}
            for name, values in blobs.items():
                rows = np.asarray(values[at:at + size])
                if len(rows) < size:
                    fill = np.zeros((size - len(rows),) + rows.shape[1:], rows.dtype)
                    rows = np.concatenate([rows, fill])
                batch[name] = rows
            yield batch

    # ---- callbacks ----

    def _on_layer(self, kind, layer):
        for run in self._hooks[kind]:
            run(layer)

    def _add_hook(self, kind, run):
        self._hooks[kind].append(run)
        self._watch(*(bool(hooks) for hooks in self._hooks))

    def before_forward(self, run):
        """Call run(number of the layer) before each layer of forward."""
        self._add_hook(0, run)

    def after_forward(self, run):
        """Call run(number of the layer) after each layer of forward."""
        self._add_hook(1, run)

    def before_backward(self, run):
        """Call run(number of the layer) before each layer of backward."""
        self._add_hook(2, run)

    def after_backward(self, run):
        """Call run(number of the layer) after each layer of backward."""
        self._add_hook(3, run)

    # ---- weights ----

    def copy_from(self, weights):
        """Copy weights to layers of the same name: from a .caffemodel or HDF5 file, a
        NetParameter or its bytes."""
        if hasattr(weights, 'SerializeToString'):
            self._load_message(weights.SerializeToString())
        elif isinstance(weights, bytes):
            self._load_message(weights)
        elif _is_hdf5(weights):
            self._load_hdf5(path_of(weights))
        else:
            self._load(path_of(weights))

    def save(self, filename):
        """Write the net with its weights as a .caffemodel (as HDF5 if named .h5)."""
        self._save(path_of(filename), False)

    def save_hdf5(self, filename, write_diff=False):
        """Write the weights as HDF5, with their gradients if write_diff."""
        self._save_hdf5(path_of(filename), write_diff)

    def load_hdf5(self, filename):
        """Copy weights from an HDF5 file."""
        self._load_hdf5(path_of(filename))

    def to_proto(self, weights=False):
        """The net as a NetParameter, with its weights if asked for."""
        net = NetParameter()
        if weights:
            net.ParseFromString(self._save_message(False))
        else:
            text_format.Parse(self._text(), net)
        return net

    # ---- MemoryData ----

    def set_input_arrays(self, data, labels):
        """Feed the first layer, of type MemoryData, from float32 arrays (n, channels,
        height, width) and n labels. They are kept, not copied."""
        layer = self._layer_types.index('MemoryData') if (
            'MemoryData' in self._layer_types[:1]) else -1
        if layer < 0:
            raise Error('set_input_arrays may only be called if the first layer is a '
                        'MemoryDataLayer')
        if labels.ndim == 1:
            labels = labels[:, np.newaxis, np.newaxis, np.newaxis]
            labels = np.ascontiguousarray(labels, np.float32)
        self._set_input_arrays(data, labels)

    def _keep(self, layer, source):
        """Keep what brings the samples of a layer as long as the engine's net."""
        self._kept[layer] = source

    def _set_input_arrays(self, data, labels):
        shape = tuple(self.blobs[self.top_names[self._layer_names[0]][0]].shape[1:])
        for name, array, axes in (('data array', data, shape),
                                  ('labels array', labels, (1, 1, 1))):
            if not array.flags.c_contiguous:
                raise Error(name + ' must be C contiguous')
            if array.ndim != 4:
                raise Error(name + ' must be 4-d')
            if array.dtype != np.float32:
                raise Error(name + ' must be float32')
            if array.shape[1:] != axes:
                raise ShapeError('%s has shape %s, not (n, %d, %d, %d)' %
                                 ((name, array.shape) + axes))
        if len(data) != len(labels):
            raise ShapeError('data and labels must have the same first dimension')
        self._set_arrays(0, data.ctypes.data, labels.ctypes.data, len(data))
        self._arrays = data, labels


def _is_hdf5(path):
    """Does a file begin as HDF5 does?"""
    try:
        with open(path, 'rb') as file:
            return file.read(8) == b'\x89HDF\r\n\x1a\n'
    except OSError:
        return False  # loading says what is wrong


def _trimmed(found, given):
    """Lists of rows as arrays, without those of the padding."""
    arrays = {name: np.asarray(rows) for name, rows in found.items()}
    if given and arrays:
        pad = len(next(iter(arrays.values()))) - len(next(iter(given.values())))
        if pad > 0:
            return {name: rows[:-pad] for name, rows in arrays.items()}
    return arrays
