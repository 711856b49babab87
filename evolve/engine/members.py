"""The models of one run: made from the settings, checked before anything else, and each waited for when it is down.

Invariant: what a model was asked and paid before the campaign begins is kept, for the log to tell."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from evolve.config import ModelSection, ModelsSection, Settings
from evolve.models.circuit_breaker import CircuitBreaker
from evolve.plugins import Plugins, guarded
from evolve.protocols import Embedder, Model
from evolve.types import PROPOSE, ConfigError, EvolveError, ModelDown, ModelError, ModelGone, Usage

FAILED_IN_A_ROW = 20
"""Calls of a model that failed without one that was answered in between, after which it is asked no more in this run."""

AHEAD = 4
"""For so many calls in flight, one proposal more is made ready, and one more may wait for the judges before models are asked no more."""

NO_EMBEDDER = "it turns no texts into vectors. Do: name another model in models.purposes.embed, or leave that out"


@dataclass(slots=True)
class Member:
    """Model of a campaign with its settings. `slots` bounds its calls in flight, and `breaker` holds them back while it is down; `gone` says
    why it will not answer any more in this run. Any thread may call."""

    section: ModelSection
    model: Model
    slots: threading.BoundedSemaphore
    checked: Usage = field(default_factory=Usage)
    breaker: CircuitBreaker = field(default_factory=lambda: CircuitBreaker(0.0))
    gone: str = ""
    _failures: int = 0
    _counting: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """What the campaign calls it."""
        return self.section.name

    @property
    def steps(self) -> int:
        """How many proposals may wait for it: as many as calls may be in flight, and some that are made ready meanwhile, so that no call waits
        for its prompt. A model that takes few calls at once is asked as late as can be."""
        return self.section.concurrency + self.ahead

    @property
    def ahead(self) -> int:
        """How many more proposals than calls: so many are made ready while all its calls are in flight."""
        return self.section.concurrency // AHEAD

    def answered(self) -> None:
        """A call was."""
        with self._counting:
            self._failures = 0

    def failed(self, error: ModelError) -> bool:
        """A call has, and was not cancelled; whether the model is gone by that, and was not before."""
        with self._counting:
            self._failures += 1
            if self.gone or not (isinstance(error, ModelGone) or self._failures >= FAILED_IN_A_ROW):
                return False
            self.gone = str(error) if isinstance(error, ModelGone) else _hopeless(error)
            return True


class Members:
    """All models of a run, by their names. Any thread may look, and mark one as gone that has said so."""

    def __init__(self, members: Sequence[Member], settings: ModelsSection) -> None:
        self._members = {member.name: member for member in members}
        self._settings = settings

    def wait(self, seconds: float) -> None:
        """Changes for how long a model that does not answer is waited for. Main thread."""
        for member in self:
            member.breaker.wait(seconds)

    @classmethod
    def opened(cls, settings: Settings, plugins: Plugins, resources: ExitStack) -> "Members":
        """Makes and checks every model; `resources` end them. Raises `ModelError` or `ConfigError` that names the model."""
        found: list[Member] = []
        cancelled = threading.Event()
        for section in settings.models.members:
            deadline = time.monotonic() + section.timeout_seconds
            found.append(_opened(section, settings, plugins, resources, deadline, cancelled))
        return cls(found, settings.models)

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, name: str) -> Member:
        return self._members[name]

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def threads(self) -> int:
        """How many proposals may wait for a model at once."""
        return sum(self[name].steps for name in self.proposing)

    @property
    def ahead(self) -> int:
        """How many more proposals than calls, of all models; and how many proposals may wait for the judges, beyond these' own room, before no
        model is asked."""
        return sum(self[name].ahead for name in self.proposing)

    @property
    def proposing(self) -> tuple[str, ...]:
        """The members that make proposals, as far as they still answer."""
        return tuple(name for name in self._settings.proposing if not self[name].gone)

    def named_for(self, purpose: str) -> Member | None:
        """The member that the settings name for a purpose. Proposals are made by the one that their step names."""
        name = None if purpose == PROPOSE else self._settings.purposes.get(purpose)
        return None if name is None else self[name]


def _opened(
    section: ModelSection,
    settings: Settings,
    plugins: Plugins,
    resources: ExitStack,
    deadline: float,
    cancelled: threading.Event,
) -> Member:
    """Makes and checks one model; `resources` end it. Raises `ModelError` or `ConfigError` that names the model."""
    with said_of(section.name):
        model = plugins.model(section.kind, section.settings)
        resources.callback(model.close)
        if settings.models.purposes.get("embed") == section.name and not isinstance(model, Embedder):
            raise ConfigError(NO_EMBEDDER)
        checked = guarded(section.kind, model.check, deadline, cancelled)
    breaker = CircuitBreaker(settings.outage.model_wait_seconds, name=f"model {section.name!r}")
    return Member(section, model, threading.BoundedSemaphore(section.concurrency), checked, breaker)


@contextmanager
def said_of(name: str) -> Iterator[None]:
    """Names the model in what is wrong with it."""
    try:
        yield
    except ModelDown as error:
        spent = (error.usage, error.attempts, error.seconds)
        raise ModelDown(named(name, str(error)), *spent, retry_after=error.retry_after) from error
    except ModelError as error:
        raise type(error)(named(name, str(error)), error.usage, error.attempts, error.seconds) from error
    except EvolveError as error:
        raise type(error)(named(name, str(error))) from error


def _hopeless(error: ModelError) -> str:
    what, _, remedy = str(error).partition(" Do: ")
    do = remedy or "see to the model, then continue the campaign"
    return f"{FAILED_IN_A_ROW} calls in a row failed, the last one: {what.rstrip('.')}. Do: {do}"


def named(name: str, told: str) -> str:
    """What is wrong with a model, with its name. Models that know who they are say so themselves."""
    return told if told.startswith(f"model {name!r} ") else f"model {name!r}: {told}"


NOBODY = Members((), ModelsSection())
"""A campaign without models."""
