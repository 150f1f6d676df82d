"""Caffe's messages: NetParameter, LayerParameter, SolverParameter, Datum, ..."""
from typing import Any

TRAIN: int
TEST: int
NetParameter: Any
LayerParameter: Any
SolverParameter: Any
BlobProto: Any
Datum: Any
def __getattr__(name: str) -> Any: ...
