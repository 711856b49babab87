"""Evaluation of programs: the only place where a score comes into being.

The names here are those of executors. Evaluators have theirs from `evolve`; an engine does not import what only a worker needs."""

from evolve.evaluation.executor import LocalExecutor
from evolve.evaluation.job import (
    Charge,
    Description,
    Job,
    Report,
    decode_job,
    decode_message,
    decode_report,
    encode_job,
    encode_message,
    encode_report,
    internal_report,
)

__all__ = [
    "Charge",
    "Description",
    "Job",
    "LocalExecutor",
    "Report",
    "decode_job",
    "decode_message",
    "decode_report",
    "encode_job",
    "encode_message",
    "encode_report",
    "internal_report",
]
