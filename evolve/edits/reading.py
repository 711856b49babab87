"""From a model's reply to candidates: the algorithm, top to bottom.

Invariant: a candidate is applied whole or not at all, and differs from the program that was shown."""

from collections.abc import Iterator, Mapping, Sequence

from evolve.blocks import changeable
from evolve.edits.answer import Broken, Item, Prose, Replace, Rewrite
from evolve.edits.applying import applied, sheets
from evolve.edits.candidate import Candidate
from evolve.edits.failure import EditFailed, EditKind
from evolve.edits.rewriting import new_text, rewritten
from evolve.edits.scanning import scanned
from evolve.edits.sections import Section, preamble, refuses, sections, thought
from evolve.edits.sheet import Sheet
from evolve.edits.spelling import decoded
from evolve.edits.targets import target, without_samples
from evolve.edits.unfenced import unfenced
from evolve.types import Program

MOST_CANDIDATES = 16
_CUT = "length"
_HOW = (
    "Do: answer with SEARCH/REPLACE blocks, or with the whole file in one fenced text with its path behind the language"
)


def read(reply: str, program: Program, *, new_files: Sequence[str] = (), finish: str = "") -> tuple[Candidate, ...]:
    """The programs that a reply to `program` describes, in its order: at least one. `new_files`: patterns of the paths that may be
    added; `finish`: why the model stopped, `length` where it was cut. Raises `EditFailed` where none can be applied."""
    text = decoded(without_thinking(reply))
    lines = _lines(text)
    items = without_samples(scanned(lines, program.files), program)
    parts = [option for section in sections(items) for option in _options(section, _only_file(program))]
    if not any(_is_edit(item) for item in items):
        items, parts = _without_fence(lines, program)
    if not parts:
        raise _nothing(text, finish)
    return _candidates(parts[:MOST_CANDIDATES], items, program, new_files, finish == _CUT)


def without_thinking(reply: str) -> str:
    """A reply without the thoughts that some servers leave in it."""
    text = reply.removeprefix("\ufeff")
    start = text.lstrip()
    if start.startswith("<think>"):
        return start.partition("</think>")[2]
    before, closed, rest = text.partition("\n</think>")
    return rest if closed and "<think>" not in before else text


def _lines(text: str) -> list[str]:
    """The lines of a reply; a `\\r` before each line's end is the reply's own way to end lines."""
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    return text.split("\n")


def _is_edit(item: Item) -> bool:
    return not isinstance(item, Prose)


def _only_file(program: Program) -> str:
    """The one file in which something may change; empty where there are more."""
    found = [path for path, spans in changeable(program.files).items() if spans]
    return found[0] if len(found) == 1 else ""


def _options(section: Section, only: str) -> Iterator[Section]:
    """A section, or the candidates in it where it writes the same file more than once; what tells no path is the `only` one."""
    if any(isinstance(item, Replace | Broken) for item in section.items):
        yield section
        return
    options = [Section(section.title)]
    written: set[str] = set()
    for item in section.items:
        if isinstance(item, Rewrite):
            path = item.path or only
            if path in written:
                options.append(Section(section.title))
                written = set()
            written.add(path)
        options[-1].items.append(item)
    options[-1].last = section.last
    yield from options


def _candidates(
    parts: Sequence[Section], items: Sequence[Item], program: Program, new_files: Sequence[str], cut: bool
) -> tuple[Candidate, ...]:
    known = sheets(program)
    found: list[Candidate] = []
    failures: list[EditFailed] = []
    before = preamble(items)
    for part in parts:
        try:
            made = _program(part, program, known, new_files, cut and part.last)
        except EditFailed as failure:
            failures.append(failure)
            continue
        if all(made != other.program for other in found):
            found.append(Candidate(made, thought(part, before)))
    if not found:
        raise _worst(failures)
    return tuple(found)


def _program(
    part: Section, program: Program, known: Mapping[str, Sheet], new_files: Sequence[str], cut: bool
) -> Program:
    """The program of one candidate. Raises `EditFailed`."""
    edits = [item for item in part.items if isinstance(item, Replace)]
    rewrites = [item for item in part.items if isinstance(item, Rewrite)]
    if cut and not _is_finished(part, known):
        raise EditFailed(
            EditKind.CUT_OFF,
            "The reply was cut at its greatest length, so nothing of it was applied. Do: answer in fewer words, or with smaller edits",
        )
    for item in part.items:
        if isinstance(item, Broken):
            raise EditFailed(item.kind, item.message)
    texts = applied(edits, known, new_files) if edits else {}
    for rewrite in rewrites:
        if rewrite.named or not edits:
            _add(texts, rewrite, known, new_files)
    made = Program({**program.files, **texts})
    if made == program:
        raise EditFailed(EditKind.NO_OP, "The program would stay exactly as it is. Do: change it")
    return made


def _add(texts: dict[str, str], rewrite: Rewrite, known: Mapping[str, Sheet], new_files: Sequence[str]) -> None:
    """One written file; one that is only shown, and equal, may stand beside edits of it."""
    path = target(rewrite, known, new_files)
    text = rewritten(rewrite, known[path]) if path in known else new_text(rewrite)
    shown_before = path in known and text == known[path].text
    if path in texts and texts[path] != text and not shown_before:
        raise EditFailed(
            EditKind.CONFLICT,
            f"The reply both edits {path} and writes it anew, with different results. Do: write it once",
        )
    if not shown_before:
        texts[path] = text


def _is_finished(part: Section, known: Mapping[str, Sheet]) -> bool:
    """Whether a reply that was cut had nothing left to write but words: its one file is whole, and words follow."""
    written = [index for index, item in enumerate(part.items) if _is_edit(item)]
    rewrite = part.items[written[0]]
    if len(written) != 1 or not isinstance(rewrite, Rewrite) or not rewrite.closed:
        return False
    words = any(isinstance(item, Prose) and item.text.strip() for item in part.items[written[0] :])
    return words and sum(bool(sheet.spans) for sheet in known.values()) == 1


def _without_fence(lines: Sequence[str], program: Program) -> tuple[tuple[Item, ...], list[Section]]:
    """A reply that is a program and nothing else, or after a few words."""
    found = unfenced(lines, program)
    items = found or tuple(Prose(line) for line in lines)
    return items, list(sections(items))


def _nothing(text: str, finish: str) -> EditFailed:
    if finish == _CUT:
        return EditFailed(
            EditKind.CUT_OFF,
            "The reply was cut at its greatest length before an edit began. Do: answer in fewer words, with the edit first",
        )
    if refuses(text):
        return EditFailed(
            EditKind.REFUSED,
            f"The reply refuses, and holds no edit. The task is to improve a program, and harmless. {_HOW}",
        )
    said = "The reply is empty." if not text.strip() else "The reply holds no edit and no program."
    return EditFailed(EditKind.NO_EDIT, f"{said} {_HOW}")


def _worst(failures: Sequence[EditFailed]) -> EditFailed:
    """The failure that tells most: any other before that a shown part changes nothing, or is a part."""
    telling = [failure for failure in failures if failure.kind not in (EditKind.NO_OP, EditKind.PARTIAL)]
    return (telling or failures)[0]
