"""_order - from numbers of samples to items of a source, and to rows of arrays."""
import random
from contextlib import contextmanager

import numpy as np

END = object()  # of an iterator


def parts_of(item):
    """The arrays of an item."""
    return item if isinstance(item, (tuple, list)) else (item,)


@contextmanager
def random_kept():
    """Let what the script draws from `random` and numpy.random go on afterwards."""
    before = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])


class Order:
    """The items of a source by the numbers of samples, which count over all epochs."""

    def __init__(self, source, shuffle, seed, batch_size):
        self.source, self.shuffle, self.seed = source, shuffle, int(seed)
        self.indexed = hasattr(source, '__getitem__') and hasattr(source, '__len__')
        self.epoch, self.permutation = -1, None
        if self.indexed:
            if not len(source):
                raise ValueError('the source has no items')
        elif not hasattr(source, '__iter__'):
            raise TypeError('a source has __len__ and __getitem__, or __iter__; %s has not'
                            % type(source).__name__)
        elif shuffle:
            raise ValueError('an iterable cannot be shuffled; give it __len__ and '
                             '__getitem__')
        else:
            self.stream = Stream(source, 2 * batch_size)

    def shapes(self):
        """Those of the arrays of the first item."""
        with random_kept():
            return [np.shape(part) for part in parts_of(self.item(0))]

    def index(self, sample):
        """The number of the item."""
        if not self.indexed:
            return sample
        epoch, at = divmod(sample, len(self.source))
        if not self.shuffle:
            return at
        if epoch != self.epoch:  # RandomState gives the same numbers for ever
            self.epoch = epoch
            keys = [self.seed & 0xffffffff, self.seed >> 32 & 0xffffffff,
                    epoch & 0xffffffff]
            self.permutation = np.random.RandomState(keys).permutation(len(self.source))
        return int(self.permutation[at])

    def item(self, sample):
        index = self.index(sample)
        return self.source[index] if self.indexed else self.stream.item(sample)

    def fill(self, rows, sample, row):
        """Put the item of a sample into a row of arrays."""
        keys = [self.seed & 0xffffffff, sample & 0xffffffff, sample >> 32]
        random.seed(sample * 0x9e3779b97f4a7c15 + self.seed)
        np.random.seed(keys)
        parts = parts_of(self.item(sample))
        if len(parts) < len(rows):  # data without labels
            parts = (*parts, *[0] * (len(rows) - len(parts)))
        if len(parts) != len(rows):
            raise ValueError('item %d has %d arrays, not %d' %
                             (self.index(sample), len(parts), len(rows)))
        for array, part in zip(rows, parts):
            if np.shape(part) != array.shape[1:] and np.size(part) != array[row].size:
                raise ValueError('item %d has shape %s, not %s' %
                                 (self.index(sample), np.shape(part), array.shape[1:]))
            array[row] = np.reshape(part, array.shape[1:])


class Stream:
    """Items of an iterable by their numbers. The last ones are kept, as workers and lanes
    take turns; further back it begins again."""

    def __init__(self, source, keep):
        self.source, self.keep = source, keep
        self.begin()

    def begin(self):
        self.it, self.next, self.items = iter(self.source), 0, {}
        self.read = 0  # items of this epoch
        if self.it is self.source:  # an iterator: it cannot begin again
            self.source = None

    def item(self, sample):
        if sample < self.next and sample not in self.items:
            if self.source is None:
                raise self.ended()
            self.begin()
        while self.next <= sample:
            self.items[self.next] = self.advance()
            self.items.pop(self.next - self.keep, None)
            self.next += 1
        return self.items[sample]

    def advance(self):
        item = next(self.it, END)
        if item is END and self.source is not None and self.read:
            self.it, self.read = iter(self.source), 0
            item = next(self.it, END)
        if item is END:
            raise self.ended()
        self.read += 1
        return item

    @staticmethod
    def ended():
        return ValueError('the source has no more items; give an object with __iter__ '
                          'that can begin again')
