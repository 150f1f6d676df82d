"""Stubs of caffe.onnx."""
import os
from collections.abc import Mapping, Sequence
from typing import Any

from .pycaffe import Net

_Path = str | bytes | os.PathLike[Any]

def export(net: Net, filename: _Path, opset: int = ..., batch: int | None = ..., fold: bool = ...,
           custom_ops: bool = ..., with_transform: bool = ..., rgb: bool = ...,
           external: bool = ...) -> None: ...
def load(filename: _Path, phase: int = ..., batch: int | None = ...,
         shapes: Mapping[str, Sequence[int]] | None = ..., folder: _Path | None = ...,
         **options: Any) -> Net: ...
