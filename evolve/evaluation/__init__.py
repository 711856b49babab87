"""Evaluation of programs: the only place where a score comes into being.

The names here are those of executors. Evaluators have theirs from `evolve`; an engine does not import what only a worker needs."""

from evolve.evaluation.executor import LocalExecutor
from evolve.evaluation.job import (
    Description,
    Job,
    Report,
    decode_job,
    decode_report,
    encode_job,
    encode_report,
)

__all__ = [
    "Description",
    "Job",
    "LocalExecutor",
    "Report",
    "decode_job",
    "decode_report",
    "encode_job",
    "encode_report",
]
