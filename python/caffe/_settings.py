"""_settings - what pycaffe keeps for the whole process: mode, device, seed, ranks."""
import os
import warnings

from . import _caffe


class Settings:
    """The values that nets and solvers are created with."""
    gpu     = None  # None: neither was asked for
    device  = 0
    seed    = None  # None: the engine's own
    threads = 0     # of the CPU per net; 0: as many as there are
    solver_count, solver_rank, multiprocess = 1, 0, False


settings = Settings()


def set_mode_cpu():
    """Nets and solvers that are created from now on compute on the CPU."""
    settings.gpu = False


def set_mode_gpu():
    """Nets that are created from now on compute on the GPU of set_device(). Where there
    is none they compute on the CPU, with a warning."""
    if not settings.gpu and not has_gpu():
        warnings.warn('there is no GPU here, or this build has no CUDA: computing on '
                      'the CPU', RuntimeWarning, stacklevel=2)
        return
    settings.gpu = True


def has_gpu():
    """Can nets compute on the GPU of set_device() here?"""
    from .errors import Error
    net = b"layer { type: 'Input' name: 'x' top: 'x' input_param { shape { dim: 1 } } }"
    try:
        _caffe._Net()._open(1, net, 1, 0, (), False, (), 1, 1, settings.device, None, None)
    except Error:
        return False
    return True


def set_device(device_id):
    """The GPU that set_mode_gpu() means: a number from 0 on."""
    if int(device_id) < 0:
        raise ValueError('GPUs are numbered from 0; this is %d' % device_id)
    settings.device = int(device_id)


def set_random_seed(seed):
    """The seed of nets that are created from now on: of fillers, Dropout, the order of
    data. The same seed gives the same numbers."""
    settings.seed = int(seed) & 0xffffffffffffffff


def solver_count():
    """Workers that train together."""
    return settings.solver_count


def set_solver_count(count):
    settings.solver_count = int(count)


def solver_rank():
    """This worker's number among them."""
    return settings.solver_rank


def set_solver_rank(rank):
    settings.solver_rank = int(rank)


def set_multiprocess(multiprocess):
    settings.multiprocess = bool(multiprocess)


def init_log(level=0, stderr=True):
    """Log messages of this level and above: 0 info, 1 warning, 2 error, 3 none. The log
    goes to stderr; the environment variable GLOG_minloglevel is the level at import."""
    _caffe._set_log_level(int(level))


def _level_at_import():
    try:
        return int(os.environ.get('GLOG_minloglevel', '0'))
    except ValueError:
        return 0


init_log(_level_at_import())
