from . import coord_map as coord_map, draw as draw, io as io, onnx as onnx, proto as proto
from ._caffe import Blob as Blob, layer_type_list as layer_type_list, log as log
from ._layer import BlobVec as BlobVec, Layer as Layer, RawBlobVec as RawBlobVec
from ._settings import (has_gpu as has_gpu, init_log as init_log, set_device as set_device,
    set_mode_cpu as set_mode_cpu, set_mode_gpu as set_mode_gpu,
    set_multiprocess as set_multiprocess, set_random_seed as set_random_seed,
    set_solver_count as set_solver_count, set_solver_rank as set_solver_rank,
    solver_count as solver_count, solver_rank as solver_rank)
from .classifier import Classifier as Classifier
from .detector import Detector as Detector
from .errors import (DeviceError as DeviceError, Error as Error, FileError as FileError,
    LayerError as LayerError, OutOfMemoryError as OutOfMemoryError,
    ParseError as ParseError, ShapeError as ShapeError,
    UnsupportedError as UnsupportedError, WorkerError as WorkerError)
from .nccl import NCCL as NCCL, has_nccl as has_nccl
from .net_spec import (NetSpec as NetSpec, layers as layers, params as params,
    to_proto as to_proto)
from .pycaffe import Net as Net
from .solver import (AdaDeltaSolver as AdaDeltaSolver, AdaGradSolver as AdaGradSolver,
    AdamSolver as AdamSolver, NesterovSolver as NesterovSolver,
    RMSPropSolver as RMSPropSolver, SGDSolver as SGDSolver, Solver as Solver,
    get_solver as get_solver)
from .timer import Timer as Timer
from .workers import Trainer as Trainer

TRAIN: int
TEST: int
rank: int
size: int
__version__: str
