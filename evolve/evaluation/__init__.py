"""Judging: the only place where a score comes into being."""

from evolve.evaluation.candidate import Candidate
from evolve.evaluation.evaluator import evaluator
from evolve.evaluation.executor import LocalExecutor
from evolve.evaluation.job import (
    Description,
    Job,
    Report,
    decode_description,
    decode_job,
    decode_report,
    encode_description,
    encode_job,
    encode_report,
)
from evolve.evaluation.module import TaskModule, task_module

__all__ = [
    "Candidate",
    "Description",
    "Job",
    "LocalExecutor",
    "Report",
    "TaskModule",
    "decode_description",
    "decode_job",
    "decode_report",
    "encode_description",
    "encode_job",
    "encode_report",
    "evaluator",
    "task_module",
]
