# python_host.py - what Python layers see of the program that they run in: pycaffe's Layer
# and Blob. The program holds this text and runs it once, with `address` set to a table of
# functions (python.c) in which we find its own and leave ours. Arrays are numpy's where it
# is installed, memoryviews otherwise. A `caffe` package of the user's comes before ours.
import ctypes, importlib, itertools, re, sys, types
try:
    import numpy
except ImportError:
    numpy = None

C, size, text = ctypes.CFUNCTYPE, ctypes.c_int, ctypes.c_char_p
pointer, dims = ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64)

class Table(ctypes.Structure):
    _fields_ = [
        ('count_blobs', C(size, pointer, size)),
        ('find_blob', C(pointer, pointer, size, size)),
        ('shape_of', C(size, pointer, dims)),
        ('elements_of', C(pointer, pointer, size)),
        ('reshape', C(size, pointer, size, dims)),
        ('add_blob', C(size, pointer, size, dims)),
        ('last_error', C(text)),
        ('fail', C(size, text)),
        ('create', C(size, pointer, text, text, text, size)),
        ('run', C(size, size, pointer, text, ctypes.POINTER(ctypes.c_bool))),
        ('destroy', C(None, size)),
    ]

fire = Table.from_address(address)

def check(ok):
    if not ok:
        raise RuntimeError(fire.last_error().decode())

class Layer:
    def __init__(self, *args):
        pass
    def reshape(self, bottom, top):
        pass
    def backward(self, top, propagate_down, bottom):
        pass

class Blob:
    def __init__(self, handle):
        self._handle = handle
    def _array(self, part):
        start = fire.elements_of(self._handle, part)
        check(start)
        view = (ctypes.c_float * self.count).from_address(start)
        if numpy is None:
            return memoryview(view).cast('B').cast('f', self.shape)
        return numpy.frombuffer(view, numpy.float32).reshape(self.shape)
    def _axis(self, i):
        return self.shape[i] if i < len(self.shape) else 1
    def reshape(self, *dims):
        check(fire.reshape(self._handle, *sizes(dims)) >= 0)
    data = property(lambda self: self._array(0))
    diff = property(lambda self: self._array(1))
    num = property(lambda self: self._axis(0))
    channels = property(lambda self: self._axis(1))
    height = property(lambda self: self._axis(2))
    width = property(lambda self: self._axis(3))
    @property
    def shape(self):
        dim = (ctypes.c_int64 * 32)()
        return tuple(dim[:fire.shape_of(self._handle, dim)])
    @property
    def count(self):
        n = 1
        for d in self.shape:
            n *= d
        return n

def sizes(dims):
    return len(dims), (ctypes.c_int64 * len(dims))(*dims)

class Blobs:
    def __init__(self, host, which):
        self._host, self._which = host, which
    def __len__(self):
        return fire.count_blobs(self._host.layer, self._which)
    def __getitem__(self, i):
        n = len(self)
        if not -n <= i < n:
            raise IndexError('blob %d of %d' % (i, n))
        return Blob(fire.find_blob(self._host.layer, self._which, i % n))
    def add_blob(self, *dims):
        check(fire.add_blob(self._host.layer, *sizes(dims)) >= 0)

class Phase(int):
    """caffe.TRAIN or caffe.TEST; scripts look settings up by str(self.phase)."""
    def __str__(self):
        return 'TEST' if self else 'TRAIN'

class Host:
    def __init__(self, layer, module, name, param_str, phase):
        self.layer = layer
        self.bottom, self.top = Blobs(self, 0), Blobs(self, 1)
        self.it = getattr(importlib.import_module(module), name)()
        self.it.param_str = self.it.param_str_ = param_str
        self.it.phase = Phase(phase)
        self.it.blobs = Blobs(self, 2)
    def run(self, layer, method, down):
        self.layer = layer
        if method == 'backward':
            down = [down[i] for i in range(len(self.bottom))]
            self.it.backward(self.top, down, self.bottom)
        else:
            getattr(self.it, method)(self.bottom, self.top)

hosts, ids = {}, itertools.count(1)

def create(layer, module, name, param_str, phase):
    id = next(ids)
    hosts[id] = Host(layer, module.decode(), name.decode(), param_str.decode(), phase)
    return id

def run(id, layer, method, down):
    hosts[id].run(layer, method.decode(), down)
    return 0

def destroy(id):
    del hosts[id]

# What Python 3 says of sources for Python 2 beside SyntaxError.
OLD = re.compile("""(name|named|attribute) '(xrange|unicode|basestring|raw_input|reduce|"""
                 """long|cPickle|cStringIO|StringIO|urllib2|Queue|iteritems|itervalues|"""
                 """iterkeys|has_key)'""")

def describe(error):
    at, trace, file = '', error.__traceback__, None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        at = ' (%s:%d)' % (file, trace.tb_lineno)
        trace = trace.tb_next
    old = ''
    if isinstance(error, SyntaxError) or OLD.search(str(error)):
        old = ('; if this is Python 2, of which no interpreter is here, convert it: '
               '2to3 -w %s' % (getattr(error, 'filename', None) or file))
    return '%s: %s%s%s' % (type(error).__name__, error, at, old)

def guarded(f):
    def call(*args):
        try:
            return f(*args)
        except BaseException as error:
            return fire.fail(describe(error).encode())
    return call

if '' not in sys.path:
    sys.path.insert(0, '')
try:
    import caffe
except ImportError:
    caffe = sys.modules['caffe'] = types.ModuleType('caffe')
    caffe.Layer, caffe.TRAIN, caffe.TEST = Layer, 0, 1

def export(name, function):
    setattr(fire, name, dict(Table._fields_)[name](function))

export('create', guarded(create))
export('run', guarded(run))
export('destroy', destroy)
