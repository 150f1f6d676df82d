"""nccl - pycaffe's class for training on several GPUs."""
from .errors import UnsupportedError
from ._settings import settings


def has_nccl():
    """False: solvers sum gradients over workers by themselves, also by NCCL where it is
    there. Start such scripts by mpirun."""
    return False


class NCCL:
    """What scripts for several GPUs add to a solver. A solver here exchanges gradients
    by itself, so there is nothing to do for one worker or under mpirun."""

    def __init__(self, solver, uid):
        self.solver = solver
        if settings.solver_count > 1 and solver.size != settings.solver_count:
            raise UnsupportedError(
                'this script starts %d workers by itself; start one process per worker '
                'by mpirun instead: mpirun -n %d python SCRIPT' %
                (settings.solver_count, settings.solver_count))

    @staticmethod
    def new_uid():
        """A name for a group of workers."""
        return b'mpirun'

    def bcast(self):
        """All workers have the same weights already."""
