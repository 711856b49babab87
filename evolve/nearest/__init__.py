"""Programs that are near another one: by their sketches, and by the vectors of an embedding model.

Invariant: bytes and numbers in, keys out; nothing here knows of tasks, logs or models."""

from evolve.nearest.sketches import MINIMA, SketchIndex, bands_for, distance, sketch
from evolve.nearest.vectors import VectorIndex, packed

__all__ = ["MINIMA", "SketchIndex", "VectorIndex", "bands_for", "distance", "packed", "sketch"]
