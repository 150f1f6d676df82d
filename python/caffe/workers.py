"""workers - several workers that train together, as threads of this process."""
import queue
import threading
import weakref

from . import _caffe
from .errors import Error, WorkerError
from .solver import _interruptible, get_solver


class _Crew:
    """The threads of a Trainer. Each has a solver of its own, takes functions from its
    queue, runs them on its solver and hands in what they return."""

    def __init__(self, workers, make, threads):
        self.solvers = [None] * workers
        self.make = make
        self.tasks = [queue.SimpleQueue() for _ in range(workers)]
        self.answers = queue.SimpleQueue()
        self.failed = None
        self.thread = threading.Thread(target=self.run, args=(threads,), daemon=True)
        self.thread.start()
        self.collect()

    def run(self, threads):
        try:
            _caffe._run_threads(len(self.solvers), threads, self.work)
        except BaseException:  # the worker that failed has handed it in
            pass

    def work(self, comm):
        rank, error = comm.rank, None
        try:
            self.solvers[rank] = self.make(comm)
        except BaseException as e:
            error = e
        self.answers.put((rank, None, error))
        if error is not None:
            raise error
        while True:
            task = self.tasks[rank].get()
            if task is None:
                break
            try:
                self.answers.put((rank, task(self.solvers[rank]), None))
            except BaseException as e:
                self.answers.put((rank, None, e))
            del task
        self.solvers[rank]._training._close()  # before the communicator ends

    def collect(self):
        """The answers of all workers, by rank; raises the failure that came first, or
        the cause if others failed because of it."""
        answers, errors = [None] * len(self.solvers), []
        for _ in self.solvers:
            rank, answer, error = self.answers.get()
            answers[rank] = answer
            if error is not None:
                errors.append(error)
        errors.sort(key=lambda e: isinstance(e, WorkerError))  # keeps their order
        if errors:
            if any(isinstance(e, Error) for e in errors):
                self.failed = errors[0]
            raise errors[0]
        return answers

    def do(self, task):
        if self.failed is not None:
            raise Error('these workers have failed: %s' % self.failed)
        for tasks in self.tasks:
            tasks.put(task)
        return self.collect()


def _dismiss(tasks):
    for one in tasks:
        one.put(None)


class Trainer:
    """Several workers that train one net together, as `firecaffe train --workers N`
    does: each takes its share of every batch, gradients are summed, all have the same
    weights.

        trainer = caffe.Trainer('solver.prototxt', workers=4, fire='lanes: 8')
        trainer.step(100)
        trainer.snapshot()

    The result depends on lanes (of fire { } in the solver), not on the number of
    workers. To train on several machines, start the script by mpirun and use a solver.
    """

    def __init__(self, solver_file, workers=1, fire=None, lean=False, threads=0):
        if int(workers) < 1:
            raise ValueError('a trainer needs a worker at least, not %d' % workers)
        self._crew = _Crew(int(workers), lambda comm: get_solver(
            solver_file, comm=comm, fire=fire, lean=lean), threads)
        # the threads do not hold the trainer: it ends with its last user
        self._end = weakref.finalize(self, _dismiss, self._crew.tasks)

    def each(self, function):
        """Call function(solver) in every worker, at the same time; returns what the
        calls return, by rank. All workers must do the same with their solvers."""
        with _interruptible(self.solver._training):
            return self._crew.do(function)

    def close(self):
        """End the workers. The nets cannot be used any more."""
        if self._end.alive:
            self._end()
            self._crew.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def solver(self):
        """The solver of worker 0, to look at."""
        return self._crew.solvers[0]

    @property
    def size(self):
        """Number of workers."""
        return len(self._crew.solvers)

    net = property(lambda self: self.solver.net, doc='The training net of worker 0.')
    test_nets = property(lambda self: self.solver.test_nets, doc='Those of worker 0.')
    type = property(lambda self: self.solver.type, doc='The update rule.')
    loss = property(lambda self: self.solver.loss, doc='Mean loss of the last iterations.')
    iter = property(lambda self: self.solver.iter, doc='Iterations done.')

    @property
    def lr(self):
        """The learning rate; can be written."""
        return self.solver.lr

    @lr.setter
    def lr(self, rate):
        self.each(lambda solver: setattr(solver, 'lr', rate))

    def set(self, **settings):
        """Change settings of the solver: trainer.set(momentum=0.8)."""
        def change(solver):
            for name, value in settings.items():
                setattr(solver.param, name, value)
        self.each(change)

    def plot(self, filename=None):
        """The curves of the training so far, as Solver.plot()."""
        return self.solver.plot(filename)

    def step(self, iterations):
        """Train so many iterations."""
        self.each(lambda solver: solver.step(iterations))

    def solve(self, resume_file=None):
        """Train up to max_iter, from a .solverstate if one is given."""
        self.each(lambda solver: solver.solve(resume_file))

    def snapshot(self):
        """Write model and state."""
        self.each(lambda solver: solver.snapshot())

    def restore(self, state_file):
        """Continue from a .solverstate and its model."""
        self.each(lambda solver: solver.restore(state_file))

    def resume(self):
        """Continue from the newest complete snapshot. Returns False if there is none."""
        return self.each(lambda solver: solver.resume())[0]

    def test(self, test_net=0):
        """Run a test net. Returns {output: mean}."""
        return self.each(lambda solver: solver.test(test_net))[0]

    def load_weights(self, *files):
        """Load weights from model files, for fine-tuning."""
        self.each(lambda solver: solver.load_weights(*files))
