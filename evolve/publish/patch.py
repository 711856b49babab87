"""`evolve program export --patch`: a commit's worth of change to a person's own repository, as `git am` takes it.

Invariant: only what stands in the EVOLVE blocks is replaced (the whole file, where the seed has none), and only where the repository still has what the
search began with; every other byte stays."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path

from evolve.blocks import blocks
from evolve.campaign import Campaign
from evolve.publish.git import Committed, Repository, repository
from evolve.publish.message import mail
from evolve.publish.result import Result, result
from evolve.types import ConfigError, RecordId

_NEW = "100644"
_TOLD = 5
"""How many places are told where a file differs."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch: `files` are the paths in the repository that it changes or adds; `notes` tell what whoever applies it should know."""

    program: str
    repository: str
    files: tuple[str, ...]
    text: bytes
    notes: tuple[str, ...]


def write_patch(campaign: Campaign, record: RecordId, place: Path) -> Patch:
    """The change from the seed to a record's program in the repository of `place`: a folder that has the program's files, the file itself where there is
    only one, or any folder of the repository that the task lies in. Raises `ConfigError`; writes nothing."""
    found = result(campaign, record)
    if found.files == campaign.task.seed.files:
        raise ConfigError(
            f"{found.name} is the program that the search began with, so there is nothing to change. Do: name another one"
        )
    git = repository(place)
    files, notes = {}, []
    for path, target in _targets(campaign, found, git, place).items():
        committed = git.committed(target)
        changed = _changed(campaign, found, path, target, committed)
        if committed is None or changed != committed.data:
            files[target] = Committed(committed.mode if committed else _NEW, changed)
        if committed and b"\r\n" in committed.data:
            notes.append(f"{target} has lines that end as on Windows: apply with git apply, or git am --keep-cr")
    if not files:
        raise ConfigError(f"{git.top} has the program of {found.name} already. Do: nothing")
    notes += [
        f"{path} is not as it is committed: the patch is against the commit" for path in git.is_dirty(list(files))
    ]
    stat, diff = git.difference(files)
    text = mail(campaign, found, git.identity(), tuple(files), stat, diff)
    return Patch(found.name, str(git.top), tuple(files), text, tuple(notes))


def _targets(campaign: Campaign, found: Result, git: Repository, place: Path) -> Mapping[str, str]:
    """Where in the repository each file of the program lies that is new or was changed."""
    seed = campaign.task.seed.files
    wanted = [path for path, text in found.files.items() if seed.get(path) != text]
    if place.is_file():
        if len(seed) != 1 or wanted != list(seed):
            raise ConfigError(
                f"{place} is one file, and {found.name} changes {', '.join(wanted)}. Do: name the folder that these lie in"
            )
        return {wanted[0]: _within(git, place)}
    named = {path: campaign.task.one_file if campaign.task.one_file and path in seed else path for path in wanted}
    known = [named[path] for path in wanted if path in seed] or [next(iter(seed))]
    for folder in (place, Path(campaign.task.folder)):
        if git.path(folder) is not None and all((folder / name).is_file() for name in known):
            return {path: _within(git, folder / name) for path, name in named.items()}
    raise ConfigError(
        f"neither {place} nor the task's folder {campaign.task.folder} is a folder of {git.top} that has {', '.join(known)}. "
        "Do: name the folder in which the program's files lie, or the file where there is only one"
    )


def _within(git: Repository, file: Path) -> str:
    path = git.path(file)
    if path is None:
        raise ConfigError(f"{file} leads out of the repository {git.top}. Do: name a folder within it")
    return path


def _changed(campaign: Campaign, found: Result, path: str, target: str, committed: Committed | None) -> bytes:
    """What a file becomes; raises `ConfigError` where the repository has something else than the search began with."""
    new, old = found.files[path], campaign.task.seed.files.get(path)
    if old is None:
        if committed is not None and _plain(committed.data, target) != new:
            raise ConfigError(
                f"{found.name} adds the file {path}, and {target} is another one. Do: rename that one, or patch by hand"
            )
        return _bytes(new, found.name, path) if committed is None else committed.data
    if committed is None:
        raise ConfigError(f"{target} is not committed, and a patch is against a commit. Do: git add and git commit it")
    text = _text(committed.data, target)
    return _bytes("".join(_pieces(_Change(path, target, text, old, new))), found.name, path)


@dataclass(frozen=True, slots=True)
class _Change:
    """A file in the repository, and the seed's and the program's text of it. `path` is the program's name for it."""

    path: str
    target: str
    text: str
    old: str
    new: str


def _pieces(change: _Change) -> Iterator[str]:
    """The new text piece by piece: outside of the blocks what is there, inside them the program's."""
    there, wanted = len(blocks(change.text, change.path)), len(blocks(change.old, change.path))
    if there != wanted:
        raise ConfigError(
            f"{change.target} has {there} EVOLVE blocks, and the program has {wanted}. Do: put their markers where they were, or patch by hand"
        )
    here, before, after = (_parts(text, change.path) for text in (change.text, change.old, change.new))
    line = 1
    for index, (mine, old, new) in enumerate(zip(here, before, after, strict=True)):
        if index % 2 == 0:
            yield mine
        elif _unix(mine) in (old, new):
            yield _replaced(mine, new)
        else:
            raise ConfigError(_differs(change.target, line, mine, old))
        line += mine.count("\n")


def _parts(text: str, path: str) -> list[str]:
    """What is outside of the blocks and what is inside, in turn, beginning outside; all of a text without blocks is inside."""
    found = blocks(text, path)
    if not found:
        return ["", text, ""]
    edges = [0, *(edge for span in found for edge in span), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def _replaced(old: str, new: str) -> str:
    """The new text; lines that stay are kept to the byte, and others end as the old ones do."""
    lines, others = old.splitlines(keepends=True), new.splitlines(keepends=True)
    ending = "\r\n" if old.count("\r\n") * 2 > old.count("\n") else "\n"
    matcher = SequenceMatcher(None, [_unix(line) for line in lines], others, autojunk=False)
    kept: list[str] = []
    for tag, start, end, low, high in matcher.get_opcodes():
        kept += lines[start:end] if tag == "equal" else [line.replace("\n", ending) for line in others[low:high]]
    return "".join(kept)


def _differs(target: str, first: int, mine: str, old: str) -> str:
    """Which lines of a file are not the seed's."""
    lines, others = _unix(mine).splitlines(), old.splitlines()
    places = [
        f"{first + start}" if end - start <= 1 else f"{first + start} to {first + end - 1}"
        for tag, start, end, _, _ in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    more = f" and {len(places) - _TOLD} more places" if len(places) > _TOLD else ""
    return (
        f"{target} is not what the search began with: it differs at line {', '.join(places[:_TOLD]) or first}{more}. "
        "Do: check out the commit that the search began with and apply the patch there; git merges the rest"
    )


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _text(data: bytes, target: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{target} is no text in UTF-8: {error}. Do: save it as UTF-8, and commit that") from error


def _plain(data: bytes, target: str) -> str:
    return _unix(_text(data, target))


def _bytes(text: str, name: str, path: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError(f"{path} of {name} cannot be written as UTF-8: {error}. Do: name another program") from error
