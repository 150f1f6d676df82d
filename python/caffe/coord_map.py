"""coord_map - how coordinates of one blob of a NetSpec relate to those of another.

Layers such as convolution and pooling scale and shift coordinates. A map (axis, a, b)
says that index i of the one blob lies at a * i + b of the other, from that axis on;
axis None: for every axis. crop() uses it to make the Crop layer that aligns two blobs.
"""
import numpy as np

from .net_spec import layers as L

PASS_THROUGH_LAYERS = ['AbsVal', 'BatchNorm', 'Bias', 'BNLL', 'Dropout', 'Eltwise',
                       'ELU', 'Log', 'LRN', 'Exp', 'MVN', 'Power', 'ReLU', 'PReLU',
                       'Scale', 'Sigmoid', 'Split', 'TanH', 'Threshold']
_IDENTITY = (None, 1, 0)


class UndefinedMapException(Exception):
    """The layer type has no map of coordinates."""


class AxisMismatchException(Exception):
    """Two maps work on different axes."""


def _array(value):
    return np.array(value, ndmin=1)


def conv_params(fn):
    """(axis, stride, kernel size with dilation, pad) of a convolution or pooling."""
    given = fn.params.get('convolution_param', fn.params.get('pooling_param', fn.params))
    old = {'pad_h', 'pad_w', 'kernel_h', 'kernel_w', 'stride_h', 'stride_w'}
    assert not old & set(given), 'cropping does not support legacy _h/_w params'
    kernel = (_array(given['kernel_size']) - 1) * _array(given.get('dilation', 1)) + 1
    return (given.get('axis', 1), _array(given.get('stride', 1)), kernel,
            _array(given.get('pad', 0)))


def crop_params(fn):
    """(axis, offset) of a Crop layer."""
    given = fn.params.get('crop_param', fn.params)
    return given.get('axis', 2), _array(given.get('offset', 0))


def coord_map(fn):
    """The map from a layer's bottom to its top."""
    if fn.type_name in ('Convolution', 'Pooling', 'Im2col'):
        axis, stride, kernel, pad = conv_params(fn)
        return axis, 1 / stride, (pad - (kernel - 1) / 2) / stride
    if fn.type_name == 'Deconvolution':
        axis, stride, kernel, pad = conv_params(fn)
        return axis, stride, (kernel - 1) / 2 - pad
    if fn.type_name in PASS_THROUGH_LAYERS:
        return _IDENTITY
    if fn.type_name == 'Crop':
        axis, offset = crop_params(fn)
        return axis - 1, 1, -offset  # the axis before the first that is cropped
    raise UndefinedMapException(fn.type_name)


def compose(base_map, next_map):
    """The map that does next_map first, then base_map."""
    ax1, a1, b1 = base_map
    ax2, a2, b2 = next_map
    if None not in (ax1, ax2) and ax1 != ax2:
        raise AxisMismatchException('axis %s and axis %s' % (ax1, ax2))
    return ax2 if ax1 is None else ax1, a1 * a2, a1 * b2 + b1


def inverse(coord_map):
    """The map in the other direction."""
    ax, a, b = coord_map
    return ax, 1 / a, -b / a


def _bottoms(top):
    # the second bottom of Crop only gives a size
    return top.fn.inputs[:1] if top.fn.type_name == 'Crop' else top.fn.inputs


def _walk_back(start):
    """Yield (top, map from it to start) of start and all below it, nearest first."""
    maps, waiting = {start: _IDENTITY}, [start]
    while waiting:
        top = waiting.pop(0)
        yield top, maps[top]
        try:
            for bottom in _bottoms(top):
                if bottom not in maps:
                    maps[bottom] = compose(maps[top], coord_map(top.fn))
                    waiting.append(bottom)
        except UndefinedMapException:
            pass


def coord_map_from_to(top_from, top_to):
    """The map of coordinates of top_from to those of top_to, over a blob that both are
    computed from. Returns (axis, a, b)."""
    below = dict(_walk_back(top_from))
    for top, to_map in _walk_back(top_to):
        if top in below:
            return compose(to_map, inverse(below[top]))
    raise RuntimeError('Could not compute map between tops; are they connected by '
                       'spatial layers?')


def crop(top_from, top_to):
    """A Crop layer that cuts top_from to the size and place of top_to."""
    ax, a, b = coord_map_from_to(top_from, top_to)
    a, b = np.asarray(a), np.asarray(b)
    assert (a == 1).all(), 'scale mismatch on crop (a = {})'.format(a)
    assert (b <= 0).all(), 'cannot crop negative offset (b = {})'.format(b)
    assert (np.round(b) == b).all(), 'cannot crop noninteger offset (b = {})'.format(b)
    return L.Crop(top_from, top_to, crop_param=dict(
        axis=2 if ax is None else int(ax) + 1,
        offset=[int(n) for n in np.atleast_1d(-np.round(b))]))
