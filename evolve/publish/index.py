"""`archive/INDEX.md`: what is published, a line for each program; and the pages of each.

Invariant: a function of the folders alone, so that it is rebuilt at any time to the same bytes."""

from pathlib import Path

from evolve import report
from evolve.atomic_write import atomic_write
from evolve.publish import keeping, readme
from evolve.publish.archive import FOLDER, check_place, check_publishable, published
from evolve.publish.claims import Claims, claims_of
from evolve.publish.coherence import pages, steps_of
from evolve.publish.contents import MANIFEST, check_files, with_manifest
from evolve.publish.folder import read, write
from evolve.publish.markdown import code, escaped, table
from evolve.publish.task_files import laid_down
from evolve.publish.telling import interval, number
from evolve.types import ConfigError, Task

INDEX = "INDEX.md"
_HEAD = """# Published programs

Promoted programs of campaigns, each in a folder with its task, its certificate and all that its score rests on.
`evolve program verify --published` verifies all of them, and `evolve program publish --index` writes this page."""
_HEADINGS = ("task", "program", "value", "better", "evidence", "the seed's", "literature", "isolation", "found", "by")


def index(archive: Path) -> str:
    """The page; raises `ConfigError` where a folder is not what its manifest says, or holds what may not be published."""
    found = [_read(archive, folder) for folder in published(archive)]
    rows = [_row(folder, claims, task) for folder, claims, task in sorted(found, key=_order)]
    return f"{_HEAD}\n\n{table(_HEADINGS, rows) if rows else 'Nothing is published yet.'}\n"


def check_index(archive: Path) -> None:
    """Raises `ConfigError` where the page is not what the folders say, or a folder may not be published."""
    target, text = archive / INDEX, index(archive)
    try:
        there = target.read_bytes()
    except OSError:
        there = b""
    if there != text.encode("utf-8"):
        raise ConfigError(f"{target} is not what the folders say. Do: evolve program publish --index writes it anew")


def renew(archive: Path) -> None:
    """Writes the pages of every published program anew where another version has made them; nothing of the record changes."""
    for folder in published(archive):
        contents = read(folder)
        _, claims, _ = _read(archive, folder)
        with laid_down(contents, claims.task) as task:
            made = pages(claims, contents, task, steps_of(contents))
        if any(contents.get(path) != data for path, data in made.items()):
            kept = {path: data for path, data in contents.items() if path != MANIFEST}
            write(with_manifest({**kept, **made}), folder, top="", force=True)


def write_index(archive: Path) -> Path:
    """Writes the page anew."""
    target, text = archive / INDEX, index(archive)
    try:
        archive.mkdir(parents=True, exist_ok=True)
        with atomic_write(target, replace=True) as made:
            made.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{target} cannot be written: {error.strerror}. Do: name another place with --archive"
        ) from error
    return target


def _read(archive: Path, folder: Path) -> tuple[Path, Claims, Task]:
    contents = read(folder)
    wrong = check_files(contents)
    if wrong:
        raise ConfigError(
            f"{folder} is not what was published: {wrong[0].path} {wrong[0].why}. Do: put it back as it was, or remove the folder"
        )
    claims = claims_of(contents)
    check_place(archive, folder, claims)
    with laid_down(contents, claims.task) as task:
        check_publishable(claims, task)
        return folder, claims, task


def _order(found: tuple[Path, Claims, Task]) -> tuple[str, float, str]:
    _, claims, task = found
    value = claims.value.fitness if claims.value else 0.0
    return claims.task.name, -task.fitness.inside(value), claims.program


def _row(folder: Path, claims: Claims, task: Task) -> tuple[str, ...]:
    place = f"{FOLDER}/{folder.parent.name}/{folder.name}/{readme.NAME}"
    first = claims.first
    return (
        code(claims.task.name),
        f"[`{folder.name}`]({place.replace(' ', '%20')})",
        _value(claims),
        claims.task.direction,
        escaped("; ".join(filter(None, (_evidence(claims), keeping.told(keeping.kept_of(claims, task)))))),
        "" if claims.seed_fitness is None else number(claims, claims.seed_fitness),
        _literature(claims, task),
        "" if first is None else escaped(first.isolation.partition(":")[0]),
        escaped(claims.found.partition("T")[0]),
        ", ".join(escaped(used.model or used.name) for used in claims.models) or "no model",
    )


def _value(claims: Claims) -> str:
    return "" if claims.value is None else f"{number(claims, claims.value.fitness)}{interval(claims, claims.value)}"


def _evidence(claims: Claims) -> str:
    if claims.value is not None and claims.value.certified:
        return "certified"
    return "held out, deterministic" if claims.task.deterministic else "held out, confirmed"


def _literature(claims: Claims, task: Task) -> str:
    """The hardest anchor that is reached, and the easiest that is not."""
    if claims.value is None:
        return ""
    gaps = report.nearest(report.anchor_gaps(task, task.fitness.inside(claims.value.fitness)))
    return "; ".join(f"{gap.difference:+.3g} to {escaped(gap.by)}{f' {gap.year}' if gap.year else ''}" for gap in gaps)
