"""Program of an evaluation worker: a task in, a description out, then a report for each job."""

import contextlib
import subprocess
import sys
import threading
import time
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "evaluation"))
from judge_fakes import ANSWERING, FakeBox, small_task, written_task

from evolve.evaluation import Job, decode_report, encode_job
from evolve.evaluation.job import Charge, Description, decode_message, encode_message
from evolve.evaluation.provenance import task_version
from evolve.evaluation.worker import load_evaluator, serve
from evolve.plugins import load
from evolve.types import ConfigError, EvaluatorSource, Outcome, SandboxError, Stage, TaskError


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch):
    """A worker puts the task's folder first on the module path, and its evaluator among the modules."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "evolve_task_evaluator", None)


def served(task, *jobs, box=None):
    """The description and the reports of a worker with this box."""
    engine, worker = Pipe()
    box = FakeBox({"answer": 2.0}) if box is None else box
    thread = threading.Thread(target=lambda: _serve_and_close(worker, lambda charge, devices: box))
    thread.start()
    with engine:
        engine.send_bytes(encode_message(Charge(task)))
        with contextlib.suppress(BrokenPipeError):  # a worker without an evaluator ends before it reads a job
            for frame in [*map(encode_job, jobs), b""]:
                engine.send_bytes(frame)
        frames = list(_frames(engine))
    thread.join()
    return decode_message(Description, frames[0]), [decode_report(frame) for frame in frames[1:]]


def _frames(engine):
    with contextlib.suppress(EOFError, ConnectionResetError):
        while True:
            yield engine.recv_bytes()


def _serve_and_close(worker, make_box):
    with worker:
        serve(worker, make_box)


_BESIDE = """
from evolve import Candidate, Evaluation, Program, Trial, evaluator
@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    with candidate.beside(Program({"seed.py": "x = 1"})).session() as reference, candidate.session() as session:
        return Evaluation.ok(session.call("answer") - reference.call("answer"))
"""


def test_a_second_box_is_made_for_the_first_who_asks_and_kept(tmp_path):
    """Until the end."""
    boxes = []

    def make_box(charge, devices):
        boxes.append(FakeBox({"answer": 2.0 - len(boxes)}))
        return boxes[-1]

    engine, worker = Pipe()
    thread = threading.Thread(target=lambda: _serve_and_close(worker, make_box))
    thread.start()
    job = Job("1.0", "evaluate", files={"seed.py": ""})
    with engine:
        engine.send_bytes(encode_message(Charge(written_task(tmp_path, _BESIDE))))
        engine.recv_bytes()
        assert len(boxes) == 1
        for _ in range(2):
            engine.send_bytes(encode_job(job))
            assert decode_report(engine.recv_bytes()).evaluation.fitness == 1.0
        engine.send_bytes(b"")
        assert list(_frames(engine)) == []
    thread.join()
    assert [(len(box.opened), box.closed) for box in boxes] == [(2, True), (2, True)]


def test_it_describes_itself_and_judges_until_the_end_of_file(tmp_path):
    """And closes its box."""
    box = FakeBox({"answer": 2.0})
    task = written_task(tmp_path, ANSWERING, stages=(Stage("evaluate", 5.0),))
    job = Job("1.0", "evaluate", files={"seed.py": ""})
    description, reports = served(task, job, job, box=box)
    assert (description.stages, description.functions, description.limit) == (("evaluate",), (), 5.0)
    assert (description.isolation, description.error) == ("none: a fake", "")
    assert [report.evaluation.fitness for report in reports] == [2.0, 2.0]
    assert (reports[0].evaluation.isolation, box.closed) == ("none: a fake", True)


def test_without_a_task_it_ends():
    """Its engine has ended before it began."""
    engine, worker = Pipe()
    engine.close()
    with worker:
        serve(worker)


def test_an_evaluator_may_import_its_neighbours(tmp_path):
    """The task's folder comes first on the module path."""
    (tmp_path / "geometry_of_this_test.py").write_text("SCALE = 3.0\n")
    text = "from geometry_of_this_test import SCALE\n" + ANSWERING.replace('candidate.call("answer")', "SCALE")
    _, reports = served(written_task(tmp_path, text), Job("1.0", "evaluate", files={"seed.py": ""}))
    assert reports[0].evaluation.fitness == 3.0


def test_a_task_in_one_file_imports_no_neighbour(tmp_path):
    """Its version covers no other file."""
    (tmp_path / "beside_this_test.py").write_text("SCALE = 3.0\n")
    task = written_task(tmp_path, ANSWERING, one_file="evaluator.py", version="")
    alone = replace(task, version=task_version(tmp_path, {}, "evaluator.py"))
    assert served(alone)[0].error == ""
    (tmp_path / "evaluator.py").write_text("import beside_this_test\n" + ANSWERING)
    mixed = replace(task, version=task_version(tmp_path, {}, "evaluator.py"))
    assert "No module named 'beside_this_test'" in served(mixed)[0].error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "import no_such_module_at_all\n",
            "does not load: ModuleNotFoundError: No module named 'no_such_module_at_all'",
        ),
        ("def evaluate(:\n", "does not load: SyntaxError"),
        ("raise SystemExit(3)\n", "does not load: SystemExit: 3"),
        ("def evaluate(candidate, trial): ...\n", "has 0 functions marked @evaluator, wanted one"),
        (ANSWERING + ANSWERING.replace("def evaluate", "def second"), "has 2 functions marked @evaluator"),
        (
            ANSWERING + "@evaluate.stage('evaluate')\ndef full(candidate, trial): ...\n",
            "there are two stages called 'evaluate'",
        ),
    ],
)
def test_an_evaluator_that_does_not_load_is_described(tmp_path, text, message):
    """What, got, do this; no job is evaluated."""
    description, reports = served(written_task(tmp_path, text), Job("1.0", "evaluate"))
    assert message in description.error
    assert "Try: " in description.error
    assert reports == []


@pytest.mark.parametrize(
    ("settings", "text", "message"),
    [
        ({"modul": "problem.py"}, "", "{task}: evaluator: 'benchmark' has no setting 'modul'. Did you mean 'module'?"),
        ({"module": 3}, "", "{task}: evaluator: "),
        ({"module": "problem.py"}, "", "{task}/problem.py: there is no function instances(rng, parameters)"),
        ({"module": "gone.py"}, "", "{task}: evaluator.module: there is no file 'gone.py'"),
        ({"module": "problem.py"}, "1 / 0\n", "{task}/problem.py: this cannot be imported: ZeroDivisionError: division by zero (line 1). Try: "),
        ({"module": "problem.py"}, "import no_such\n", "{task}/problem.py: this cannot be imported: ModuleNotFoundError: No module named 'no_such' (line 1). Try: "),
    ],
)  # fmt: skip
def test_what_a_plugin_cannot_judge_names_the_task(tmp_path, settings, text, message):
    """Be it in the task's file or in its module; the traceback of the module's own code is kept."""
    (tmp_path / "problem.py").write_text(text)
    source = EvaluatorSource(plugin="benchmark", settings={"function": "answer", **settings})
    description, _ = served(small_task(tmp_path, evaluator=source))
    assert description.error.startswith(message.replace("{task}", str(tmp_path)))
    assert text.strip() in description.trace
    assert bool(text) == bool(description.trace)


def test_the_line_that_fails_is_shown(tmp_path):
    """The traceback's end comes beside the message, which is one line."""
    description, _ = served(written_task(tmp_path, "def setup():\n    return 1 / 0\n\nsetup()\n"))
    assert "return 1 / 0" in description.trace
    assert "in setup" in description.trace
    assert "\n" not in description.error


def test_a_task_without_its_evaluator_is_described(tmp_path):
    """The file's path is named."""
    description, _ = served(small_task(tmp_path))
    assert f"there is no evaluator at {tmp_path / 'evaluator.py'}" in description.error


def test_a_sandbox_that_does_not_start_is_described(tmp_path):
    """For example for want of a module that the task preloads."""
    engine, worker = Pipe()

    def broken(charge, devices):
        raise SandboxError("no module named torch")

    with engine, worker:
        engine.send_bytes(encode_message(Charge(written_task(tmp_path, ANSWERING))))
        serve(worker, broken)
        description = decode_message(Description, engine.recv_bytes())
    assert description.error == "no module named torch"


def test_an_evaluator_may_come_from_a_plugin():
    """By its name; an unknown one is a clear error."""
    task = small_task(evaluator=EvaluatorSource(plugin="no-such-plugin"))
    with pytest.raises(ConfigError, match="no evaluator is called 'no-such-plugin'"):
        load_evaluator(task)
    assert "no-such-plugin" not in load().evaluators


def test_a_plugin_judges_the_task_that_the_engine_has_loaded(tmp_path):
    """What a plugin's evaluator reads in the task's folder decides scores, so that the folder has not changed."""
    (tmp_path / "problem.py").write_text("x = 1\n")
    source = EvaluatorSource(plugin="benchmark", settings={"module": "problem.py"})
    task = small_task(tmp_path, evaluator=source)
    assert type(load_evaluator(task)).__name__ == "Benchmark"
    (tmp_path / "problem.py").write_text("x = 2\n")
    with pytest.raises(TaskError, match="has changed since the campaign began"):
        load_evaluator(task)


def test_a_failing_evaluator_does_not_end_the_worker(tmp_path):
    """The next job is evaluated."""
    text = ANSWERING.replace("return", "if trial.seed: raise RuntimeError('a bug')\n    return")
    bad, good = Job("1.0", "evaluate", files={"seed.py": ""}), Job("1.1", "evaluate", files={"seed.py": ""})
    seeded = Job("1.0", "evaluate", type(bad.trial)(seed=1), bad.files)
    _, reports = served(written_task(tmp_path, text), seeded, good)
    assert [report.evaluation.outcome for report in reports] == [Outcome.INTERNAL, Outcome.OK]


def test_an_evaluator_of_a_task_is_found_by_its_file(tmp_path):
    """The function may have any name."""
    task = written_task(tmp_path, ANSWERING.replace("def evaluate", "def score"))
    assert [stage.name for stage, _ in load_evaluator(task).stages(task)] == ["evaluate"]
    with pytest.raises(TaskError, match="there is no evaluator"):
        load_evaluator(small_task(tmp_path / "elsewhere"))


def ran(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    return done.stdout.strip()


@pytest.mark.integration
def test_a_process_whose_parent_has_changed_is_told_so():
    """It ended between the fork and this call."""
    script = "import os; from evolve.evaluation.worker import die_with_parent; print(die_with_parent({}))"
    assert ran(script.format("os.getppid()")) == "True"
    assert ran(script.format("os.getppid() + 1")) == "False"


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a parent-death signal")
def test_a_process_dies_with_its_parent():
    """However the parent ends."""
    child = "import os, time; from evolve.evaluation.worker import die_with_parent; die_with_parent(os.getppid()); print(os.getpid(), flush=True); time.sleep(60)"
    parent = f"import os, subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE); print(p.stdout.readline().decode(), flush=True); os._exit(0)"
    pid = int(ran(parent))
    deadline = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _alive(pid)


def _alive(pid):
    """A zombie that nobody reaps counts as dead."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
