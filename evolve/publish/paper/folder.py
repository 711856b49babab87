"""The folder of a paper, file by file.

Invariant: it is made beside its place and moved there at the end, after its own `verify.py` has run in it."""

from dataclasses import dataclass
from pathlib import Path

from evolve import pictures, report
from evolve.appearing import appearing
from evolve.campaign import Campaign
from evolve.publish.contents import stored_names
from evolve.publish.paper import calls as calling
from evolve.publish.paper import figure, picture, script
from evolve.publish.paper.readme import readme
from evolve.publish.paper.references import references
from evolve.publish.paper.statement import statement
from evolve.publish.paper.sums import SUMS, sums
from evolve.publish.paper.table import table
from evolve.publish.result import Result, result
from evolve.sandbox.means import PLAIN, Means
from evolve.task import verify_script
from evolve.types import ConfigError, RecordId, TaskError


@dataclass(frozen=True, slots=True)
class Written:
    """A folder that was written, with the names of its files. `verified` is what its `verify.py` has said, empty where the value is not proven or the task
    brings no verifier; `notes` tell what was left out, and why."""

    program: str
    folder: str
    files: tuple[str, ...]
    verified: str
    notes: tuple[str, ...]


def write_paper(
    campaign: Campaign, record: RecordId, target: Path, means: Means = PLAIN, drawing: figure.Drawing | None = None
) -> Written:
    """Writes the folder `target`, which must not be there; `means` isolate the judge that draws the task's picture. Without a `drawing` the one of the extra
    `paper` is taken. Raises `ConfigError`, and leaves nothing then."""
    draw = drawing or figure.drawing()
    found = result(campaign, record)
    _check(target)
    try:
        with appearing(target) as folder:
            folder.mkdir()
            said, notes = _prove(campaign, found, folder)
            _fill(campaign, found, folder, draw)
            notes += _picture(campaign, found, folder, draw, means)
            names = _names(folder)
            _put(folder, "README.md", readme(campaign, found, names, said, notes))
            _put(folder, SUMS, sums(folder))
            return Written(found.name, str(target), _names(folder), said, tuple(notes))
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror or error}. Do: name another place") from error


def _fill(campaign: Campaign, found: Result, folder: Path, draw: figure.Drawing) -> None:
    """What is told of the result, and the program."""
    stored = stored_names("program", found.files)
    for path, text in found.files.items():
        _put(folder, stored[path], text)
    calls = calling.calls(campaign, found.record)
    for name, text in calling.pages(campaign, calls.lineage):
        _put(folder, f"prompts/{name}", text)
    _put(folder, "statement.md", statement(campaign, found, calls))
    _put(folder, "table.tex", table(campaign, found))
    _put(folder, "references.bib", references(campaign.task))
    if points := report.curve(campaign):
        for kind in ("svg", "pdf"):
            (folder / f"curve.{kind}").write_bytes(draw.curve(campaign.task, points, kind))


def _prove(campaign: Campaign, found: Result, folder: Path) -> tuple[str, list[str]]:
    """Writes the construction and its verifier, and runs that: what it says, and a note where it did not run. Nothing of a value that is not proven."""
    proof = found.certificate
    if proof is None or not proof.text:
        return "", []
    _put(folder, verify_script.CONSTRUCTION, proof.text)
    verifier = script.verifier_of(campaign)
    if verifier is None:
        return "", []
    text = verify_script.script(campaign.task, verifier.text, proof.fitness, proof.name)
    _put(folder, verify_script.SCRIPT, text)
    if verifier.is_here:
        return script.verified(folder, found.name), []
    return "", [
        "`verify.py` did not run when this folder was written: its upper part comes from the campaign's log and is not in the task's folder. Read it before you run it."
    ]


def _picture(campaign: Campaign, found: Result, folder: Path, draw: figure.Drawing, means: Means) -> list[str]:
    """Draws the task's picture; a note where there is one that is not written."""
    if not Path(campaign.task.path).exists():
        return ["The task's own picture is left out: the task is not where it was when the campaign began."]
    try:
        if not pictures.drawable(campaign.task, means):
            return []
        drawn = pictures.drawn(campaign, found.record, means)
    except (TaskError, ConfigError):
        return ["The task's own picture is left out: it could not be drawn when this folder was written."]
    if why := picture.refusal(drawn):
        return [f"The task's own picture is left out: {why}."]
    _put(folder, "picture.svg", drawn)
    plain = draw.picture(drawn)
    if plain is None:
        return ["The task's own picture has no PDF beside it: `rsvg-convert -f pdf` or Inkscape make one."]
    (folder / "picture.pdf").write_bytes(plain)
    return []


def _check(target: Path) -> None:
    """Raises `ConfigError` where a folder cannot be made, before anything is done for it."""
    if target.exists() or target.is_symlink():
        raise ConfigError(f"{target} is there already. Do: remove it, or name another folder")
    if not target.absolute().parent.is_dir():
        raise ConfigError(
            f"{target} cannot be written: there is no folder {target.absolute().parent}. Do: make it, or name another place"
        )


def _put(folder: Path, name: str, text: str) -> None:
    """Writes a text to the letter: half of a surrogate pair, which UTF-8 cannot say, as an escape."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "backslashreplace"))


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))
