"""Models of a run: opened and checked before a log is made, and given up when they fail too often."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from evolve.config import ModelSection, ModelsSection, Settings
from evolve.models.retries import CircuitBreaker
from evolve.plugins import Plugins, guarded
from evolve.protocols import Embedder, Model
from evolve.types import PROPOSE, ConfigError, EvolveError, ModelError, ModelGone, Usage

FAILED_IN_A_ROW = 20
"""Calls of a model that fail in a row, after which it is asked no more in this run."""
AHEAD = 4
"""Number of calls in flight for which one proposal more is prepared, and one more may wait for evaluation before models are asked no more."""


@dataclass(slots=True)
class Member:
    """Model of a campaign with its settings. `slots` bounds its calls in flight, and `breaker` holds them back while it is down; `gone` says
    why it is asked no more in this run. Any thread may call."""

    section: ModelSection
    model: Model
    slots: threading.BoundedSemaphore
    checked: Usage = field(default_factory=Usage)
    breaker: CircuitBreaker = field(default_factory=lambda: CircuitBreaker(0.0))
    gone: str = ""
    failures: int = 0

    @property
    def name(self) -> str:
        """Name of the model in the campaign."""
        return self.section.name

    @property
    def ahead(self) -> int:
        """Number of proposals that are prepared while all its calls are in flight."""
        return self.section.concurrency // AHEAD

    @property
    def steps(self) -> int:
        """Number of proposals that may wait for it. A model that takes few calls at once is asked as late as can be."""
        return self.section.concurrency + self.ahead

    def note_failure(self, error: ModelError) -> bool:
        """Counts a failed call; returns whether the model is gone by it, and was not before."""
        # Without a lock: a lost count among so many threads only asks a hopeless model once more.
        self.failures += 1
        if self.gone or not (isinstance(error, ModelGone) or self.failures >= FAILED_IN_A_ROW):
            return False
        self.gone = str(error) if isinstance(error, ModelGone) else _describe_failures(error)
        return True


class Members:
    """Models of a run, by their names. Any thread may look."""

    def __init__(self, members: Sequence[Member], settings: ModelsSection) -> None:
        self._members = {member.name: member for member in members}
        self._settings = settings

    @classmethod
    def open(cls, settings: Settings, plugins: Plugins, resources: ExitStack) -> "Members":
        """Makes and checks every model; `resources` closes them. Raises `ModelError` or `ConfigError` that names the model."""
        return cls(
            [_open_member(section, settings, plugins, resources) for section in settings.models.members],
            settings.models,
        )

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def __getitem__(self, name: str) -> Member:
        return self._members[name]

    @property
    def proposing(self) -> tuple[str, ...]:
        """Names of the models that make proposals, as far as they still answer."""
        return tuple(name for name in self._settings.proposing if not self[name].gone)

    @property
    def steps(self) -> int:
        """Number of proposals that may wait for a model at once."""
        return sum(self[name].steps for name in self.proposing)

    @property
    def ahead(self) -> int:
        """Number of proposals that may wait for evaluation beyond its own room, before no model is asked."""
        return sum(self[name].ahead for name in self.proposing)

    def find(self, purpose: str, proposer: str) -> Member | None:
        """Returns the model that the settings name for a purpose, else the one that makes the proposal; None where there is neither."""
        name = proposer if purpose == PROPOSE else self._settings.purposes.get(purpose, proposer)
        if name and name not in self._members:
            raise ModelError(f"model {name!r} is no model of this campaign any more; others propose")
        return self[name] if name else None


NOBODY = Members((), ModelsSection())
"""Models of a campaign that has none."""


def _open_member(section: ModelSection, settings: Settings, plugins: Plugins, resources: ExitStack) -> Member:
    with naming(section.name):
        model = plugins.model(section.kind, section.settings)
        resources.callback(model.close)
        if settings.models.purposes.get("embed") == section.name and not isinstance(model, Embedder):
            raise ConfigError(
                "it turns no texts into vectors. Try: name another model in models.purposes.embed, or leave that out"
            )
        deadline = time.monotonic() + section.timeout_seconds
        usage = guarded(section.kind, model.check, deadline, threading.Event())
    breaker = CircuitBreaker(settings.outage.model_wait_seconds, name=f"model {section.name!r}")
    return Member(section, model, threading.BoundedSemaphore(section.concurrency), usage, breaker)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Adds the name of a model to the errors that are raised inside."""
    try:
        yield
    except EvolveError as error:
        # In place: what a failed call has cost stays with its error.
        error.args = (add_name(name, str(error)),)
        raise


def add_name(name: str, message: str) -> str:
    """Returns an error message with the model's name; models that know their name give it themselves."""
    return message if message.startswith(f"model {name!r} ") else f"model {name!r}: {message}"


def _describe_failures(error: ModelError) -> str:
    what, _, remedy = str(error).partition(" Try: ")
    do = remedy or "see to the model, then continue the campaign"
    return f"{FAILED_IN_A_ROW} calls in a row failed, the last one: {what.rstrip('.')}. Try: {do}"
