"""The recording that `make demo` replays: a campaign with a real model on a bundled task, in `docs/examples/recorded_model`.

A cassette finds an answer by its prompt, so that a changed prompt needs another recording. `python -m tests.played` gives the old answers, in
their order, to the prompts of today, which is right where their words changed and not what they are about; with the specification of a model, as
`evolve run --model` takes it, that model answers. What it prints belongs into the commit: an archive that changed is another search."""

import json
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from evolve import plugins
from evolve.campaign import Campaign
from evolve.cli.model import answers_of
from evolve.config import settings_from
from evolve.engine import Unwatched, run
from evolve.engine.members import Member, Members
from evolve.evaluation import LocalExecutor
from evolve.model_specs import parse_models, read_campaign_file
from evolve.models.cassette import RecordedAnswer, add_answers, read_recording
from evolve.task import load
from evolve.types import Prompt, Reply, Settled, Usage, estimate_tokens

FOLDER = Path(__file__).parents[1] / "docs" / "examples" / "recorded_model"
CASSETTE, ARCHIVE = FOLDER / "cassette.jsonl", FOLDER / "archive.json"


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
        # An estimate is made anew, for the prompt may be another one.
        prompted = sum(estimate_tokens(message.text) for message in prompt.messages)
        usage = answer.usage if answer.usage.exact else Usage(prompted, estimate_tokens(answer.reply))
        return [Reply(answer.reply, answer.thinking, answer.finish, usage, answer.revision)]

    def close(self) -> None:
        """Does nothing: there is nothing to end."""


def play(
    home: Path, model: str = "", answers: Sequence[RecordedAnswer] = (), budget: str = ""
) -> tuple[list[RecordedAnswer], list[dict[str, Any]]]:
    """Runs the campaign, or its beginning within a smaller budget, with the recording as its model, with these answers in their order, or with
    the model of a specification; returns the answers under their prompts, and what the campaign found."""
    loaded = plugins.load()
    values = read_campaign_file(FOLDER / "campaign.toml", loaded)
    values = {**values, "budget": budget} if budget else values
    if model:
        (member,) = parse_models((model,), loaded)
        values = {**values, "models": {"members": [member.model_dump()]}}
    settings = settings_from(values)
    with Campaign.create(settings, load(settings.task), loaded, home, "recorded") as campaign, ExitStack() as resources:
        (section,) = settings.models.members
        members = Members.open(settings, loaded, resources)
        if answers:
            asked = Member(section, InOrder(answers), threading.BoundedSemaphore(section.concurrency))
            members = Members([asked], settings.models)
        executor = resources.enter_context(closing(LocalExecutor(campaign.task, 1)))
        run(campaign, executor, Unwatched(), members)
        return list(answers_of(campaign.log)), summarize(campaign)


def summarize(campaign: Campaign) -> list[dict[str, Any]]:
    """Returns the proposals with what became of them."""
    settled = [found.event for found in campaign.log.events(only=Settled) if isinstance(found.event, Settled)]
    return [
        {
            "record": event.record.id,
            "operator": event.record.origin.operator,
            "parents": list(event.record.origin.parents),
            "outcome": event.record.evaluation.outcome.value,
            "score": event.record.evaluation.fitness,
            "became": event.placement.insertion.name,
        }
        for event in settled
        if event.record.origin.kind == "proposal"
    ]


def write(archive: Sequence[dict[str, Any]]) -> str:
    """Returns the proposals as JSON, one on a line, so that a difference can be read."""
    return "[\n  " + ",\n  ".join(map(json.dumps, archive)) + "\n]\n"


def main(model: str = "") -> None:
    """Writes the cassette and the archive anew."""
    old = [] if model else list(read_recording(CASSETTE).values())
    with tempfile.TemporaryDirectory() as home:
        answers, archive = play(Path(home), model, old)
    is_same = ARCHIVE.exists() and ARCHIVE.read_text("utf-8") == write(archive)
    CASSETTE.unlink(missing_ok=True)
    add_answers(CASSETTE, answers)
    ARCHIVE.write_text(write(archive), "utf-8")
    print(f"{len(answers)} answers; the archive is {'the same' if is_same else 'ANOTHER ONE: see archive.json'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
