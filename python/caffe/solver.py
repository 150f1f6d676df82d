"""solver - training: solvers, their settings, callbacks, snapshots."""
import os
import signal
import threading
from contextlib import contextmanager

from google.protobuf import text_format

from . import _caffe, _job
from ._settings import settings
from .proto import caffe_pb2
from .pycaffe import FILE, MESSAGE, Net, drawn, names_of, path_of, source_of

GO_ON, SNAPSHOT, STOP = range(3)  # what to ask a training run for
_GPU_OF_SOLVER, _NO_GPU = -2, -1
_EVENTS = ['start', 'iteration', 'display', 'test', 'snapshot', 'done']


class _Training(_caffe._Trainer):
    """The engine's side of a solver, which its nets keep. It calls the callbacks."""

    def __init__(self):
        self.starts, self.readies, self.listeners = [], [], []
        self.kept = {}  # by net: what brings the samples of its layers
        _job.trainings.add(self)

    def watch(self):
        events = sum(1 << _EVENTS.index(kind) for kind in
                     {kind for kinds, _ in self.listeners for kind in kinds})
        self._watch(bool(self.starts), bool(self.readies), events)

    def _on_start(self):
        for run in self.starts:
            run()

    def _on_gradients_ready(self):
        for run in self.readies:
            run()

    def _on_event(self, event):
        for kinds, run in self.listeners:
            if event['kind'] in kinds:
                run(event)


class SolverParam:
    """The settings of a solver, by their names in the prototxt. Those that make sense
    while it trains can be written: solver.param.base_lr = 0.001."""

    def __init__(self, training):
        object.__setattr__(self, '_training', training)

    def _message(self):
        return text_format.Parse(self._training._text(), caffe_pb2.SolverParameter())

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return getattr(self._message(), name)

    def __setattr__(self, name, value):
        message = caffe_pb2.SolverParameter()
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise AttributeError('a solver has no setting "%s"' % name)
        if hasattr(getattr(message, name), 'extend'):
            getattr(message, name).extend(value)
        else:
            setattr(message, name, value)
        self._training._set(text_format.MessageToString(message))

    def __dir__(self):
        return [f.name for f in caffe_pb2.SolverParameter.DESCRIPTOR.fields]

    def __str__(self):
        return self._training._text()


def _with_type(source, kind):
    """The source of a solver, with what Python has to say about it: the type of its
    class, and the seed of set_random_seed() where the solver has none."""
    form, data = source
    message = caffe_pb2.SolverParameter()
    if form == MESSAGE:
        message.MergeFromString(data)
    else:
        try:
            with open(data, 'rb') if form == FILE else _Text(data) as file:
                text_format.Parse(file.read(), message)
        except (OSError, text_format.ParseError):
            return source  # the engine says what is wrong, with line and column
    seed = settings.seed
    its_type = message.type
    if message.HasField('solver_type'):
        names = ['SGD', 'Nesterov', 'AdaGrad', 'RMSProp', 'AdaDelta', 'Adam']
        its_type = names[message.solver_type]
    if ((kind is None or kind == its_type) and
            (seed is None or message.HasField('random_seed'))):
        return source
    message.ClearField('solver_type')
    message.type = kind or its_type
    if seed is not None and not message.HasField('random_seed'):
        message.random_seed = seed & 0x7fffffffffffffff
    if form == FILE and not message.HasField('snapshot_prefix'):
        message.snapshot_prefix = os.path.splitext(os.fsdecode(data))[0]
    return MESSAGE, message.SerializeToString()


class _Text:
    """Bytes as an open file."""

    def __init__(self, data):
        self.data = data

    def read(self):
        return self.data

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


@contextmanager
def _interruptible(training):
    """Let Ctrl-C stop training after the iteration that runs; KeyboardInterrupt is
    raised then, and the solver can go on. A second Ctrl-C is raised where it comes."""
    if (threading.current_thread() is not threading.main_thread() or
            signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
        yield
        return
    caught = []

    def note(signum, frame):
        if caught:
            raise KeyboardInterrupt
        caught.append(signum)
        training._request(STOP)
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        training._request(GO_ON)
    if caught:
        raise KeyboardInterrupt


class Solver:
    """A training run: what a solver.prototxt says.

        solver = caffe.get_solver('solver.prototxt')
        solver.step(100)
        print(solver.net.blobs['loss'].data)

    solver_file: a path; or the text of a solver, a SolverParameter or its bytes. fire:
    text of a FireParameter that replaces settings in the solver's fire { }, as "lanes:
    8". observe: names of blobs of the training net; only inputs, outputs, parameters and
    these have values after a step then, which saves memory and some time; lean=True is
    observe=[]. threads: of the CPU. kernels: as the program's option. Under mpirun every process is a
    worker (caffe.rank, caffe.size), and all make the same calls.
    """

    _type = None  # of the class; None: what the solver says

    def __init__(self, solver_file, fire=None, observe=None, lean=False, threads=None,
                 kernels=None, comm=None):
        self._training = _Training()
        gpu = (_GPU_OF_SOLVER if settings.gpu is None else
               settings.device if settings.gpu else _NO_GPU)
        self._training._open(*_with_type(source_of(solver_file), self._type),
                             comm if comm is not None else _job.comm_or_none(), fire,
                             lean or observe is not None, names_of(observe), gpu,
                             settings.threads if threads is None else threads, kernels)
        self._training.watch()
        self.net = Net._of_trainer(self._training, -1)
        self.test_nets = [Net._of_trainer(self._training, i)
                          for i in range(self._training._look()[8])]
        self.param = SolverParam(self._training)

    def __repr__(self):
        return '<caffe.%s: %s, iteration %d>' % (type(self).__name__, self.type, self.iter)

    # ---- looking ----

    @property
    def type(self):
        """The update rule: 'SGD', 'Adam', ..."""
        return self._training._look()[0]

    @property
    def iter(self):
        """Iterations done. Writing it moves learning rate, tests and snapshots."""
        return self._training._look()[1]

    @iter.setter
    def iter(self, iter):
        self._training._set_iter(int(iter))

    @property
    def lr(self):
        """The learning rate. Writing it sets the rate from the next iteration on; None:
        by lr_policy again."""
        return self._training._look()[2]

    @lr.setter
    def lr(self, rate):
        self._training._set_rate(-1.0 if rate is None else float(rate))

    @property
    def loss(self):
        """Mean loss of the last average_loss iterations."""
        return self._training._look()[3]

    @property
    def rank(self):
        """This worker's number."""
        return self._training._look()[4]

    @property
    def size(self):
        """Workers that train together."""
        return self._training._look()[5]

    def plot(self, filename=None):
        """The curves of the training so far (loss, learning rate, tests, speed) and the
        net, as the page that `firecaffe report` makes: written to a .html file, or its
        text if there is none, which a notebook shows."""
        return drawn(self._training._plot, filename, '.html')

    # ---- training ----

    def step(self, iterations):
        """Train so many iterations, with display, tests and snapshots as the solver
        asks. Other Python threads go on meanwhile."""
        with _interruptible(self._training):
            self._training._step(int(iterations))

    def solve(self, resume_file=None):
        """Train up to max_iter, from a .solverstate if one is given."""
        if resume_file is not None:
            self.restore(resume_file)
        with _interruptible(self._training):
            self._training._solve()

    def apply_update(self):
        """Apply the gradients in the diffs of the parameters. The number of iterations
        stays as it is."""
        iter = self.iter
        self._training._update()
        self._training._set_iter(iter)

    def test(self, test_net=0):
        """Run a test net over its test_iter batches. Returns {output: mean}."""
        found = {}
        listener = (('test',), lambda e: found.__setitem__(e['name'], e['value']))
        self._training.listeners.append(listener)
        self._training.watch()
        try:
            self._training._test(int(test_net))
        finally:
            self._training.listeners.remove(listener)
            self._training.watch()
        return found

    def share_weights(self, net):
        """Use the parameters of another net's layers of the same name."""
        self._training._share(net)

    # ---- callbacks ----

    def add_callback(self, on_start, on_gradients_ready=None):
        """Call on_start() before each iteration, and on_gradients_ready() when its
        gradients are in the diffs, before the update. An exception of one is raised
        when the iteration is done."""
        from .nccl import NCCL
        if isinstance(on_start, NCCL):
            return  # the solver sums gradients over workers by itself
        self._training.starts.append(on_start)
        if on_gradients_ready is not None:
            self._training.readies.append(on_gradients_ready)
        self._training.watch()

    def listen(self, run, *kinds):
        """Call run(event) at every event of these kinds: 'start', 'iteration',
        'display', 'test', 'snapshot', 'done' (all but 'iteration' if none is given). An
        event is a dict with kind, iter, loss, lr, ..."""
        for kind in kinds:
            if kind not in _EVENTS:
                raise ValueError('events are %s, not %s' % (', '.join(_EVENTS), kind))
        kinds = kinds or tuple(kind for kind in _EVENTS if kind != 'iteration')
        self._training.listeners.append((kinds, run))
        self._training.watch()

    # ---- files ----

    def snapshot(self):
        """Write model and state: <snapshot_prefix>_iter_<n>.caffemodel, .solverstate."""
        self._training._snapshot()

    def restore(self, state_file):
        """Continue from a .solverstate (or .solverstate.h5) and its model."""
        self._training._restore(path_of(state_file))

    def resume(self):
        """Continue from the newest complete snapshot. Returns False if there is none."""
        return self._training._resume()

    def load_weights(self, *files):
        """Load weights from model files, for fine-tuning."""
        self._training._load(b','.join(path_of(file) for file in files))


class SGDSolver(Solver):
    _type = 'SGD'


class NesterovSolver(SGDSolver):
    _type = 'Nesterov'


class AdaGradSolver(SGDSolver):
    _type = 'AdaGrad'


class RMSPropSolver(SGDSolver):
    _type = 'RMSProp'


class AdaDeltaSolver(SGDSolver):
    _type = 'AdaDelta'


class AdamSolver(SGDSolver):
    _type = 'Adam'


_CLASSES = {c._type: c for c in (SGDSolver, NesterovSolver, AdaGradSolver,
                                 RMSPropSolver, AdaDeltaSolver, AdamSolver)}


def get_solver(solver_file, **options):
    """The solver of the type that a solver file (text, message) says."""
    solver = Solver(solver_file, **options)
    solver.__class__ = _CLASSES.get(solver.type, Solver)
    return solver
