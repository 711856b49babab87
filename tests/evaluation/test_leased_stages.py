"""Judging on devices that several judges compete for, with real processes; the GPUs are a library that is none."""

import json
import os
import shutil
import sys
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from judge_fakes import written_task

from evolve.devices.leases import Grant, Locks
from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.evaluation import executor as executor_module
from evolve.types import Grants, Limits, Needs, Outcome, Stage, TaskError

sys.path.insert(0, str(Path(__file__).parents[1] / "devices"))
from nvidia_fakes import GPUS, NAME, UUIDS, built_library

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

TELLING = """
import time
from evolve import Candidate, Evaluation, Trial, evaluator

@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    begun = time.monotonic()
    seen = candidate.call("seen")
    return Evaluation.ok(1.0, artifacts={"seen": seen, "begun": begun, "ended": time.monotonic(), "device": trial.device})
"""
MEETING = """
    import os
    from pathlib import Path
    (Path({folder!r}) / str(os.getpid())).touch()
    while len(os.listdir({folder!r})) < 2 and time.monotonic() < begun + 15:
        time.sleep(0.01)
"""
"""Lines by which the first candidate stays until a second judge has begun, however late that starts."""
SEEN = """
import os, time
def seen():
    time.sleep(0.03)
    return [os.environ.get("CUDA_VISIBLE_DEVICES", "none"), sorted(os.sched_getaffinity(0))]
"""


def submitted(executor, count):
    jobs = [Job(str(number), "evaluate", files={"seed.py": SEEN}) for number in range(count)]
    return [executor.submit(job.id, encode_job(job)) for job in jobs]


def told(report, name):
    return json.loads(report.texts[report.evaluation.artifacts[name]])


@pytest.fixture
def leases(tmp_path_factory):
    """A folder of leases that no other engine knows, and that is no part of a task."""
    return tmp_path_factory.mktemp("leases")


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_two_candidates_never_have_one_gpu_at_a_time(tmp_path, leases, monkeypatch):
    """Three judges, two GPUs: each candidate sees the one that was leased for it, and its score says which model it ran on."""
    built_library(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(executor_module, "find_gpus", lambda: list(GPUS))
    (tmp_path / "task").mkdir()
    (tmp_path / "workers").mkdir()
    stages = (Stage("evaluate", 20.0, needs=Needs(gpus=1)),)
    text = TELLING.replace("    seen =", MEETING.format(folder=str(tmp_path / "workers")) + "    seen =")
    task = written_task(tmp_path / "task", text, stages=stages, limits=Limits(grants=Grants(gpu=1)))
    executor = LocalExecutor(task, 3, devices=Grant(folder=str(leases)))
    try:
        assert executor.describe().hardware.endswith(f"; {NAME}")
        assert [executor.capacity(Needs(gpus=count)) for count in (0, 2, 3)] == [3, 3, 0]
        reports = [decode_report(future.result(60)) for future in submitted(executor, 8)]
    finally:
        executor.close()
    assert {report.evaluation.outcome for report in reports} == {Outcome.OK}
    assert {report.evaluation.device for report in reports} == {NAME}
    assert all("driver 550.54.15" in report.evaluation.environment for report in reports)
    uses = sorted((told(report, "seen")[0], told(report, "begun"), told(report, "ended")) for report in reports)
    assert {uuid for uuid, _, _ in uses} == set(UUIDS)
    for (uuid, _, ended), (after, begun, _) in pairwise(uses):
        assert uuid != after or ended <= begun


def test_a_judge_that_waits_for_the_machine_is_not_late(tmp_path, leases):
    """It waits longer than its job may last, and then has all its time; what it waited is nobody's."""
    stages = (Stage("evaluate", 1.0, needs=Needs(exclusive=True)),)
    executor = LocalExecutor(written_task(tmp_path, TELLING, stages=stages), 1, 0.5, devices=Grant(folder=str(leases)))
    try:
        executor.describe()
        with Locks(leases).acquire([], "somebody else", alone=False):
            (future,) = submitted(executor, 1)
            threading.Event().wait(2.0)
            assert not future.done()
        evaluation = decode_report(future.result(30)).evaluation
    finally:
        executor.close()
    assert evaluation.outcome is Outcome.OK
    assert evaluation.seconds < 1.0
    assert "; cores " in evaluation.environment


def test_a_candidate_is_kept_to_the_cores_that_its_stage_has_leased(tmp_path, leases):
    """And to no fewer than it may use before and after."""
    cores = sorted(os.sched_getaffinity(0))
    stages = (Stage("evaluate", 20.0, needs=Needs(exclusive=True)),)
    executor = LocalExecutor(written_task(tmp_path, TELLING, stages=stages), 1, devices=Grant(folder=str(leases)))
    try:
        (future,) = submitted(executor, 1)
        report = decode_report(future.result(30))
    finally:
        executor.close()
    assert told(report, "seen")[1] == cores[:1]


def test_gpus_of_two_models_are_not_mixed(tmp_path, monkeypatch):
    """Their scores would not compare."""
    mixed = [GPUS[0], replace(GPUS[1], name="Another GPU")]
    monkeypatch.setattr(executor_module, "find_gpus", lambda: mixed)
    task = written_task(tmp_path, TELLING, limits=Limits(grants=Grants(gpu=1)))
    with pytest.raises(TaskError, match=r"there are Another GPU, Fake H100 80GB: .* such as --devices gpu:0"):
        LocalExecutor(task, 1)
