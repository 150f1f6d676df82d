"""Stubs of firecaffe."""
from .data import DataLayer as DataLayer, Feed as Feed, feed as feed

__version__: str
