"""A small task on the disk, a campaign on it that is written by hand, and judges that read the number in a program instead of running it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import evolve.task
from evolve.commands import Worker
from evolve.evaluation import Description, Job, Report, decode_job, encode_report
from evolve.types import Evaluation, Origin, Outcome, Program, Ruled, Settled, Task, TextId, text_id
from evolve_publish.export import Export, export_program
from evolve_publish.files import MANIFEST, Contents, add_manifest
from evolve_publish.verify import Verification, Verifier, verify
from tests.written import Written, number_program

TOML = """schema = 1
brief = "brief.md"
program = { files = ["seed.py"], entry = "seed" }
evaluator = "evaluator.py"
deterministic = DETERMINISTIC
promotion = "PROMOTION"
[fitness]
name = "nearness"
[parameters]
offset = 0.0
[[axes]]
name = "size"
low = 0
high = 10
bins = 5
[[anchors]]
value = 8.0
by = "Later | `x` <b>"
year = 2025
source = "https://example.org/a_b"
"""
HELD_OUT = '[[held_out]]\nname = "further on"\noffset = 2.0\n'
EVALUATOR = "from evolve import evaluator\n\n\n@evaluator\ndef evaluate(candidate, trial):\n    raise SystemExit\n"


def task_at(folder: Path, *, deterministic: bool = True, promotion: str = "held_out", timed: bool = False) -> Task:
    """The task `number` in a folder."""
    place = folder / "number"
    place.mkdir(parents=True, exist_ok=True)
    text = TOML.replace("DETERMINISTIC", str(deterministic).lower()).replace("PROMOTION", promotion)
    text = text.replace('name = "nearness"', 'name = "nearness"\nlog_ratio = true') if timed else text
    files = {
        "task.toml": text + (HELD_OUT if promotion == "held_out" else ""),
        "brief.md": "Find the number.",
        "seed.py": number_program(5).files["seed.py"],
        "evaluator.py": EVALUATOR,
        "README.md": "For persons.",
    }
    for name, written in files.items():
        (place / name).write_text(written, encoding="utf-8")
    (place / "table.bin").write_bytes(b"\x00\xff\x01")
    return evolve.task.load(place)


class Found(Written):
    """A campaign on that task: the seed 5, and record 2, which is better and is promoted as its task does it."""

    def __init__(self, home: Path, *, fitness: float = 6.5, **kind: object) -> None:
        task = task_at(home / "mine", **kind)
        super().__init__(home, task)
        evidence = {"isolation": "strict: all of it", "environment": "python 3"}
        self.seed(5.0, **evidence)
        self.proposal(fitness, **evidence)

    def certified(self) -> "Found":
        """The value of record 2 is proven."""
        self.certificate(2, self.campaign.log.settled(2).record.evaluation.fitness or 0.0)
        return self

    def promoted(self, own: float = 8.5, seed: float = 7.0) -> "Found":
        """Seed and record 2 are evaluated on the held-out case, and the ruling follows."""
        self.case(1, seed)
        program = self.case(2, own).record.program
        assert program is not None
        self.ruled(Ruled("promote", program, "held-out cases", "no worse than the seed on further on"))
        return self

    def case(self, about: int, fitness: float) -> Settled:
        """A record's program, evaluated on the held-out case."""
        program = self.campaign.log.program(self.campaign.log.settled(about).record.program)
        origin = Origin("measurement", self.next, about=about, why="held out", case="further on")
        return self._settle(origin, program, self._ok(fitness))

    def ruled(self, ruling: Ruled) -> None:
        """A ruling is written."""
        with self.campaign.log.transaction():
            self.campaign.write(ruling)

    def export(self, record: int = 2) -> Export:
        """One of its records."""
        return export_program(self.campaign, record, self.task)


@dataclass
class ReadingJudges:
    """What a program returns is its fitness; `noise` is added in turn. Counts what it was asked."""

    noise: tuple[float, ...] = (0.0,)
    hardware: str = "one core"
    environment: str = "python 3"
    outcome: Outcome = Outcome.OK
    asked: list[Job] = field(default_factory=list)

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        told = decode_job(job)
        self.asked.append(told)
        future: Future[bytes] = Future()
        future.set_result(encode_report(self._report(told)))
        return future

    def _report(self, told: Job) -> Report:
        if told.kind == "certify":
            return _report(json.loads(told.artifacts["numbers"])[0], certified=True)
        if self.outcome is not Outcome.OK:
            why = "it did not\nand more"
            return Report(Evaluation.failed(self.outcome, text_id(why)), {text_id(why): why})
        found = re.search(r"return (-?[\d.]+)$", told.files["seed.py"].strip())
        assert found is not None, "every program of the task returns a number"
        noise = self.noise[len(self.asked) % len(self.noise)]
        return _report(float(found[1]) + noise + float(told.trial.parameters.get("offset", 0.0)))

    @contextmanager
    def open(self, task: Task) -> Iterator[Worker]:
        yield Worker(self, Description(hardware=self.hardware, environment=self.environment, isolation="strict: fake"))


def _report(fitness: float, *, certified: bool = False) -> Report:
    text = f"[{fitness}]"
    artifacts = {"numbers": text_id(text)}
    evaluation = Evaluation(Outcome.OK, fitness=fitness, certified=certified, artifacts=artifacts)
    return Report(evaluation, {TextId(text_id(text)): text})


def verified(
    contents: Contents, judges: ReadingJudges | None = None, *, trusted: bool = True, quick: bool = False
) -> Verification:
    """Verified by judges that read."""
    found = judges or ReadingJudges()
    return verify(contents, Verifier(found.open, trusted=trusted, quick=quick))


def verdicts(found: Verification) -> dict[str, str]:
    """By the claim."""
    return {check.what: check.verdict for check in found.checks}


def changed(contents: Contents, path: str, change: Callable[[str], str], *, hashed: bool = True) -> Mapping[str, bytes]:
    """An export with one file changed; `hashed`: by somebody who has written the manifest anew."""
    before = contents[path].decode()
    after = change(before)
    assert after != before, f"{path} has no such text"
    files = {**contents, path: after.encode()}
    return add_manifest({name: data for name, data in files.items() if name != MANIFEST}) if hashed else files


def of_number(number: float) -> Program:
    """A program of the task."""
    return number_program(number)
