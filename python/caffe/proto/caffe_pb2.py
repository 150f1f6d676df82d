"""caffe_pb2 - Caffe's messages as Python classes: NetParameter, Datum, SolverParameter ...

The classes are made at import from the compiled schema caffe.desc, which lies beside
this file. So they work with every version of the protobuf package, where generated
code needs the one that it was generated for. They live in a descriptor pool of their
own: other packages that bring a caffe.proto of theirs (OpenCV's dnn, for one) do not
collide with it.

    >>> from caffe.proto import caffe_pb2
    >>> caffe_pb2.NetParameter(name='lenet').name
    'lenet'
    >>> caffe_pb2.TEST, caffe_pb2.PoolingParameter.MAX
    (1, 0)
"""
import os

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
# Scripts use google.protobuf.text_format after importing nothing but caffe.
from google.protobuf import text_format  # noqa: F401
from google.protobuf.internal import enum_type_wrapper

_pool = descriptor_pool.DescriptorPool()


def _load():
    """Add the schema to the pool; return its names of messages and of enums."""
    with open(os.path.join(os.path.dirname(__file__), 'caffe.desc'), 'rb') as f:
        files = descriptor_pb2.FileDescriptorSet.FromString(f.read()).file
    for file in files:
        _pool.AddSerializedFile(file.SerializeToString())
    return ([m.name for m in files[-1].message_type],
            [e.name for e in files[-1].enum_type], files[-1].name)


def _class_of(descriptor):
    """The class of a message, by the function that this protobuf has for it."""
    if hasattr(message_factory, 'GetMessageClass'):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_pool).GetPrototype(descriptor)


def _publish(cls, prefix=''):
    """Give a class and those nested in it their place in this module, so that messages
    can be pickled, and the old generator's names for descriptors (_NETPARAMETER)."""
    name = prefix + cls.DESCRIPTOR.name
    globals()['_' + name.upper().replace('.', '_')] = cls.DESCRIPTOR
    try:
        cls.__module__, cls.__qualname__ = __name__, name
    except (AttributeError, TypeError):
        pass  # an implementation whose classes cannot be changed
    for nested in cls.DESCRIPTOR.nested_types:
        _publish(getattr(cls, nested.name), name + '.')


def _fill(names):
    messages, enums, file = _load()
    names['DESCRIPTOR'] = _pool.FindFileByName(file)
    for name in enums:
        enum = _pool.FindEnumTypeByName('caffe.' + name)
        names[name] = enum_type_wrapper.EnumTypeWrapper(enum)
        names.update((value.name, value.number) for value in enum.values)
        names['_' + name.upper()] = enum
    for name in messages:
        names[name] = _class_of(_pool.FindMessageTypeByName('caffe.' + name))
        _publish(names[name])


_fill(globals())
