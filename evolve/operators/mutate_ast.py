"""`mutate_ast`: a few grammatical edits of a Python program, made of what the program and the inspirations hold.

A child compiles, differs from its parent in more than layout, changes nothing outside the blocks, and reads no name that
nothing binds, unless its parent did. It is a function of the selection, the programs in it and the step's random numbers."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

from evolve import novelty
from evolve.edits.blocks import Span, blocks, changeable, outside
from evolve.operators.mutations import WEIGHTS, Material
from evolve.operators.parents import parent_program
from evolve.operators.python_source import Edit, Source, apply_edit, read
from evolve.protocols import Context, History
from evolve.types import Child, EditError, Program, Selection

_MOST_EDITS = 8
_TRIES = 60
"""Edits that are tried before one file counts as unchangeable; most fail because there is no place for their kind."""
_AGAIN = 4
"""Children that are tried before the edits of all of them have cancelled each other out."""
_LARGEST = 400
"""Nodes that a file may always have."""
_GROWTH = 3
"""Factor of the seed's size that a file may grow to."""
_WORDS = 200


class MutateSettings(BaseModel):
    """Settings of `mutate_ast`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    more: float = Field(default=0.35, ge=0.0, le=0.9)
    """The probability that one more edit follows an edit."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits that hold while one file is edited: its path, whether only blocks may change, the names that it must keep, and the
    size that it may grow to."""

    path: str
    has_blocks: bool
    kept: frozenset[str]
    largest: int


class MutateAst:
    """Edits one Python file of the parent at a time; keeps nothing between proposals but trees that it could parse again."""

    def __init__(self, settings: MutateSettings) -> None:
        self._more = settings.more
        self._finds = tuple(WEIGHTS)
        total = sum(WEIGHTS.values())
        self._shares = [weight / total for weight in WEIGHTS.values()]
        self._read = lru_cache(maxsize=256)(read)

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns `selection.samples` children of the first parent; raises `EditError` where nothing can be changed."""
        parent = parent_program(selection, context.history)
        try:
            donors = list(self._donors(parent, selection, context.history))
            files = self._files(parent)
            return [self._child(parent, files, donors, context) for _ in range(selection.samples)]
        except RecursionError as error:
            raise EditError(
                f"a file of {', '.join(parent.files)} is nested too deeply to be changed. Try: use another operator"
            ) from error

    def _files(self, parent: Program) -> Mapping[str, Source]:
        """Returns the Python files of the parent that may change; raises `EditError` where there is none, or one does not parse and no other does."""
        spans = {path: found for path, found in changeable(parent.files).items() if path.endswith(".py") and found}
        files, unread = dict[str, Source](), list[EditError]()
        for path, found in spans.items():
            try:
                files[path] = self._read(parent.files[path], path, found)
            except EditError as error:
                unread.append(error)
        if not files:
            raise next(
                iter(unread),
                EditError(
                    f"no Python file that may change in {', '.join(parent.files)}. Try: use another operator, "
                    "or put EVOLVE-BLOCK markers into a file that ends with .py"
                ),
            )
        return files

    def _donors(self, parent: Program, selection: Selection, history: History) -> Iterator[tuple[str, Source]]:
        """Yields the Python files of the other parents and the inspirations that parse, with their paths."""
        for record in dict.fromkeys((*selection.parents[1:], *selection.inspirations)):
            program = history.program_id(record)
            if program is None or program == parent.id:
                continue
            for path, text in history.program(program).files.items():
                if path.endswith(".py"):
                    with contextlib.suppress(EditError):
                        yield path, self._read(text, path, ())

    def _child(
        self, parent: Program, files: Mapping[str, Source], donors: Sequence[tuple[str, Source]], context: Context
    ) -> Child:
        # Several edits may undo each other, so the child as a whole is compared with its parent.
        rng, old = context.rng, novelty.signature(parent)
        for _ in range(_AGAIN):
            path = _choose_file(files, rng)
            given = [source for name, source in donors if name == path or name not in parent.files]
            text, words = self._edit(files[path], given, self._frame(path, files[path], parent, context.task.seed), rng)
            child = Program({**parent.files, path: text})
            if words and novelty.signature(child) != old:
                return Child(child, thought=f"{path}: {'; '.join(words)}"[:_WORDS])
        raise EditError(
            f"none of {_AGAIN * _TRIES} edits of {', '.join(files)} gave another program that compiles. Try: use another operator"
        )

    def _frame(self, path: str, source: Source, parent: Program, seed: Program) -> FileLimits:
        """Returns the limits of a file. It keeps the names of the seed's module, which the evaluator may use; in a file that is not
        the seed's, all names of the module."""
        has_blocks = any(blocks(text, name) for name, text in parent.files.items())
        try:
            first = self._read(seed.files[path], path, ())
        except (KeyError, EditError):
            first = source
        return FileLimits(
            path, has_blocks, frozenset(first.names.module.bindings), max(_LARGEST, _GROWTH * len(first.nodes))
        )

    def _edit(
        self, source: Source, donors: Sequence[Source], frame: FileLimits, rng: Generator
    ) -> tuple[str, Sequence[str]]:
        """Returns the text after one edit or a few, and what each did."""
        words: list[str] = []
        for _ in range(min(_MOST_EDITS, int(rng.geometric(1.0 - self._more)))):
            found = self._once(Material(source, donors, frame.kept, rng), frame)
            if found is None:
                break
            source = found[0]
            words.append(found[1])
        return source.text, words

    def _once(self, material: Material, frame: FileLimits) -> tuple[Source, str] | None:
        """Returns the file with one edit that may be made; None where no try found one."""
        # All kinds are drawn at once: a draw by weights costs more than most edits.
        for choice in material.rng.choice(len(self._finds), _TRIES, p=self._shares):
            edit = self._finds[choice](material)
            made = _apply(material.source, edit, frame) if edit else None
            if edit and made:
                return made, edit.words
        return None


def _choose_file(files: Mapping[str, Source], rng: Generator) -> str:
    """Returns a file, in proportion to its values."""
    sizes = [1 + len(source.sites) for source in files.values()]
    return list(files)[int(rng.choice(len(sizes), p=[size / sum(sizes) for size in sizes]))]


def _apply(source: Source, edit: Edit, frame: FileLimits) -> Source | None:
    """Returns the file with an edit in it; None where that is no other program, or one that may not be."""
    text = apply_edit(source, edit)
    if text is None or (frame.has_blocks and outside(text, frame.path) != outside(source.text, frame.path)):
        return None
    regions = blocks(text, frame.path) if frame.has_blocks else (Span(0, len(text)),)
    try:
        made = read(text, frame.path, regions)
    except EditError:
        return None
    fits = len(made.nodes) <= max(frame.largest, len(source.nodes))
    same = made.shape == source.shape
    return made if fits and not same and not made.names.unbound() - source.names.unbound() else None
