"""`archive/published/`: promoted programs, each as the export that anybody can verify, and `archive/INDEX.md`, a line for each.

Programs that are quarantined, not promoted or scored by their own word never come here; a program has one folder, named by its task and its content. The index is a function of the folders alone."""

from collections.abc import Iterator
from pathlib import Path

from evolve import report
from evolve.commands import atomic_write
from evolve.markdown import escape, format_code, format_table
from evolve.types import ConfigError, Level, Task
from evolve_publish.claims import Claims, read_claims
from evolve_publish.export import Export
from evolve_publish.files import (
    MANIFEST,
    Contents,
    add_manifest,
    check_files,
    folder_name,
    load_exported_task,
    read,
    write,
)
from evolve_publish.pages import README, describe_evidence, format_estimate, format_models, format_number, make_pages

_FOLDER = "published"
INDEX = "INDEX.md"
_HEAD = """# Published programs

Promoted programs of campaigns, each in a folder with its task, its certificate and all that its score rests on.
`evolve program verify --published` verifies all of them, and `evolve program publish --index` writes this page."""
_HEADINGS = ("task", "program", "value", "the seed's", "evidence", "literature", "found", "by")
LARGEST = 1 << 20
"""Bytes of a published program with everything: the folder lies in a repository."""
_SHORT = 12
"""Digits of a program's id that name its folder."""


def find_published(archive: Path) -> tuple[Path, ...]:
    """Returns everything in the place of published programs in a fixed order: a folder that is no export must be seen, too."""
    return tuple(sorted(path for path in (archive / _FOLDER).glob("*/*") if not path.name.startswith(".")))


def _place(archive: Path, claims: Claims) -> Path:
    return archive / _FOLDER / folder_name(claims.task.name) / claims.program[:_SHORT]


def publish(export: Export, task: Task, archive: Path, *, force: bool = False) -> tuple[Path, bool]:
    """Adds a promoted program; returns its folder, and whether it was not there before. Raises `ConfigError` for any other program. An equal export remains; a different one of the program is replaced
    with `force` alone."""
    claims = export.claims
    check_publishable(claims, task)
    size = sum(map(len, export.contents.values()))
    if size > LARGEST:
        raise ConfigError(
            f"{claims.name} has {size / 1024:,.0f} KiB with its task, and what is published has at most {LARGEST >> 10:,}. Try: evolve program export {claims.name}"
        )
    folder = _place(archive, claims)
    if folder.exists() and read(folder) == dict(export.contents):
        return folder, False
    write(export.contents, folder, force=force)
    return folder, True


def check_place(archive: Path, folder: Path, claims: Claims) -> None:
    """Raises `ConfigError` where a program is not in its own folder."""
    if folder != _place(archive, claims):
        raise ConfigError(
            f"{folder} holds {claims.program[:16]} of task {claims.task.name!r}, which belongs elsewhere. Try: put it back, or remove it"
        )


def check_publishable(claims: Claims, task: Task) -> None:
    """Raises `ConfigError` with the condition that a program misses, and the command that brings it."""
    name, campaign = claims.name, claims.name.rpartition("/")[0]
    more = f"Try: evolve run --continue {campaign} --budget 10m, and publish {campaign}/best"
    level = claims.first.isolation.partition(":")[0] if claims.first else ""
    unconfirmed = claims.value is not None and not claims.value.confirmed
    obstacles = (
        (
            claims.quarantined,
            f"is quarantined ({claims.quarantined}). Try: publish another, or evolve program release {name}",
        ),
        (claims.value is None, f"has no score: it never passed. Try: evolve program list {campaign}"),
        (
            claims.is_claimed,
            "has a score that its own script claims. Try: let the task's evaluator compute it, and run again",
        ),
        (claims.program == task.seed.id, f"is the task's seed, so nothing was found that could be published. {more}"),
        (
            level in ("", Level.NONE.value),
            f"was evaluated without isolation. Try: evolve run {claims.task.name} --sandbox standard",
        ),
        (claims.promotion is None, f"is not promoted: {_explain_promotion(task, name, more)}"),
        (unconfirmed, f"is not confirmed: its value rests on the measurements that chose it. {more}"),
    )
    for holds, why in obstacles:
        if holds:
            raise ConfigError(f"{name} {why}")


def _explain_promotion(task: Task, name: str, more: str) -> str:
    """Returns why a program is not promoted, and what to do; `more` is to search on."""
    if task.promotion == "certificate":
        return f"the task has not certified it, and certifies what may be the best alone. {more}"
    if not task.held_out:
        return (
            f"task {task.name!r} has neither held-out cases nor a certificate, so nothing ever is. "
            f"Try: give it [[held_out]] cases, which set its parameters (docs/tasks.md), or keep the program with evolve program export {name}"
        )
    return f"only the best program is, where it is no worse than the seed on every held-out case. {more}"


def format_index(archive: Path) -> str:
    """Returns the index; raises `ConfigError` where a folder differs from its manifest, or holds a program that may not be published."""
    rows: list[tuple[tuple[str, float, str], tuple[str, ...]]] = []
    for folder, _, claims, task in _open_published(archive):
        check_publishable(claims, task)
        value = claims.value.fitness if claims.value else 0.0
        rows.append(((claims.task.name, -task.fitness.inside(value), claims.program), _row(folder, claims, task)))
    table = format_table(_HEADINGS, [row for _, row in sorted(rows)]) if rows else "Nothing is published yet."
    return f"{_HEAD}\n\n{table}\n"


def check_index(archive: Path) -> None:
    """Raises `ConfigError` where the index differs from the folders, or a folder may not be published."""
    target, text = archive / INDEX, format_index(archive)
    # Bytes and not texts: a checkout that changes line ends must be seen here, before it spoils hashes.
    if not target.is_file() or target.read_bytes() != text.encode("utf-8"):
        raise ConfigError(f"{target} is not what the folders say. Try: evolve program publish --index writes it anew")


def renew_pages(archive: Path) -> None:
    """Writes the pages of every published program anew where another version has made them; nothing of the record changes."""
    for folder, contents, claims, task in _open_published(archive):
        pages = make_pages(claims, task)
        if any(contents.get(path) != data for path, data in pages.items()):
            kept = {path: data for path, data in contents.items() if path != MANIFEST}
            write(add_manifest({**kept, **pages}), folder, force=True)


def write_index(archive: Path) -> Path:
    """Writes the index anew."""
    target, text = archive / INDEX, format_index(archive)
    try:
        archive.mkdir(parents=True, exist_ok=True)
        with atomic_write(target, replace=True) as made:
            made.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{target} cannot be written: {error.strerror}. Try: name another place with --archive"
        ) from error
    return target


def _open_published(archive: Path) -> Iterator[tuple[Path, Contents, Claims, Task]]:
    """Yields every published program, whose files are those of its manifest; raises `ConfigError` for one that is not what was published."""
    for folder in find_published(archive):
        contents = read(folder)
        for path, why in check_files(contents).items():
            raise ConfigError(
                f"{folder} is not what was published: {path} {why}. Try: put it back as it was, or remove the folder"
            )
        claims = read_claims(contents)
        check_place(archive, folder, claims)
        with load_exported_task(contents, claims.task.path, claims.task.parameters) as task:
            yield folder, contents, claims, task


def _row(folder: Path, claims: Claims, task: Task) -> tuple[str, ...]:
    place = f"{_FOLDER}/{folder.parent.name}/{folder.name}/{README}"
    held_out = "held out, " if task.promotion == "held_out" else ""
    return (
        format_code(claims.task.name),
        f"[`{folder.name}`]({place.replace(' ', '%20')})",
        f"{format_estimate(claims)} ({claims.task.direction})",
        "" if claims.seed_fitness is None else format_number(claims, claims.seed_fitness),
        held_out + describe_evidence(claims),
        _format_literature(claims, task),
        escape(claims.found.partition("T")[0]),
        format_models(claims),
    )


def _format_literature(claims: Claims, task: Task) -> str:
    """Returns the hardest anchor that is reached, and the easiest that is not."""
    if claims.value is None:
        return ""
    gaps = report.nearest(report.anchor_gaps(task, task.fitness.inside(claims.value.fitness)))
    return "; ".join(f"{gap.difference:+.3g} to {escape(gap.by)}{f' {gap.year}' if gap.year else ''}" for gap in gaps)
