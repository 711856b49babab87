"""`evolve program export --paper` and `--patch`: a result for a paper, and for the repository that a program came from.

Invariant: the log is opened for reading only; a patch is printed or written to the file that was named, and no repository is changed."""

import sys
from dataclasses import dataclass
from pathlib import Path

from evolve.campaign import Campaign
from evolve.cli.isolation import confined, wished
from evolve.cli.output import emit, facts
from evolve.cli.references import opened
from evolve.cli.say import say
from evolve.publish.paper import Written, write_paper
from evolve.publish.patch import Patch, write_patch
from evolve.sandbox.means import PLAIN, Means
from evolve.types import ConfigError, TaskError


@dataclass(frozen=True, slots=True)
class Patched:
    """A patch without its text, which lies at `path`, or is `patch` where it lies nowhere."""

    program: str
    repository: str
    files: tuple[str, ...]
    path: str
    notes: tuple[str, ...]
    patch: str = ""
    event: str = "patched"


def export_paper(reference: str, target: Path | None, *, as_json: bool) -> None:
    """Writes the folder of a paper."""
    with opened(reference) as (campaign, number):
        place = target or Path(f"{campaign.name}-{number}-paper")
        written = write_paper(campaign, number, place, _means(campaign))
    if as_json:
        emit(written)
    else:
        say(facts(_told(written)))


def export_patch(reference: str, repository: Path, target: Path | None, *, as_json: bool) -> None:
    """Writes a patch to a file, or prints it and nothing else."""
    with opened(reference) as (campaign, number):
        patch = write_patch(campaign, number, repository)
    if target is not None:
        _write(target, patch.text)
    if as_json:
        text = "" if target else patch.text.decode("utf-8", "backslashreplace")
        emit(Patched(patch.program, patch.repository, patch.files, str(target or ""), patch.notes, text))
    elif target is None:
        _print(patch)
    else:
        say(facts(_told_patch(patch, target)))


def _means(campaign: Campaign) -> Means:
    """How the judge that draws is confined; where the task's interpreter is gone nothing can be drawn, which the folder tells."""
    try:
        return confined(campaign.task, wished(None), harmless=True).noted()
    except TaskError:
        return PLAIN


def _print(patch: Patch) -> None:
    """To the byte, so that `git am` can read it from a pipe; a terminal gets no more than it can show."""
    if sys.stdout.isatty():
        say(patch.text.decode("utf-8", "replace"))
    else:
        sys.stdout.buffer.write(patch.text)
        sys.stdout.buffer.flush()
    for note in patch.notes:
        say(f"evolve: note: {note}", err=True)


def _write(target: Path, text: bytes) -> None:
    try:
        with target.open("xb") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{target} is there already. Do: remove it, or name another file") from error
    except OSError as error:
        raise ConfigError(
            f"the patch cannot be written to {target}: {error.strerror}. Do: name another file"
        ) from error


def _told(written: Written) -> list[tuple[str, str]]:
    proven = [line for line in written.verified.splitlines() if line.startswith(("value ", "claimed "))]
    rows = [
        ("program", written.program),
        ("paper", f"{written.folder} ({len(written.files)} files)"),
        ("verified", "\n".join(" ".join(line.split()) for line in proven)),
        (
            "proof",
            "" if written.verified else "none that runs without the task: README.md says what the value rests on",
        ),
        ("note", "\n".join(written.notes)),
        ("next", f"python3 -I -S {Path(written.folder) / 'verify.py'}" if "verify.py" in written.files else ""),
    ]
    return [(label, text) for label, text in rows if text]


def _told_patch(patch: Patch, target: Path) -> list[tuple[str, str]]:
    rows = [
        ("program", patch.program),
        ("repository", patch.repository),
        ("changes", "\n".join(patch.files)),
        ("patch", f"{target} ({len(patch.text):,} bytes)"),
        ("note", "\n".join(patch.notes)),
        ("next", f"git apply --check {target}, then git am {target}"),
    ]
    return [(label, text) for label, text in rows if text]
