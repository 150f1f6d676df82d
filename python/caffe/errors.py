"""errors - what the engine cannot do comes as an exception, never as an abort.

    >>> import caffe
    >>> try:
    ...     caffe.Net('there is none.prototxt', caffe.TEST)
    ... except caffe.FileError as e:
    ...     print(e.file)
    there is none.prototxt
"""
import re

from . import _caffe


class Error(RuntimeError):
    """A failure of the engine. str() is the message that the command line prints.

    status: its number in the C API (fire/status.h). layer, type: name and type of the
    layer that failed; file, line, column: where in which file; None: not known.
    """

    status = None
    layer = type = file = line = column = None


class FileError(Error, OSError):
    """A file cannot be read or written."""


class ParseError(Error, ValueError):
    """A file, text or message is not what it should be."""


class LayerError(Error, ValueError):
    """A setting or an input that a layer, net or solver cannot take."""


class ShapeError(LayerError):
    """A shape does not fit."""


class UnsupportedError(Error):
    """This build or machine lacks something."""


class DeviceError(Error):
    """A GPU is missing or has failed."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class WorkerError(Error):
    """Another worker has failed or does not answer."""


# by the numbers of fire/status.h
_CLASSES = {-1: LayerError, -2: OutOfMemoryError, -3: ParseError, -4: FileError,
            -5: UnsupportedError, -6: DeviceError, -7: WorkerError, -8: WorkerError,
            -9: WorkerError}
_LAYER = re.compile(r'layer "((?:[^"\\]|\\.)*)"(?: \((\w+)\))?')
_SHAPE = re.compile(r'\b(shapes?|axes|axis)\b')
# net.prototxt:3:7: ..., cannot open net.prototxt: ..., net.prototxt: layer ...
_PLACE = re.compile(r'^(?!layer )(?P<file>[^:"]+?)(?::(?P<line>\d+)(?::(?P<column>\d+))?)?: ')
_OPEN = re.compile(r'^cannot \w+ "?(?P<file>.+?)"?(?:: |$)')


def make_error(status, message, file=None):
    """The exception for a failed call of the C API."""
    cls = _CLASSES.get(status, Error)
    if cls is LayerError and _SHAPE.search(message):
        cls = ShapeError
    error = cls(message)
    error.status = status
    layer = _LAYER.search(message)
    if layer:
        error.layer, error.type = layer.groups()
    place = _OPEN.match(message) or _PLACE.match(message)
    if place:
        found = place.groupdict()
        error.file = found['file']
        error.line, error.column = (int(n) if n else None for n in
                                    (found.get('line'), found.get('column')))
    return error


_caffe._set_error_maker(make_error)
