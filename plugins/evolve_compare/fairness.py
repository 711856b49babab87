"""Arms, and whether their campaigns may be compared. Conditions under which scores mean different things are refused; those that may favour an arm become notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from evolve.types import ConfigError
from evolve_compare.outcomes import SLACK, CampaignOutcome, Resource, amount

Describe = Callable[[CampaignOutcome], str]


@dataclass(frozen=True, slots=True)
class ComparedArm:
    """One strategy or one choice of settings, with the outcomes of all its campaigns, those that failed among them."""

    name: str
    outcomes: tuple[CampaignOutcome, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """Random seeds of the campaigns."""
        return tuple(one.seed for one in self.outcomes)


def check_fairness(arms: Sequence[ComparedArm], resource: Resource) -> tuple[str, ...]:
    """Returns notes on a comparison; raises `ConfigError` for arms that cannot be compared."""
    outcomes = [one for arm in arms for one in arm.outcomes]
    _check_arms(arms)
    _check_spent(outcomes, resource)
    _check_same(outcomes, "task", lambda one: one.conditions.task)
    _check_same(outcomes, "version of the task", lambda one: one.conditions.version)
    _check_same(outcomes, "parameters of the task", _parameters)
    # A campaign whose run never began has no machine to compare.
    evaluated = [one for one in outcomes if one.conditions.hardware]
    if resource == "seconds" or not all(one.conditions.deterministic for one in outcomes):
        _check_same(evaluated, "hardware", lambda one: one.conditions.hardware)
    return (
        *_note_difference(evaluated, "hardware", lambda one: one.conditions.hardware),
        *_note_difference(evaluated, "isolation", lambda one: one.conditions.isolation),
        *_note_difference(outcomes, "number of workers", lambda one: str(one.conditions.workers)),
        *_note_difference(outcomes, "version of evolve", lambda one: one.conditions.evolve),
        *(note for arm in arms for note in _note_ends(arm)),
        *_note_lengths(outcomes, resource),
    )


def _check_arms(arms: Sequence[ComparedArm]) -> None:
    if len(arms) < 2:
        raise ConfigError(
            f"a comparison has at least two arms, got {len(arms)}. Try: name more strategies or arms; "
            "--read ARM=GLOB makes an arm of any campaigns"
        )
    for arm in arms:
        if not arm.outcomes:
            raise ConfigError(f"arm {arm.name!r} has no campaign. Try: run one, or leave the arm out")


def _check_spent(outcomes: Sequence[CampaignOutcome], resource: Resource) -> None:
    if not any(amount(one.spent, resource) for one in outcomes) and resource not in ("programs", "seconds"):
        raise ConfigError(
            f"{resource} cannot be held equal where no campaign has spent any. Try: --per programs, or --per seconds"
        )


def _parameters(outcome: CampaignOutcome) -> str:
    found = outcome.conditions.settings
    return ", ".join(f"{key}={found[key]}" for key in sorted(found) if key.startswith("parameters."))


def _check_same(outcomes: Sequence[CampaignOutcome], what: str, describe: Describe) -> None:
    other = next((one for one in outcomes if describe(one) != describe(outcomes[0])), None)
    if other is not None:
        first = outcomes[0]
        raise ConfigError(
            f"campaigns with another {what} do not compare, got {_shorten(describe(first))!r} ({first.campaign}) and {_shorten(describe(other))!r} "
            f"({other.campaign}). Try: leave one of them out, or run both again"
        )


def _shorten(text: str) -> str:
    """Returns the beginning of a text; of a hash, which has 64 digits, less."""
    return text[:12] if len(text) == 64 else text[:60]


def _note_difference(outcomes: Sequence[CampaignOutcome], what: str, describe: Describe) -> list[str]:
    found = sorted(set(map(describe, outcomes)))
    return [f"the {what} differs: {'; '.join(map(_shorten, found))}"] if len(found) > 1 else []


_ENDS = {
    "failed": "failed, and counted as worse than all others",
    "unfinished": "its budget is not spent yet",
    "exhausted": "ended early, nothing new was proposed any more",
}


def _note_ends(arm: ComparedArm) -> list[str]:
    """Returns a note for campaigns that did not spend their budgets, and for those without a value."""
    ordered = sorted(arm.outcomes, key=lambda one: one.status)
    notes = [
        f"{arm.name}: {_ENDS[status]}: {', '.join(one.campaign for one in found)}"
        for status, found in groupby(ordered, key=lambda one: one.status)
        if status in _ENDS
    ]
    valueless = [one for one in arm.outcomes if one.problem and one.status != "failed"]
    return notes + [f"{arm.name}: {one.problem}: {one.campaign}" for one in valueless]


def _note_lengths(outcomes: Sequence[CampaignOutcome], resource: Resource) -> list[str]:
    spent = [amount(one.spent, resource) for one in outcomes if one.status in ("finished", "unfinished")]
    if not spent or max(spent) <= min(spent) * (1.0 + SLACK):
        return []
    return [
        f"campaigns have spent from {min(spent):,.6g} to {max(spent):,.6g} {resource}: all are looked at where the shortest ends"
    ]
