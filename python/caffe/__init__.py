"""caffe - Caffe's Python interface, on the engine of FireCaffe.

    import caffe
    net = caffe.Net('deploy.prototxt', caffe.TEST, weights='net.caffemodel')
    out = net.forward(data=images)

Nets: Net, Classifier, Detector. Training: SGDSolver and the others, get_solver. Writing
nets: NetSpec, layers, params, to_proto. Images: io. Messages: proto.caffe_pb2. Failures
are caffe.Error. docs/guide/python.md tells more.
"""
from . import _caffe
from ._caffe import Blob, layer_type_list, log
from ._layer import BlobVec, Layer, RawBlobVec
from ._settings import (has_gpu, init_log, set_device, set_mode_cpu, set_mode_gpu,
                        set_multiprocess, set_random_seed, set_solver_count,
                        set_solver_rank, solver_count, solver_rank)
from .errors import (DeviceError, Error, FileError, LayerError, OutOfMemoryError,
                     ParseError, ShapeError, UnsupportedError, WorkerError)
from .pycaffe import Net
from .proto.caffe_pb2 import TEST, TRAIN
from . import io, onnx
from .classifier import Classifier
from .detector import Detector
from .net_spec import NetSpec, layers, params, to_proto
from .nccl import NCCL, has_nccl
from .solver import (AdaDeltaSolver, AdaGradSolver, AdamSolver, NesterovSolver,
                     RMSPropSolver, SGDSolver, Solver, get_solver)
from .timer import Timer
from .workers import Trainer

__version__ = _caffe._version

# The names that scripts know as those of the extension.
for _name in ('Net', 'Layer', 'BlobVec', 'RawBlobVec', 'Solver', 'SGDSolver',
              'NesterovSolver', 'AdaGradSolver', 'RMSPropSolver', 'AdaDeltaSolver',
              'AdamSolver', 'NCCL', 'Timer', 'get_solver', 'set_mode_cpu',
              'set_mode_gpu', 'set_device', 'set_random_seed', 'init_log', 'has_nccl',
              'solver_count', 'solver_rank', 'set_solver_count', 'set_solver_rank',
              'set_multiprocess', '__version__'):
    setattr(_caffe, _name, globals()[_name])
# Boost's lists are Python's here.
for _name in ('LayerVec', 'NetVec', 'StringVec', 'IntVec', 'DtypeVec', 'BoolVec'):
    setattr(_caffe, _name, list)
del _name


def __getattr__(name):
    """caffe.rank and caffe.size: this worker's number, and how many there are."""
    if name in ('rank', 'size'):
        from . import _job
        return getattr(_job.comm(), name)
    raise AttributeError('module "caffe" has no attribute "%s"' % name)
