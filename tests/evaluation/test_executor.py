"""Judging on this machine, with real processes."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from judge_fakes import written_task

from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.evaluation import executor as executor_module
from evolve.evaluation import spawner as spawner_module
from evolve.evaluation import workers as workers_module
from evolve.evaluation.workers import Slot
from evolve.sandbox.means import NOTHING
from evolve.sandbox.processes import children
from evolve.types import Needs, Outcome, SandboxError, Stage, TaskError, Trial

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

# The program says what the evaluator is to do.
OBEDIENT = """
import os, sys, time
from pathlib import Path
from evolve import Candidate, Evaluation, Trial, evaluator

@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    asked = candidate.call("answer")
    if asked == "raise":
        raise RuntimeError("a bug of the evaluator")
    if asked == "return a text":
        return "good"
    if asked == "return nan":
        return Evaluation.ok(float("nan"))
    if asked == "print":
        print("noise" * 50_000, flush=True)
        return Evaluation.ok(1.0)
    if asked == "die":
        print("about to die", flush=True)
        os._exit(7)
    if asked == "die once" and not Path(__file__).with_name(".died").exists():
        Path(__file__).with_name(".died").touch()
        os.kill(os.getpid(), 9)
    if asked == "sleep":
        time.sleep(60)
    if asked == "stop":
        os.kill(os.getpid(), 19)
    if asked == "pid":
        return Evaluation.ok(os.getpid())
    if asked == "environment":
        return Evaluation.ok(1.0, artifacts={"judge": dict(os.environ), "candidate": candidate.call("environment")})
    return Evaluation.ok(1.0)
"""
HOSTILE = {
    "hang": ("while True: pass", Outcome.TIMED_OUT),
    "sleep": ("import time; time.sleep(60)", Outcome.TIMED_OUT),
    "raise": ("raise ValueError('no')", Outcome.CRASHED),
    "abort": ("import os; os.abort()", Outcome.CRASHED),
    "exit": ("import os; os._exit(0)", Outcome.CRASHED),
    "fork": (
        "import os, time\n    for _ in range(5):\n        if os.fork() == 0: time.sleep(60)\n    time.sleep(60)",
        Outcome.TIMED_OUT,
    ),
}
DAEMON = """
import os, subprocess, sys, time
def answer():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(90)", "MARKER"])
        os._exit(0)
    time.sleep(60)
"""
ENGINE = """
import sys, time
from judge_fakes import small_task
from evolve.evaluation import Job, LocalExecutor, encode_job
from evolve.types import Stage
from pathlib import Path

if __name__ == "__main__":
    folder, program = Path(sys.argv[1]), Path(sys.argv[2]).read_text()
    executor = LocalExecutor(small_task(folder, stages=(Stage("evaluate", 60.0),)), 2)
    executor.describe()
    for number in range(6):
        executor.submit(str(number), encode_job(Job(str(number), "evaluate", files={"seed.py": program})))
    time.sleep(90)
"""


def program(body):
    return {"seed.py": f"def answer():\n    {body}\n\ndef environment():\n    import os\n    return dict(os.environ)\n"}


def asking(what):
    return program(f"return {what!r}")


@pytest.fixture(scope="module")
def executor(tmp_path_factory):
    """Two slots, stages of two seconds, and a secret in the engine's environment; its processes are left open, so that an ordinary user
    can count their descriptors."""
    os.environ["OPENAI_API_KEY"] = "a-secret-of-the-engine"
    os.environ["EVOLVE_DEBUG"] = "attach"
    made = LocalExecutor(
        written_task(tmp_path_factory.mktemp("task"), OBEDIENT, stages=(Stage("evaluate", 2.0),)), 2, grace=1.0
    )
    yield made
    made.close()
    del os.environ["OPENAI_API_KEY"], os.environ["EVOLVE_DEBUG"]


def evaluated(executor, files, name="1.0"):
    return decode_report(executor.submit(name, encode_job(Job(name, "evaluate", Trial(seed=1), files))).result(30))


def told(report):
    return report.texts[report.evaluation.feedback]


def test_a_worker_describes_itself(executor):
    """Stages, limits, hardware, isolation, environment."""
    description = executor.describe()
    assert (description.stages, description.limit, description.error) == (("evaluate",), 2.0, "")
    assert "" not in (description.hardware, description.isolation, description.environment)


def test_a_program_is_judged(executor):
    """From its files to a report, with the isolation that was reached."""
    evaluation = evaluated(executor, asking(1)).evaluation
    assert (evaluation.outcome, evaluation.fitness, evaluation.trust) == (Outcome.OK, 1.0, "witnessed")
    assert evaluation.isolation == executor.describe().isolation
    assert evaluation.seconds > 0


@pytest.mark.parametrize(
    ("asked", "outcome", "message"),
    [
        ("raise", Outcome.INTERNAL, "the evaluator raised RuntimeError: a bug of the evaluator"),
        ("return a text", Outcome.INTERNAL, "the evaluator returned a str, wanted an Evaluation"),
        ("return nan", Outcome.INVALID, "the fitness is nan, not a finite number"),
    ],
)
def test_a_broken_evaluator_is_reported(executor, asked, outcome, message):
    """And the worker goes on."""
    report = evaluated(executor, asking(asked))
    assert report.evaluation.outcome is outcome
    assert message in told(report)


def test_what_an_evaluator_prints_disturbs_nothing(executor):
    """However much it is."""
    assert evaluated(executor, asking("print")).evaluation.fitness == 1.0


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_ends_as_its_outcome(executor, name):
    """And the next one is evaluated normally."""
    body, outcome = HOSTILE[name]
    assert evaluated(executor, program(body)).evaluation.outcome is outcome
    assert evaluated(executor, asking(1)).evaluation.outcome is Outcome.OK


def test_no_secret_of_the_engine_reaches_judge_or_candidate(executor):
    """Their environments are made, not inherited."""
    report = evaluated(executor, asking("environment"))
    texts = [report.texts[text] for text in report.evaluation.artifacts.values()]
    assert len(texts) == 2
    assert not [text for text in texts if "a-secret-of-the-engine" in text or "OPENAI" in text]


def test_a_job_whose_worker_dies_is_judged_again(executor):
    """By another worker, once."""
    assert evaluated(executor, asking("die once")).evaluation.outcome is Outcome.OK


def test_a_job_whose_workers_die_is_internal(executor):
    """With how they ended and what they printed last; other jobs are evaluated."""
    others = [
        executor.submit(f"2.{number}", encode_job(Job(f"2.{number}", "evaluate", files=asking(1))))
        for number in range(6)
    ]
    report = evaluated(executor, asking("die"))
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert told(report) == "the worker ended in this job, 2 times (exit code 7). Its last output:\nabout to die"
    assert [decode_report(other.result(30)).evaluation.outcome for other in others] == [Outcome.OK] * 6


def judges_of(executor, count):
    """The pids of the judges that answer so many jobs, a job each."""
    futures = [
        executor.submit(str(number), encode_job(Job(str(number), "evaluate", files=asking("pid"))))
        for number in range(count)
    ]
    reports = [decode_report(future.result(60)) for future in futures]
    assert {report.evaluation.outcome for report in reports} == {Outcome.OK}
    return [int(report.evaluation.fitness) for report in reports]


def test_judges_are_started_and_drained_while_others_judge(tmp_path):
    """No job is lost, and a slot that is wanted again is started again."""
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 1)) as executor:
        assert len(set(judges_of(executor, 4))) == 1
        for slots in (3, 1, 2):
            executor.resize(slots)
            judges_of(executor, 12)
            assert waited(lambda: len(set(children(executor._supervisor.spawner.process.pid))) == slots, 20)  # noqa: B023
            assert executor.capacity(Needs()) == slots


def test_workers_that_cannot_be_opened_are_an_error_with_the_remedy(tmp_path, monkeypatch):
    def refused(index, now):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(Slot, "open", refused)
    with (
        contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 1)) as executor,
        pytest.raises(SandboxError, match=r"Too many open files. Try: ask for fewer --workers"),
    ):
        executor.describe()


CHANGES = {
    "has changed since the campaign began": ("evaluator.py", OBEDIENT + "\n"),
    "describes its functions as ('draw',), and this run's is ()": (".later", ""),
}


@pytest.mark.parametrize("message", CHANGES)
def test_a_fresh_worker_that_is_another_judge_fails_as_infrastructure(tmp_path, message):
    """Whatever it would say of a program: its scores are not to be compared."""
    later = (
        "\nif Path(__file__).with_name('.later').exists():\n    @evaluate.draw\n    def draw(artifacts, trial): ...\n"
    )
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT + later), 1)) as single:
        described = single.describe()
        name, text = CHANGES[message]
        (tmp_path / name).write_text(text)
        report = evaluated(single, asking("die"))
        assert (report.evaluation.outcome, message in told(report)) == (Outcome.INTERNAL, True)
        assert single.describe() == described


def test_a_judge_that_hangs_is_killed(executor):
    """Its job is not lost: it is INTERNAL, with the place where the evaluator was, and nobody tries it again."""
    report = evaluated(executor, asking("sleep"))
    assert (report.evaluation.outcome, report.retry) == (Outcome.INTERNAL, False)
    first, *trace = told(report).splitlines()
    assert first == "the evaluator had not answered after 3 s"
    assert re.fullmatch(r'  File ".*/evaluator.py", line \d+ in evaluate', trace[-1]), trace


def test_a_judge_that_is_stopped_is_killed(executor):
    """It cannot say where it was."""
    report = evaluated(executor, asking("stop"))
    assert (report.evaluation.outcome, report.retry) == (Outcome.INTERNAL, False)
    assert told(report) == "the evaluator had not answered after 3 s"


def test_capacity_is_the_slots_and_no_gpu(executor):
    """0 means never: a stage never gets more cores than there are."""
    cores = len(os.sched_getaffinity(0))
    wanted = (Needs(), Needs(cores=cores), Needs(cores=cores + 1), Needs(gpus=1))
    assert [executor.capacity(needs) for needs in wanted] == [2, 2, 0, 0]


def test_a_cancelled_job_is_not_judged(tmp_path):
    """If it is queued; one that runs is finished and reported, and a job that is no more can be cancelled too."""
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 1)) as single:
        single.describe()
        slow = program("import time; time.sleep(1.5)\n    return 1")
        futures = [
            single.submit(str(number), encode_job(Job(str(number), "evaluate", files=slow))) for number in range(3)
        ]
        time.sleep(0.5)  # the first one is given to the worker
        for name in ("0", "1", "2", "never"):
            single.cancel(name)
        assert decode_report(futures[0].result(30)).evaluation.outcome is Outcome.OK
        assert [future.cancelled() for future in futures] == [False, True, True]


def test_callbacks_run_on_the_executors_thread(executor):
    """Which the engine relies on, to be woken there."""
    names = []
    future = executor.submit("1.0", encode_job(Job("1.0", "evaluate", files=asking(1))))
    future.add_done_callback(lambda _: names.append(threading.current_thread().name))
    future.result(30)
    evaluated(executor, asking(1))
    assert names in (["evolve-executor"], ["MainThread"])  # the latter if it was done before the callback was added


def test_three_hundred_jobs_leave_nothing_behind(executor):
    """No process, no descriptor, neither in the engine nor in its judges."""
    evaluated(executor, asking(1))
    time.sleep(1.5)  # what earlier tests left to the spawner is swept up after a second
    family = descendants(os.getpid())
    before = {pid: descriptors(pid) for pid in [os.getpid(), *family]}
    futures = [
        executor.submit(str(number), encode_job(Job(str(number), "evaluate", files=asking(1)))) for number in range(300)
    ]
    assert {decode_report(future.result(60)).evaluation.outcome for future in futures} == {Outcome.OK}
    assert descendants(os.getpid()) == family
    grown = {pid for pid in before if descriptors(pid) > before[pid]}  # what earlier tests left may have gone meanwhile
    assert grown == set()


@pytest.mark.parametrize("text", ["import no_such_module_at_all", "1 / 0"])
def test_an_evaluator_that_does_not_load_is_a_task_error(tmp_path, text):
    """And a job that comes all the same is INTERNAL, with that error."""
    with contextlib.closing(LocalExecutor(written_task(tmp_path, text), 1)) as broken:
        with pytest.raises(TaskError, match="does not load"):
            broken.describe()
        report = evaluated(broken, asking(1))
    assert report.evaluation.outcome is Outcome.INTERNAL
    assert "does not load" in told(report)


def test_a_worker_that_never_comes_up_is_a_sandbox_error(tmp_path):
    """With what it printed."""
    text = "import os\nprint('no such luck', flush=True)\nos._exit(4)"
    with contextlib.closing(LocalExecutor(written_task(tmp_path, text), 2)) as broken:
        with pytest.raises(SandboxError, match=r"ended before it was ready.*exit code 4.*\n.*no such luck"):
            broken.describe()
        assert evaluated(broken, asking(1)).evaluation.outcome is Outcome.INTERNAL


def test_a_spawner_that_is_killed_is_replaced(tmp_path, monkeypatch):
    """Also while its workers start. What they evaluated is evaluated again, later jobs too, and no process or folder of any of them is left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    others = set(children(os.getpid()))
    family = set()
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 2)) as executor:
        executor.describe()
        slow = program("import time; time.sleep(1.0)\n    return 1")
        for _ in range(3):
            futures = [
                executor.submit(str(number), encode_job(Job(str(number), "evaluate", files=slow)))
                for number in range(4)
            ]
            assert waited(lambda: len(set(children(os.getpid())) - others) == 1, 10)
            (spawner,) = set(children(os.getpid())) - others
            family |= {spawner} | descendants(spawner)
            os.kill(spawner, signal.SIGKILL)
            assert waited(lambda: set(children(os.getpid())) - others - {spawner}, 10)  # noqa: B023
            for started in set(children(os.getpid())) - others - {spawner}:
                os.kill(started, signal.SIGKILL)
            reports = [decode_report(future.result(60)) for future in futures]
            assert [report.evaluation.outcome for report in reports] == [Outcome.OK] * 4
        (spawner,) = set(children(os.getpid())) - others
        family |= {spawner} | descendants(spawner)
    assert gone([*family], 10)
    assert list(scratch.iterdir()) == []


def test_a_spawner_that_ends_again_and_again_is_given_up(tmp_path, monkeypatch):
    """Every open job, and every later one, is told so."""
    others = set(children(os.getpid()))
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 1)) as broken:
        broken.describe()
        future = broken.submit("1.0", encode_job(Job("1.0", "evaluate", files=asking("sleep"))))
        monkeypatch.setattr(spawner_module, "_SPAWNER", "raise SystemExit(3)")
        (spawner,) = set(children(os.getpid())) - others
        os.kill(spawner, signal.SIGKILL)
        for report in (decode_report(future.result(30)), evaluated(broken, asking(1))):
            assert report.evaluation.outcome is Outcome.INTERNAL
            assert "a worker ended before it was ready (the spawner is gone)" in told(report)


def test_a_closed_executor_has_ended_its_processes(tmp_path):
    """What was open is cancelled, closing again is harmless, and nothing more is taken."""
    others = set(children(os.getpid()))
    made = LocalExecutor(written_task(tmp_path, OBEDIENT), 2)
    made.describe()
    (spawner,) = set(children(os.getpid())) - others
    family = descendants(spawner)
    futures = [
        made.submit(str(number), encode_job(Job(str(number), "evaluate", files=asking("sleep")))) for number in range(6)
    ]
    made.close()
    made.close()
    assert [future.cancelled() for future in futures] == [True] * 6
    assert gone([spawner, *family], 5)
    with pytest.raises(SandboxError, match="after the executor was closed"):
        made.submit("1.0", b"")


def test_nothing_outlives_a_killed_engine(tmp_path):
    """Not even what its candidates have hidden: spawner, judges, templates, candidates and their daemons all end."""
    marker = f"marker-{os.getpid()}-{time.monotonic_ns()}"
    written_task(tmp_path, OBEDIENT)
    (tmp_path / "engine.py").write_text(ENGINE)
    (tmp_path / "program.txt").write_text(DAEMON.replace("MARKER", marker))
    paths = os.pathsep.join([*filter(None, sys.path), str(Path(__file__).parent)])
    command = [sys.executable, str(tmp_path / "engine.py"), str(tmp_path), str(tmp_path / "program.txt")]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}) as engine:
        waited(lambda: len(marked(marker)) == 2, 30)
        family = descendants(engine.pid)
        daemons = marked(marker)
        engine.kill()
    assert len(daemons) == 2
    assert gone([*family, *daemons], 10)
    assert marked(marker) == []


def descriptors(pid):
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def descendants(pid):
    found = set()
    for child in set(children(pid)):
        found |= {child} | descendants(child)
    return found


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def marked(marker):
    """The daemons: not the engine, whose files only hold the marker."""
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if marker in command_line(int(path.name))]


def waited(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def gone(pids, seconds):
    """Whether all these processes end in time; a zombie of somebody else's counts as ended."""
    return waited(lambda: not [pid for pid in pids if command_line(pid)], seconds)


def test_the_means_of_a_run_reach_every_worker(tmp_path):
    """What it records is their line."""
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 1, means=NOTHING)) as made:
        assert made.describe().isolation == NOTHING.line
        assert evaluated(made, asking(1)).evaluation.isolation == NOTHING.line


def test_a_worker_that_isolates_otherwise_judges_nothing(tmp_path, monkeypatch):
    """The run's own means are wanted, neither weaker nor others; the program is not to blame."""

    class Expecting(workers_module.WorkerSupervisor):
        def __init__(self, *rest):
            super().__init__(*rest)
            self._isolation = "strict: namespaces"

    monkeypatch.setattr(executor_module, "WorkerSupervisor", Expecting)
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 1)) as made:
        wanted = "describes its isolation as 'reduced: .*', and this run's is 'strict: namespaces'"
        with pytest.raises(SandboxError, match=wanted):
            made.describe()
        report = evaluated(made, asking(1))
    assert (report.evaluation.outcome, bool(re.search(wanted, told(report)))) == (Outcome.INTERNAL, True)


def test_judges_that_are_killed_while_they_start_do_not_end_the_run(tmp_path):
    """Nor a template of one that starts: there are others, and what they cannot judge is evaluated when one has come up."""
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 1)) as executor:
        executor.describe()
        spawner = executor._supervisor.spawner.process.pid
        for turn in range(3):
            # The one that was killed before may not be reaped yet.
            assert waited(lambda: len(set(children(spawner))) == 1, 10)
            (worker,) = set(children(spawner))
            os.kill(worker, signal.SIGKILL)
            assert waited(lambda: set(children(spawner)) - {worker}, 10)  # noqa: B023
            if turn == 1:
                (started,) = set(children(spawner)) - {worker}
                assert waited(lambda: set(children(started)), 10)  # noqa: B023
                os.kill(set(children(started)).pop(), signal.SIGKILL)
                assert waited(lambda: set(children(spawner)) - {worker, started}, 10)  # noqa: B023
        assert evaluated(executor, asking(1)).evaluation.outcome is Outcome.OK


def test_a_spawner_that_is_stopped_is_replaced_when_a_worker_ends(tmp_path, monkeypatch):
    """It cannot end or start one any more; the worker's job is evaluated by another."""
    monkeypatch.setattr("evolve.evaluation.workers._KILL_SECONDS", 0.5)
    others = set(children(os.getpid()))
    with contextlib.closing(LocalExecutor(written_task(tmp_path, OBEDIENT), 1)) as executor:
        executor.describe()
        (spawner,) = set(children(os.getpid())) - others
        slow = program("import time; time.sleep(1.0)\n    return 1")
        future = executor.submit("1.0", encode_job(Job("1.0", "evaluate", files=slow)))
        family = descendants(spawner)
        os.kill(spawner, signal.SIGSTOP)
        (worker,) = children(spawner)
        os.kill(worker, signal.SIGKILL)
        assert decode_report(future.result(60)).evaluation.outcome is Outcome.OK
        assert set(children(os.getpid())) - others != {spawner}
    assert gone([spawner, *family], 10)
