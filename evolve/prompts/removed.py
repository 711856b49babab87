"""The section on lines that were taken out on the way to the parent: what comes back unawares is tried in vain a second time.

Invariant: a line that is told is not in the parent, whatever numbers stand in it."""

from collections.abc import Sequence

from evolve.prompts.control import broken
from evolve.prompts.lineage import Change, change, outline, telling_lines
from evolve.prompts.quoting import DATA, fenced
from evolve.prompts.subject import Subject, effect
from evolve.prompts.trimming import Draft, Piece
from evolve.types import RecordId

_SHOWN = 12
"""Lines of a step that are told as taken out."""


def changed(subject: Subject, before: RecordId, after: RecordId) -> Change:
    """What a step changed; nothing, where one of the two has no program."""
    old, new = subject.known.program(before), subject.known.program(after)
    return Change("", "", ()) if old is None or new is None else change(old, new)


def removed(subject: Subject) -> Draft:
    """Lines that a step of the lineage took out and that are not back, the latest step first, and the children that put some back."""
    program = subject.known.program(subject.parent) if subject.parent else None
    if program is None:
        return Draft()
    present, pieces = telling_lines(program), list[Piece]()
    told = dict[str, None]()
    for age, number in enumerate(reversed(subject.steps)):
        before = subject.known.made_from(number)
        taken = changed(subject, before, number).taken
        gone = [line for line in taken if outline(line) not in present and outline(line) not in told]
        told.update(dict.fromkeys(map(outline, gone)))
        if gone:
            pieces.append(Piece((_taken_out(subject, number, before, gone), ""), (57.0 - age,)))
    return Draft(tuple(pieces), {"number": str(subject.parent)})


def _taken_out(subject: Subject, number: RecordId, before: RecordId, gone: Sequence[str]) -> str:
    did = effect(subject, number, before) or _why_none(subject, number, before)
    more = f" These are the first {_SHOWN} of {len(gone)} lines." if len(gone) > _SHOWN else ""
    shown = fenced(broken("\n".join(gone[:_SHOWN])))
    back = [each for each in subject.children if _puts_back(subject, each, gone)]
    ends = "; ".join(_put_back(subject, each) for each in back)
    again = f"\n\nPut back, in part at least, by {ends}." if back else ""
    return f"On the way to program {number} ({did}).{more} {DATA}\n\n{shown}{again}"


def _why_none(subject: Subject, number: RecordId, before: RecordId) -> str:
    """Why a step has no effect on the score: which of the two has none."""
    without = next(each for each in (number, before) if subject.known.score(each) is None)
    has = "has no score" if subject.history.is_current(without) else "has no score that compares"
    return f"program {without} {has}"


def _puts_back(subject: Subject, child: RecordId, gone: Sequence[str]) -> bool:
    program = subject.known.program(child)
    return program is not None and any(outline(line) in telling_lines(program) for line in gone)


def _put_back(subject: Subject, child: RecordId) -> str:
    did = effect(subject, child, subject.parent) or subject.history.outcome(child).value
    return f"program {child} ({did})"
