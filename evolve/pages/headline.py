"""What a reader must know first: what was found, and how far it may be trusted.

Invariant: no score without what it rests on; what speaks against it stands in the same place as what speaks for it."""

from collections.abc import Iterator

from evolve import wording
from evolve.pages.document import Block, Line, Mono, Paragraph, Strong
from evolve.pages.findings import Findings
from evolve.pages.numbers import time
from evolve.report import Best
from evolve.types import Level, Task


def headline(found: Findings, task: Task) -> tuple[Block, ...]:
    """Paragraphs for the beginning."""
    return (*_state(found), _result(found, task), *_reservations(found, task))


def _state(found: Findings) -> Iterator[Block]:
    page = found.overview
    if found.writer:
        told = f"The campaign is running (process {found.writer}). This is what it had found when the report was made; what is left of its budget: {found.left}."
        yield Paragraph(told, "bad")
    elif page.unfinished:
        yield Paragraph(f"The campaign has ended for now: {wording.waiting(page.unfinished)}.")
    if page.difference:
        told = f"This version of evolve makes another archive of the log than the log says: {page.difference}. What follows is what this version makes of it."
        yield Paragraph((Strong("Careful:"), f" {told}"), "bad")


def _result(found: Findings, task: Task) -> Block:
    best = found.overview.best
    if best is None:
        return Paragraph(_nothing(found), "bad")
    if not best.improved:
        told = f" found no program that is better than the seed, which has {wording.score(best, task.fitness)}. {_effort(found)}"
        return Paragraph((Strong("No improvement:"), " the search", told, _basis(best)), "bad")
    score = Strong(wording.score(best, task.fitness))
    return Paragraph(
        (score, " is what ", Mono(best.name), f" reaches{_proof(found, best, task)}. {_effort(found)}", _basis(best)),
        "good",
    )


def _nothing(found: Findings) -> Line:
    page = found.overview
    if page.closest is not None:
        least = "; ".join(wording.closest(page.closest).split("\n")[1:])
        return (Strong("No program meets the constraints:"), f" the {least}. {_effort(found)}")
    if not page.records:
        return (Strong("Nothing was judged yet."), " There is nothing to report.")
    return (
        Strong("There is no best program:"),
        " the seed has failed, and so has every program after it. ",
        f"{_effort(found)} Why is told below, in what did not work.",
    )


def _effort(found: Findings) -> str:
    page = found.overview
    return f"The campaign has judged {wording.counted(page.programs, 'program')} in {time(page.seconds)}."


def _proof(found: Findings, best: Best, task: Task) -> str:
    if best.certified:
        return f", a value that the task has proven in exact arithmetic (record {found.certificate})"
    parts = [f"which is {best.ratio.factor:.4g} times the seed"] if best.ratio is not None else []
    if not task.deterministic and not found.confirmed:
        parts.append("by the measurements that made it win, luck included")
    if found.limits is not None:
        limits = found.limits
        parts.append(f"with {limits.level:.0%} probability between {limits.low:.6g} and {limits.high:.6g}")
    return "".join(f", {part}" for part in parts)


def _basis(best: Best) -> str:
    level = wording.level(best.isolation, weaker=best.weaker)
    promoted = " It is promoted: on no held-out case is it worse than the seed." if best.promoted else ""
    return f" Its score is {best.trust}, judged at the isolation level {level}.{promoted}"


def _reservations(found: Findings, task: Task) -> Iterator[Block]:
    best = found.overview.best
    if best is None:
        return
    if best.trust == "claimed":
        told = "the program itself has computed this score, and nobody else has. It is worth as much as the program's word."
        yield Paragraph((Strong("Claimed:"), f" {told}"), "bad")
    yield from _held_out(found, best)
    level = Level.of(best.isolation)
    if level in (Level.REDUCED, Level.NONE):
        told = f"candidates were isolated at the level {level} only, so that a hostile program could have reached its judge."
        yield Paragraph((Strong("Weak isolation:"), f" {told}"), "bad")
    limits = found.limits
    if limits is not None and best.seed is not None and best.improved and limits.low <= best.seed <= limits.high:
        told = f"the seed's {wording.number(best.seed, task.fitness)} lies between the same limits, so that the gain may be luck."
        yield Paragraph((Strong("Within the noise:"), f" {told}"), "bad")
    if best.ratio is not None and not best.ratio.clears_the_floor and best.improved:
        told = wording.ratio(best.ratio).replace("\n", "; ")
        yield Paragraph((Strong("Within the noise:"), f" {told}"), "bad")


def _held_out(found: Findings, best: Best) -> Iterator[Block]:
    if not best.improved or found.kept is None:
        return
    kept, told = found.kept, ""
    match kept.verdict:
        case "gone" | "shrinks":
            told = f"{wording.kept(kept)}."
        case "holds":
            if best.promoted:
                told = f"{wording.kept(kept)}." if kept.lost else ""
            else:
                told = "the gain does not hold on every held-out case, so that the program is not promoted."
        case None:
            told = f"{wording.kept(kept)}: what the gain is worth elsewhere is not known."
    if told:
        yield Paragraph((Strong("Held out:"), f" {told}"), "bad")
