"""_job - the workers of an MPI job that this process belongs to. It is joined when a
solver is created, or rank or size are asked for; import alone opens no MPI."""
import atexit
import gc
import sys
import weakref

from . import _caffe

trainings = weakref.WeakSet()  # those that have not ended yet
_comm = None


def comm():
    """What this process holds of its job; alone if no launcher has started it."""
    global _comm
    if _comm is None:
        _comm = _caffe._join_job()
        atexit.register(_leave)
    return _comm


def comm_or_none():
    """The job if it has more than one worker."""
    return comm() if comm().size > 1 else None


def _leave():
    """At exit: end what uses the job, then the job. If this process ends with an
    exception, those that wait for it fail."""
    if hasattr(sys, 'last_type'):
        _comm._fail()
    gc.collect()
    for training in list(trainings):
        training._close()
    _comm._close()
