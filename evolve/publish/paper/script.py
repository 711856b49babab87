"""The verifier that goes with a proven value, and what it says of the construction.

Invariant: no code of a log runs that does not lie in the task's folder, too."""

from dataclasses import dataclass
from pathlib import Path

from evolve.campaign import Campaign
from evolve.task import load, verify_script
from evolve.types import ConfigError, TaskError


@dataclass(frozen=True, slots=True)
class Verifier:
    """The text of a task's verifier. `is_here`: the same text lies in the task's folder on this machine, so that it may run here: a log may come from anywhere."""

    text: str
    is_here: bool


def verifier_of(campaign: Campaign) -> Verifier | None:
    """The one in the log, else that of the task's folder, which may have got one since; None where there is none."""
    task = campaign.task
    try:
        here = load(task.path, task.parameters).verifier
    except TaskError:
        here = ""
    text = task.verifier or here
    return Verifier(text, text == here) if text else None


def verified(folder: Path, name: str) -> str:
    """What the script of a folder says; raises `ConfigError` where the construction does not hold."""
    found = verify_script.verified(folder)
    if found.refusal:
        raise ConfigError(f"the certificate of {name} {found.refusal}. Do: mend the verifier, or the task's certify")
    return found.said
