"""Novelty of programs: fingerprints that tell which programs are the same or alike, and indexes that find the nearest one.

Bytes and numbers in, keys out; nothing here knows of tasks, logs or models."""

from evolve.novelty.fingerprints import DEFAULT_AXES, MinHash, describe, distance, minhash, signature
from evolve.novelty.indexes import SketchIndex, VectorIndex, pack_vector, sketch

__all__ = [
    "DEFAULT_AXES",
    "MinHash",
    "SketchIndex",
    "VectorIndex",
    "describe",
    "distance",
    "minhash",
    "pack_vector",
    "signature",
    "sketch",
]
