"""_ring - batches in shared memory, which processes fill ahead of the training."""
import gc
import mmap
import multiprocessing
import os
import signal
import traceback
import warnings
import weakref
from multiprocessing import connection

import numpy as np

from caffe import WorkerError

from ._order import random_kept


_pipes = weakref.WeakSet()  # this process's ends of all


class Ring:
    """Slots in memory that this process and those of the workers share. A slot holds the
    batch of one pass; a wrong guess of what comes next costs time only."""

    def __init__(self, order, shapes, rows, workers, ahead):
        self.order = order
        sizes = [4 * rows * int(np.prod(shape, dtype=np.int64)) for shape in shapes]
        self.slots = []
        for _ in range(1 + (ahead if workers else 0)):
            memory = [mmap.mmap(-1, max(size, 1)) for size in sizes]
            self.slots.append([np.frombuffer(m, np.float32, size // 4).reshape(rows, *shape)
                               for m, size, shape in zip(memory, sizes, shapes)])
        self.free = list(range(len(self.slots)))
        self.owner = {}    # (first, stride, n): its slot
        self.done = {}     # slot: None, or what went wrong
        self.now = None    # whose slot the net reads
        self.crew = _Crew(order, self.slots, workers) if workers else None

    def get(self, samples):
        samples = [tuple(s) for s in samples]
        n = samples[0][2]
        if n > len(self.slots[0][0]):
            raise ValueError('%d rows of a batch of %d' % (n, len(self.slots[0][0])))
        slot = self._load(samples[0]) if self.crew is None else self._wait(samples)
        return [array[:n] for array in self.slots[slot]]

    def _load(self, key):
        """Without workers."""
        with random_kept():
            _fill(self.order, self.slots[0], key)
        return 0

    def _wait(self, samples):
        wanted = dict.fromkeys(samples[:len(self.slots)])
        if self.now not in wanted:
            self._give_back(self.now)
        for key in [key for key in self.owner if key not in wanted]:
            if self.owner[key] in self.done:
                self._give_back(key)
        self.now = samples[0]
        while True:
            for key in wanted:
                if key not in self.owner and self.free:
                    self.owner[key] = self.free.pop(0)
                    self.crew.send(self.owner[key], key)
            slot = self.owner.get(self.now)
            if slot in self.done:
                break
            for ended, error in self.crew.wait():
                self.done[ended] = error
            for key in [key for key, at in self.owner.items()
                        if at in self.done and key not in wanted]:
                self._give_back(key)
        error = self.done[slot]
        if error is not None:
            self._give_back(self.now)
            raise error
        return slot

    def _give_back(self, key):
        slot = self.owner.pop(key, None)
        if slot is not None:
            self.done.pop(slot, None)
            self.free.append(slot)

    def close(self):
        if self.crew is not None:
            self.crew.close()


def _fill(order, arrays, key):
    first, stride, n = key
    for row in range(n):
        order.fill(arrays, first + row * stride, row)


class _Traceback(Exception):
    """The traceback of a worker, as text: the cause of what is raised here."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return '\n' + self.text


class _Crew:
    """Processes that fill slots, each with a pipe of its own."""

    def __init__(self, order, slots, workers):
        context = multiprocessing.get_context('fork')
        self.pipes, self.processes, self.tasks = [], [], []
        for _ in range(workers):
            mine, theirs = context.Pipe()
            _pipes.add(mine)
            process = context.Process(target=_work, args=(theirs, order, slots), daemon=True)
            with warnings.catch_warnings():  # that this process has threads
                warnings.simplefilter('ignore', DeprecationWarning)
                process.start()
            theirs.close()
            self.pipes.append(mine)
            self.processes.append(process)
            self.tasks.append(0)
        self.close = weakref.finalize(self, _end, self.pipes, self.processes, os.getpid())

    def send(self, slot, key):
        """Give a task to the process that has the fewest."""
        worker = self.tasks.index(min(self.tasks))
        self.tasks[worker] += 1
        try:
            self.pipes[worker].send((slot, key))
        except OSError:
            raise self._lost(worker) from None

    def wait(self):
        """[(slot, None or an exception)] of tasks that have ended; at least one."""
        ended = []
        if not self.close.alive:
            raise WorkerError('the feed was closed')
        for pipe in connection.wait(self.pipes):
            worker = self.pipes.index(pipe)
            try:
                slot, error = pipe.recv()
            except (EOFError, OSError):
                raise self._lost(worker) from None
            self.tasks[worker] -= 1
            if error is not None:
                error, text = error
                error.__cause__ = _Traceback(text)
            ended.append((slot, error))
        return ended

    def _lost(self, worker):
        process = self.processes[worker]
        process.join(1)
        return WorkerError('process %d, which loads data, ended with code %s' %
                           (process.pid, process.exitcode))


def _end(pipes, processes, pid):
    if os.getpid() != pid:  # in a process that was forked meanwhile
        return
    for pipe in pipes:
        try:
            pipe.send(None)
        except OSError:
            pass
        pipe.close()
    for process in processes:
        process.join(5)
        if process.is_alive():
            process.kill()
            process.join()


def _work(pipe, order, slots):
    """A worker: fill slots until None comes or the pipe is closed."""
    gc.freeze()  # nets that it has inherited are the parent's to end
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in _pipes:  # else nobody would see that the parent has ended
        other.close()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        if task is None:
            return
        (slot, key), error = task, None
        try:
            _fill(order, slots[slot], key)
        except BaseException as e:
            error = e, traceback.format_exc()
        try:
            pipe.send((slot, error))
        except OSError:
            return
        except Exception:  # it cannot be pickled
            pipe.send((slot, (RuntimeError(repr(error[0])), error[1])))
