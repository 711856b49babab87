"""Which file a fenced text is for, and which texts are for none.

Invariant: a text is for a file only where nothing else can be meant."""

from collections.abc import Mapping, Sequence

from evolve.changes import matches
from evolve.edits.answer import Item, Prose, Rewrite
from evolve.edits.failure import EditFailed, EditKind, shown
from evolve.edits.parsing import tree
from evolve.edits.paths import from_comment, resolved
from evolve.edits.sheet import Sheet
from evolve.types import Program

_SUFFIXES = {
    "python": ("py",), "py": ("py",), "python3": ("py",), "c": ("c", "h"), "cpp": ("cpp", "cc", "h", "hpp", "cu"), "c++": ("cpp", "cc", "hpp"),
    "cuda": ("cu", "cuh"), "rust": ("rs",), "javascript": ("js", "mjs"), "js": ("js", "mjs"), "typescript": ("ts",), "go": ("go",), "java": ("java",),
    "bash": ("sh",), "sh": ("sh",), "shell": ("sh",), "console": (), "output": (), "json": ("json",), "toml": ("toml",), "yaml": ("yaml", "yml"),
    "text": ("txt", "md"), "txt": ("txt",), "markdown": ("md",), "md": ("md",), "latex": ("tex",), "math": (), "mermaid": (), "sql": ("sql",),
}  # fmt: skip
"""What a fence's language can be the suffix of; one that is not here can be that of any file."""


def without_samples(items: Sequence[Item], program: Program) -> tuple[Item, ...]:
    """The items of a reply; a fenced text that cannot be a file of the program is part of the words: a command line, or, where the reply
    holds programs, a text in no language that does not parse, which is what one of them prints."""
    fitting = [item for item in items if isinstance(item, Rewrite) and _fits(item, program)]
    python = all(path.endswith(".py") for path in program.files)
    telling = [item for item in fitting if item.named or item.tag] if python else []
    kept = [item for item in fitting if not telling or item in telling or tree("\n".join(item.lines)) is not None]
    return tuple(Prose("") if isinstance(item, Rewrite) and item not in kept else item for item in items)


def _fits(item: Rewrite, program: Program) -> bool:
    return item.named or any(_may_be(item.tag, path) for path in program.files)


def target(rewrite: Rewrite, known: Mapping[str, Sheet], new_files: Sequence[str]) -> str:
    """Which file a fenced text is for."""
    path = rewrite.path or from_comment(next((line for line in rewrite.lines if line.strip()), ""))
    if rewrite.named:
        return resolved(path, tuple(known), new_files)
    if path in known or any(matches(path, pattern) for pattern in new_files if path):
        return path
    fitting = [name for name, sheet in known.items() if sheet.spans and _may_be(rewrite.tag, name)]
    if len(fitting) == 1:
        return fitting[0]
    raise EditFailed(
        EditKind.UNKNOWN_FILE,
        f"It is not said for which file this text is:\n{shown(rewrite.lines, 4)}\n"
        f"The program has {', '.join(fitting or known)[:600]}. Do: write the path behind the language of the fence",
    )


def _may_be(tag: str, path: str) -> bool:
    return tag not in _SUFFIXES or path.rpartition(".")[2] in _SUFFIXES[tag]
