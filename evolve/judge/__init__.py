"""Judging: the only place where a score comes into being."""

from evolve.judge.candidate import Candidate
from evolve.judge.evaluator import evaluator
from evolve.judge.executor import LocalExecutor
from evolve.judge.job import (
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
from evolve.judge.module import TaskModule, task_module

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
