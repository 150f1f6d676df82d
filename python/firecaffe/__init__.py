"""firecaffe - what the engine has beyond Caffe; the rest is the package caffe."""
from caffe import __version__  # noqa: F401

from .data import DataLayer, Feed, feed  # noqa: F401
