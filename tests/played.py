"""A campaign that a person played, as files: its settings, each answer, each report of the judge, and the archive that came of them.

A cassette finds an answer by its prompt, so a changed template needs the cassette written anew. `python -m tests.played` does that: it runs the
campaign once more with the old answers in their order and the recorded reports, and writes the cassette and the archive. What it prints
must be said in the commit: an archive that changed is another search.

Invariant: no process is started and no model is asked; what is not recorded is an error."""

import json
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from evolve import plugins
from evolve.campaign import Campaign
from evolve.cli.model import answers_of
from evolve.config import settings_from
from evolve.engine import Ending, Unwatched, run
from evolve.engine.members import Member, Members
from evolve.evaluation import decode_job
from evolve.model_specs import read_campaign_file
from evolve.models.cassette import RecordedAnswer, add_answers, read_recording
from evolve.task import load
from evolve.types import Description, Needs, Program, Prompt, Reply, Settled, Usage, canonical, estimate_tokens

BY_HAND = Path(__file__).parent / "data" / "by_hand"
DESCRIPTION = Description(stages=("evaluate",), hardware="recorded", isolation="recorded")


class RecordedJudge:
    """An executor that answers each job, by step and index, with the report that was made of this very program. It remembers the jobs."""

    def __init__(self, folder: Path) -> None:
        lines = map(json.loads, (folder / "judgements.jsonl").read_text("utf-8").splitlines())
        self._reports = {line["job"]: (line["program"], line["report"]) for line in lines}
        self.jobs: dict[str, bytes] = {}

    def describe(self) -> Description:
        return DESCRIPTION

    def capacity(self, needs: Needs) -> int:
        return 1

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        self.jobs[job_id] = job
        program, report = self._reports[job_id]
        found = Program(dict(decode_job(job).files)).id
        assert found == program, f"job {job_id} is about another program than the one that was evaluated"
        future: Future[bytes] = Future()
        future.set_result(canonical(report).encode())
        return future

    def cancel(self, job_id: str) -> None:
        """Every job is done when it is submitted."""

    def resize(self, slots: int) -> None:
        """There are none."""

    def close(self) -> None:
        """There is nothing to end."""


class InOrder:
    """A model that gives recorded answers one after the other, whatever the prompt."""

    def __init__(self, answers: Sequence[RecordedAnswer]) -> None:
        self._answers = iter(answers)

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        return Usage()

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        answer = next(self._answers)
        return [Reply(answer.reply, answer.thinking, answer.finish, _usage(prompt, answer), answer.revision)]

    def close(self) -> None:
        """There is nothing to end."""


def _usage(prompt: Prompt, answer: RecordedAnswer) -> Usage:
    """What a server counted; an estimate is made anew, for the prompt may be another one."""
    if answer.usage.exact:
        return answer.usage
    return Usage(sum(estimate_tokens(message.text) for message in prompt.messages), estimate_tokens(answer.reply))


@contextmanager
def opened(folder: Path, home: Path) -> Iterator[Campaign]:
    """A new campaign with the settings of the one that was played."""
    loaded = plugins.load()
    settings = settings_from(read_campaign_file(folder / "campaign.toml", loaded))
    with Campaign.create(settings, load(settings.task), loaded, home, "by_hand") as campaign:
        yield campaign


def replayed(campaign: Campaign, judge: RecordedJudge) -> Ending:
    """Runs it with the cassette as its model and the recorded reports as its judge."""
    with ExitStack() as resources:
        members = Members.open(campaign.settings, campaign.plugins, resources)
        return run(campaign, judge, Unwatched(), members)


def summary(campaign: Campaign) -> dict[str, Any]:
    """What the campaign found: all its records with what became of them, the archive, and how many calls that took. Fitness is larger-is-better."""
    archive = campaign.state.archive
    best = archive.best
    return {
        "records": [
            _record(stamped.event)
            for stamped in campaign.log.events(only=Settled)
            if isinstance(stamped.event, Settled)
        ],
        "elites": [
            {"record": elite.record, "cell": elite.cell, "fitness": elite.fitness} for elite in archive.elites()
        ],
        "best": None if best is None else {"record": best.record, "fitness": best.fitness},
        "calls": campaign.state.progress.calls,
    }


def _record(event: Settled) -> dict[str, Any]:
    record = event.record
    return {
        "id": record.id,
        "by": record.origin.operator or record.origin.kind,
        "of": list(record.origin.parents) or [record.origin.about],
        "program": (record.program or "")[:16],
        "outcome": record.evaluation.outcome.value,
        "fitness": record.evaluation.fitness,
        "became": event.placement.insertion.name,
        "cell": event.placement.cell,
    }


def keyed_anew(folder: Path) -> tuple[list[RecordedAnswer], dict[str, Any]]:
    """The old answers under the prompts of today, and the archive that comes of them."""
    recorded = read_recording(folder / "cassette.jsonl")
    old = InOrder(list(recorded.values()))
    with tempfile.TemporaryDirectory() as home, opened(folder, Path(home)) as campaign:
        (section,) = campaign.settings.models.members
        member = Member(section, old, threading.BoundedSemaphore(section.concurrency))
        run(campaign, RecordedJudge(folder), Unwatched(), Members([member], campaign.settings.models))
        return list(answers_of(campaign.log)), summary(campaign)


def keep(folder: Path, answers: Sequence[RecordedAnswer], archive: Mapping[str, Any]) -> None:
    """Writes the cassette and the archive in the place of the old ones."""
    (folder / "cassette.jsonl").unlink(missing_ok=True)
    add_answers(folder / "cassette.jsonl", answers)
    (folder / "archive.json").write_text(written(archive), "utf-8")


def written(archive: Mapping[str, Any]) -> str:
    """One line for each record and elite, so that a difference can be read."""
    values = {
        key: "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"
        if isinstance(value, list)
        else json.dumps(value)
        for key, value in archive.items()
    }
    return "{\n  " + ",\n  ".join(f'"{key}": {text}' for key, text in values.items()) + "\n}\n"


if __name__ == "__main__":
    answers, archive = keyed_anew(BY_HAND)
    place = BY_HAND / "archive.json"
    same = place.exists() and place.read_text("utf-8") == written(archive)
    keep(BY_HAND, answers, archive)
    print(
        f"{len(answers)} answers keyed anew; the archive is {'the same' if same else 'ANOTHER ONE: see archive.json'}"
    )
