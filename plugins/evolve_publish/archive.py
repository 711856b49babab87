"""`archive/published/`: promoted programs, each as the export that anybody can verify, and `archive/INDEX.md`, a line for each.

Programs that are quarantined, not promoted or scored by their own word never come here; a program has one folder, named by its task and its content. The index is a function of the folders alone."""

from dataclasses import dataclass
from pathlib import Path

from evolve import report
from evolve.commands import write_atomically
from evolve.markdown import escape, format_code, format_table
from evolve.types import ConfigError, Level, Task
from evolve_publish.claims import Claims, format_interval, format_number, read_claims, read_steps
from evolve_publish.export import Export
from evolve_publish.files import MANIFEST, add_manifest, check_files, check_size, read, write
from evolve_publish.pages import README, format_kept_gain, make_pages
from evolve_publish.task_files import folder_name, load_exported_task

_FOLDER = "published"
INDEX = "INDEX.md"
_HEAD = """# Published programs

Promoted programs of campaigns, each in a folder with its task, its certificate and all that its score rests on.
`evolve program verify --published` verifies all of them, and `evolve program publish --index` writes this page."""
_HEADINGS = ("task", "program", "value", "better", "evidence", "the seed's", "literature", "isolation", "found", "by")
LARGEST = 1 << 20
"""Bytes of a published program with everything: the folder lies in a repository."""
_SHORT = 12
"""Digits of a program's id that name its folder."""


@dataclass(frozen=True, slots=True)
class PublishedProgram:
    """Program in the archive; `new`: it was not there before."""

    name: str
    task: str
    program: str
    folder: str
    files: int
    bytes: int
    new: bool


def find_published(archive: Path, task: str = "") -> tuple[Path, ...]:
    """Returns everything in the place of published programs, or of those of one task, in a fixed order: a folder that is no export must be seen, too."""
    found = sorted(path for path in (archive / _FOLDER).glob("*/*") if not path.name.startswith("."))
    return tuple(folder for folder in found if not task or folder.parent.name == folder_name(task))


def _place(archive: Path, claims: Claims) -> Path:
    """Returns the folder of a program."""
    return archive / _FOLDER / folder_name(claims.task.name) / claims.program[:_SHORT]


def publish(export: Export, task: Task, archive: Path, *, force: bool = False) -> PublishedProgram:
    """Adds a promoted program; raises `ConfigError` for any other. An equal export remains; a different one of the program is replaced with `force` alone."""
    claims = export.claims
    check_publishable(claims, task)
    size = sum(map(len, export.contents.values()))
    if size > LARGEST:
        raise ConfigError(
            f"{claims.name} has {size / 1024:,.0f} KiB with its task, and what is published has at most {LARGEST >> 10:,}. Do: evolve program export {claims.name}"
        )
    check_size(len(export.contents), size)
    folder = _place(archive, claims)
    new = not folder.exists() or read(folder) != dict(export.contents)
    if new:
        write(export.contents, folder, top="", force=force)
    return PublishedProgram(claims.name, claims.task.name, claims.program, str(folder), len(export.contents), size, new)


def check_place(archive: Path, folder: Path, claims: Claims) -> None:
    """Raises `ConfigError` where a program is not in its own folder."""
    if folder != _place(archive, claims):
        raise ConfigError(
            f"{folder} holds {claims.program[:16]} of task {claims.task.name!r}, which belongs elsewhere. Do: put it back, or remove it"
        )


def check_publishable(claims: Claims, task: Task) -> None:
    """Raises `ConfigError` with the condition that a program misses, and the command that brings it."""
    obstacle = _find_obstacle(claims, task)
    if obstacle:
        raise ConfigError(obstacle)


def _find_obstacle(claims: Claims, task: Task) -> str:
    name, campaign = claims.name, claims.name.rpartition("/")[0]
    more = f"Do: evolve run --continue {campaign} --budget 10m"
    level = claims.first.isolation.partition(":")[0] if claims.first else ""
    if claims.quarantined:
        return f"{name} is quarantined ({claims.quarantined}), and is not published. Do: publish another; `evolve program release {name}` ends a quarantine that was wrong"
    if claims.value is None:
        return f"{name} has no score: it never passed. Do: evolve program list {campaign}"
    if claims.is_claimed:
        return f"the score of {name} is claimed by the program's own script, and nobody has computed it. Do: let the task's evaluator compute it, and run again"
    if claims.program == task.seed.id:
        return f"{name} is the task's seed, so nothing was found that could be published. {more}"
    if level in ("", Level.NONE.value):
        return f"{name} was judged without isolation. Do: evolve run {claims.task.name} --sandbox standard, and publish what that finds"
    if claims.promotion is None:
        return f"{name} is not promoted: {_explain_no_promotion(claims, task)}"
    if not claims.value.confirmed:
        return f"{name} is not confirmed: its value rests on the measurements that chose it. {more} measures the best again"
    return ""


def _explain_no_promotion(claims: Claims, task: Task) -> str:
    campaign = claims.name.rpartition("/")[0]
    if task.promotion == "certificate":
        return f"the task has not certified it, and certifies what may be the best alone. Do: publish {campaign}/best, or go on with the campaign, evolve run --continue {campaign} --budget 10m"
    if not task.held_out:
        return f"task {task.name!r} has neither held-out cases nor a certificate, so nothing ever is. Do: declare [[held_out]] in its task.toml"
    own = {one.case: one.fitness for one in claims.judgings if one.case and not one.of_seed}
    seeds = {one.case: one.fitness for one in claims.judgings if one.case and one.of_seed}
    names = [case.name for case in task.held_out]
    missing = [name for name in names if name not in own or name not in seeds]
    if missing:
        return f"it was not measured on {', '.join(map(repr, missing))}, as the best alone is. Do: evolve run --continue {campaign} --budget 10m"
    worse = [
        f"{name!r}: {own[name]}, the seed {seeds[name]}" for name in names if _is_worse(own[name], seeds[name], task)
    ]
    why = "; ".join(worse) or "a constraint is missed"
    return f"it is worse than the seed on held-out cases ({why}), so what was found in the search does not hold there. Do: publish another, or search on, evolve run --continue {campaign} --budget 10m"


def _is_worse(own: float | None, seed: float | None, task: Task) -> bool:
    if own is None or seed is None:
        return own is None
    return task.fitness.inside(own) < task.fitness.inside(seed)


def format_index(archive: Path) -> str:
    """Returns the index; raises `ConfigError` where a folder differs from its manifest, or holds a program that may not be published."""
    rows: list[tuple[tuple[str, float, str], tuple[str, ...]]] = []
    for folder in find_published(archive):
        contents, claims = _read(archive, folder)
        with load_exported_task(contents, claims.task) as task:
            check_publishable(claims, task)
            value = claims.value.fitness if claims.value else 0.0
            rows.append(((claims.task.name, -task.fitness.inside(value), claims.program), _row(folder, claims, task)))
    table = format_table(_HEADINGS, [row for _, row in sorted(rows)]) if rows else "Nothing is published yet."
    return f"{_HEAD}\n\n{table}\n"


def check_index(archive: Path) -> None:
    """Raises `ConfigError` where the index differs from the folders, or a folder may not be published."""
    target, text = archive / INDEX, format_index(archive)
    try:
        there = target.read_bytes()
    except OSError:
        there = b""
    if there != text.encode("utf-8"):
        raise ConfigError(f"{target} is not what the folders say. Do: evolve program publish --index writes it anew")


def renew_pages(archive: Path) -> None:
    """Writes the pages of every published program anew where another version has made them; nothing of the record changes."""
    for folder in find_published(archive):
        contents, claims = _read(archive, folder)
        with load_exported_task(contents, claims.task) as task:
            pages = make_pages(claims, contents, task, read_steps(contents))
        if any(contents.get(path) != data for path, data in pages.items()):
            kept = {path: data for path, data in contents.items() if path != MANIFEST}
            write(add_manifest({**kept, **pages}), folder, top="", force=True)


def write_index(archive: Path) -> Path:
    """Writes the index anew."""
    target, text = archive / INDEX, format_index(archive)
    try:
        archive.mkdir(parents=True, exist_ok=True)
        with write_atomically(target, replace=True) as made:
            made.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{target} cannot be written: {error.strerror}. Do: name another place with --archive"
        ) from error
    return target


def _read(archive: Path, folder: Path) -> tuple[dict[str, bytes], Claims]:
    contents = read(folder)
    wrong = check_files(contents)
    if wrong:
        raise ConfigError(
            f"{folder} is not what was published: {wrong[0].path} {wrong[0].why}. Do: put it back as it was, or remove the folder"
        )
    claims = read_claims(contents)
    check_place(archive, folder, claims)
    return contents, claims


def _row(folder: Path, claims: Claims, task: Task) -> tuple[str, ...]:
    place = f"{_FOLDER}/{folder.parent.name}/{folder.name}/{README}"
    first, value = claims.first, claims.value
    return (
        format_code(claims.task.name),
        f"[`{folder.name}`]({place.replace(' ', '%20')})",
        format_number(claims, value.fitness) + format_interval(claims, value) if value else "",
        claims.task.direction,
        escape("; ".join(filter(None, (_describe_evidence(claims), format_kept_gain(claims, task))))),
        "" if claims.seed_fitness is None else format_number(claims, claims.seed_fitness),
        _format_literature(claims, task),
        "" if first is None else escape(first.isolation.partition(":")[0]),
        escape(claims.found.partition("T")[0]),
        ", ".join(escape(used.model or used.name) for used in claims.models) or "no model",
    )


def _describe_evidence(claims: Claims) -> str:
    if claims.value is not None and claims.value.certified:
        return "certified"
    return "held out, deterministic" if claims.task.deterministic else "held out, confirmed"


def _format_literature(claims: Claims, task: Task) -> str:
    """Returns the hardest anchor that is reached, and the easiest that is not."""
    if claims.value is None:
        return ""
    gaps = report.nearest(report.anchor_gaps(task, task.fitness.inside(claims.value.fitness)))
    return "; ".join(f"{gap.difference:+.3g} to {escape(gap.by)}{f' {gap.year}' if gap.year else ''}" for gap in gaps)
