"""Stubs of firecaffe.data."""
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caffe._layer import BlobVec, Layer
from caffe.pycaffe import Net
from caffe.solver import Solver

_Source = Any  # with __len__ and __getitem__, or with __iter__
AHEAD: int

class Feed:
    batch_size: int
    shapes: list[tuple[int, ...]]
    def __init__(self, source: _Source, batch_size: int, shuffle: bool = ..., workers: int = ...,
                 seed: int = ..., ahead: int | None = ...,
                 shapes: Sequence[Sequence[int]] | None = ...) -> None: ...
    def batch(self, samples: Sequence[tuple[int, int, int]]) -> list[NDArray[np.float32]]: ...
    def close(self) -> None: ...

def feed(net: Net | Solver, source: _Source, shuffle: bool = ..., workers: int = ...,
         seed: int = ..., ahead: int | None = ..., layer: str | None = ...) -> Feed: ...

class DataLayer(Layer):
    feed: Feed
