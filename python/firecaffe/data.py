"""data - samples from Python for training: any object with __len__ and __getitem__, or
any iterable, loaded ahead by processes of its own.

    class Digits:
        def __len__(self):
            return 60000
        def __getitem__(self, i):
            return image, label          # (channels, height, width), a number

    solver = caffe.SGDSolver('solver.prototxt')   # its net begins with MemoryData
    firecaffe.feed(solver, Digits(), shuffle=True, workers=2)
    solver.step(1000)

Which samples a pass gets follows the position of the training, as with a database: each
of several workers gets its own, and a resumed training goes on with the sample that it
would have read next. Whatever a source draws from `random` or numpy.random is a function
of the seed and the number of the sample.
"""
import ast
import importlib

import caffe
from caffe import _caffe

from ._order import Order
from ._ring import Ring

__all__ = ['DataLayer', 'Feed', 'feed']
AHEAD = 64  # passes that a layer asks for


class Feed:
    """Batches of a source, loaded ahead.

    source: an object with __len__ and __getitem__, or an iterable; an item is an array, or
    a tuple of arrays. shuffle: each epoch in another order, which depends on seed alone.
    workers: processes that load; 0: this one does. An iterable is read by one process, in
    its order; it must give a new iterator for each epoch. They are started by fork, so
    they have what the script had at that moment. ahead: batches to load ahead.
    batch_size: of the whole batch. shapes: of the arrays of an item; None: looked up.
    """

    def __init__(self, source, batch_size, shuffle=False, workers=2, seed=1, ahead=None,
                 shapes=None):
        if int(batch_size) < 1 or int(workers) < 0:
            raise ValueError('a batch of %d samples by %d workers' % (batch_size, workers))
        self.batch_size = int(batch_size)
        self._order = Order(source, shuffle, seed, self.batch_size)
        self.shapes = [tuple(s) for s in shapes or self._order.shapes()]
        if not self._order.indexed:
            workers = min(workers, 1)
        ahead = max(4, 2 * workers) if ahead is None else int(ahead)
        self._ring = Ring(self._order, self.shapes, self.batch_size, int(workers), ahead)

    def batch(self, samples):
        """The arrays (n, ...) of samples[0], valid until the next call. samples: (first,
        stride, n) of this pass and of those after it."""
        return self._ring.get(samples)

    def close(self):
        """End the processes."""
        self._ring.close()


def feed(net, source, shuffle=False, workers=2, seed=1, ahead=None, layer=None):
    """Let a source bring the samples of a MemoryData layer: (data, label) items, or data
    alone. net: a Net, or a solver, whose training net is meant; of a caffe.Trainer each
    solver: trainer.each(lambda solver: firecaffe.feed(solver, source)). layer: its name;
    None: the first one. The other arguments are those of Feed, which is returned.
    """
    net = getattr(net, 'net', net)
    types = dict(zip(net._layer_names, net._layer_types))
    names = [name for name, kind in types.items() if kind == 'MemoryData']
    if not names if layer is None else layer not in names:
        raise caffe.LayerError('this net has no layer of type MemoryData%s' % (
            '' if layer is None else ' of the name "%s"' % layer))
    number = net._layer_names.index(layer or names[0])
    param = net.to_proto().layer[number].memory_data_param
    shape = (param.channels, param.height, param.width)
    made = Feed(source, param.batch_size, shuffle, workers, seed, ahead, [shape, ()])

    def fetch(samples):
        data, label = made.batch(samples)
        return data.ctypes.data, label.ctypes.data
    net._keep(number, net._set_source(number, fetch))
    return made


class DataLayer(caffe.Layer):
    """A Python layer that brings samples: one top for each array of an item.

        layer { name: 'data' type: 'Python' top: 'data' top: 'label'
          python_param { module: 'firecaffe' layer: 'DataLayer' param_str:
            "{'source': 'my_module.Digits', 'batch_size': 64, 'shuffle': True}" } }

    source: what a module has under this name; a class or function is called. Other keys
    are the arguments of Feed.
    """

    def setup(self, bottom, top):
        options = ast.literal_eval(self.param_str)
        if not isinstance(options, dict) or not {'source', 'batch_size'} <= set(options):
            raise ValueError("param_str of a DataLayer is {'source': 'module.name', "
                             "'batch_size': n, ...}, not %s" % self.param_str)
        self.feed = Feed(_find(options.pop('source')), **options)
        if len(self.feed.shapes) != len(top):
            raise ValueError('the source brings %d arrays, the layer has %d tops' %
                             (len(self.feed.shapes), len(top)))

    def reshape(self, bottom, top):
        n = len(self.samples(self.feed.batch_size))
        for blob, shape in zip(top, self.feed.shapes):
            blob.reshape(n, *shape)

    def forward(self, bottom, top):
        samples = _caffe._samples(self.feed.batch_size, AHEAD)
        for blob, rows in zip(top, self.feed.batch(samples)):
            blob.data[...] = rows

    def backward(self, top, propagate_down, bottom):
        pass


def _find(name):
    module, _, attribute = name.rpartition('.')
    found = getattr(importlib.import_module(module or '__main__'), attribute)
    is_source = hasattr(found, '__getitem__') or hasattr(found, '__iter__')
    return found() if isinstance(found, type) or not is_source else found
