"""net_spec - write nets as Python: every layer is a call, every blob a variable.

    >>> from caffe import layers as L, params as P, NetSpec
    >>> n = NetSpec()
    >>> n.data = L.Input(shape=dict(dim=[1, 1, 28, 28]))
    >>> n.pool = L.Pooling(n.data, kernel_size=2, stride=2, pool=P.Pooling.MAX)
    >>> n.to_proto().layer[1].name
    'pool'

L.Anything(bottom, ..., setting=value) is a layer of type Anything. What its settings
mean:

- a name that ends in "param" (transform_param, convolution_param, param) is that field
  of the layer; other names are fields of the layer's own message (kernel_size of
  convolution_param) or, if that has none of this name, of the layer (name, include);
- ntop is the number of its tops (1; more give a tuple, 0 the layer itself), in_place
  lets it write over its bottom.

Layers and blobs that are not assigned to a NetSpec get names: Pooling1, Pooling2 ...
"""
from collections import Counter, OrderedDict

from .proto import caffe_pb2

# Types that are set by the message of another type.
_MESSAGE_OF = {'Deconvolution': 'convolution', 'Im2col': 'convolution'}


def param_name_dict():
    """Which message sets a layer type: {'Convolution': 'convolution', ...}."""
    names = {}
    for field in caffe_pb2.LayerParameter.DESCRIPTOR.fields:
        if field.name.endswith('_param') and field.message_type is not None:
            kind = field.message_type.name
            # Forks set layers of theirs by messages of Caffe's: the first field counts.
            names.setdefault(kind[:-len('Parameter')], field.name[:-len('_param')])
    for kind, name in _MESSAGE_OF.items():
        names.setdefault(kind, name)
    return names


def to_proto(*tops):
    """The NetParameter with all layers that these tops need."""
    return _net_of(tops, {})


def _net_of(tops, names):
    layers, counts = OrderedDict(), Counter()
    for top in tops:
        top._to_proto(layers, names, counts)
    net = caffe_pb2.NetParameter()
    net.layer.extend(layers.values())
    return net


def assign_proto(proto, name, val):
    """Set a field of a message to a Python value: a dict becomes a message, a list a
    repeated field; a single value for a repeated field is a list of one."""
    field = proto.DESCRIPTOR.fields_by_name.get(name)
    if field is None:
        raise AttributeError('%s has no field "%s"' % (proto.DESCRIPTOR.name, name))
    here = getattr(proto, name)
    if hasattr(here, 'extend'):
        values = list(val) if _is_sequence(val) else [val]
        if field.message_type is None:
            here.extend(_number(field, v) for v in values)
        else:
            for v in values:
                _fill(here.add(), v)
    elif field.message_type is not None:
        here.SetInParent()
        _fill(here, val)
    else:
        setattr(proto, name, _number(field, val))


def _is_sequence(val):
    return not isinstance(val, (str, bytes, dict)) and hasattr(val, '__iter__')


def _number(field, val):
    """The number of an enum's value that is given by its name."""
    if field.enum_type is not None and isinstance(val, str):
        return field.enum_type.values_by_name[val].number
    return val.item() if hasattr(val, 'dtype') and val.ndim == 0 else val


def _fill(proto, val):
    if isinstance(val, dict):
        for k, v in val.items():
            assign_proto(proto, k, v)
    else:
        proto.MergeFrom(val)


class Top:
    """One output of a layer."""

    def __init__(self, fn, n):
        self.fn, self.n = fn, n

    def to_proto(self):
        """The NetParameter with all layers that this top needs."""
        return to_proto(self)

    def _to_proto(self, layers, names, counts):
        self.fn._to_proto(layers, names, counts)


class Function:
    """A layer: its type, the tops that it reads, its settings."""

    def __init__(self, type_name, inputs, params):
        for i, top in enumerate(inputs):
            if not isinstance(top, Top):
                raise TypeError('%s input %d is not a Top (type is %s)' %
                                (type_name, i, type(top)))
        self.type_name, self.inputs = type_name, inputs
        self.params   = dict(params)
        self.ntop     = self.params.pop('ntop', 1)
        self.in_place = self.params.pop('in_place', False)
        self.tops     = tuple(Top(self, n) for n in range(self.ntop))

    def _name(self, key, names, counts):
        """The name of a top, or of a layer without tops; a new one if it has none."""
        if key not in names:
            counts[self.type_name] += 1
            names[key] = self.type_name + str(counts[self.type_name])
        return names[key]

    def _set(self, layer, key, val):
        own = _param_names.get(self.type_name)
        if not key.endswith('param') and own is not None:
            settings = getattr(layer, own + '_param')
            if key in settings.DESCRIPTOR.fields_by_name:
                settings.SetInParent()
                return assign_proto(settings, key, val)
        if key not in layer.DESCRIPTOR.fields_by_name:
            raise AttributeError('layer type %s has no setting "%s"' %
                                 (self.type_name, key))
        return assign_proto(layer, key, val)

    def _to_proto(self, layers, names, counts):
        if self in layers:
            return
        layer = caffe_pb2.LayerParameter(type=self.type_name)
        for top in self.inputs:
            top._to_proto(layers, names, counts)
            layer.bottom.append(layers[top.fn].top[top.n])
        if self.in_place:
            layer.top.extend(layer.bottom)
        else:
            layer.top.extend(self._name(top, names, counts) for top in self.tops)
        layer.name = self._name(self.tops[0] if self.tops else self, names, counts)
        for key, val in self.params.items():
            self._set(layer, key, val)
        layers[self] = layer


class NetSpec:
    """A net whose blobs and layers have the names of its attributes."""

    def __init__(self):
        super().__setattr__('tops', OrderedDict())

    def __setattr__(self, name, value):
        self.tops[name] = value

    def __getattr__(self, name):
        try:
            return self.tops[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setitem__(self, key, value):
        self.tops[key] = value

    def __getitem__(self, item):
        return self.tops[item]

    def __delattr__(self, name):
        del self.tops[name]

    __delitem__ = __delattr__

    def keys(self):
        return list(self.tops)

    def vals(self):
        return list(self.tops.values())

    def update(self, others, params=None):
        """Add named tops: a dict, or a list of pairs. update(name, params) changes
        settings of the layer that has this top, as SSD's scripts do."""
        if params is None:
            self.tops.update(others)
        else:
            self.tops[others].fn.params.update(params)

    def to_proto(self):
        """The NetParameter with all layers that the assigned tops need."""
        return _net_of(list(self.tops.values()),
                       {top: name for name, top in self.tops.items()})


class Layers:
    """layers.Anything(...) makes a layer of type Anything."""

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)

        def layer_fn(*args, **kwargs):
            fn = Function(name, args, kwargs)
            return fn if fn.ntop == 0 else fn.tops[0] if fn.ntop == 1 else fn.tops
        layer_fn.__name__ = name
        return layer_fn


class Parameters:
    """params.Pooling.MAX is the number of that name in PoolingParameter."""

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)

        class Param:
            def __getattr__(self, value):
                return getattr(getattr(caffe_pb2, name + 'Parameter'), value)
        return Param()


_param_names = param_name_dict()
layers = Layers()
params = Parameters()
