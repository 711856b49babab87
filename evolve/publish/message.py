"""The message of a patch: what was measured before and after, and how to verify it, as a mail that `git am` reads.

Invariant: no line of the message can be taken for a header or for the beginning of the patch: those that hold somebody else's words are indented."""

import math
from collections.abc import Iterator, Sequence
from email.header import Header
from email.utils import format_datetime

from evolve.campaign import Campaign
from evolve.publish.paper.statement import moment
from evolve.publish.paper.table import basis_text, value_text
from evolve.publish.result import Result, seed_estimate
from evolve.sandbox.output import brief, one_line

_SUBJECT = 120
_CELL = 60


def mail(campaign: Campaign, found: Result, author: str, files: Sequence[str], stat: str, diff: bytes) -> bytes:
    """The whole patch; equal for equal campaigns and repositories."""
    head = [
        f"From {found.program.id[:40]} Mon Sep 17 00:00:00 2001",
        f"From: {_header(author)}",
        f"Date: {format_datetime(moment(campaign))}",
        f"Subject: [PATCH] {_header(_subject(campaign, found, files))}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=UTF-8",
        "Content-Transfer-Encoding: 8bit",
    ]
    text = "\n".join([*head, "", *_body(campaign, found), "---", stat])
    return text.encode("utf-8", "backslashreplace") + b"\n" + diff + b"-- \nevolve\n\n"


def _header(text: str) -> str:
    plain = one_line(text)
    return plain if plain.isascii() else Header(plain, "utf-8", maxlinelen=10_000).encode()


def _subject(campaign: Campaign, found: Result, files: Sequence[str]) -> str:
    fitness, seed = campaign.task.fitness, seed_estimate(campaign)
    before = f"{fitness.shown(seed.mean):.6g}" if seed else "none"
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return brief(f"{files[0]}{more}: {fitness.name} {before} to {found.value.fitness:.6g}", _SUBJECT)


def _body(campaign: Campaign, found: Result) -> list[str]:
    evaluation, name = found.evaluation, one_line(found.name)
    weaker = " (weaker than elsewhere in the campaign)" if found.weaker else ""
    claimed = ", which is the program's own word and was not checked" if found.trust == "claimed" else ""
    return [
        "What a search has found, and how it was measured:",
        "",
        *_table(_rows(campaign, found)),
        "",
        f"  isolation    {brief(one_line(found.isolation), 200) or 'unknown'}{weaker}",
        f"  trust        {found.trust}{claimed}",
        f"  promoted     {found.promotion}",
        f"  environment  {brief(one_line(evaluation.environment), 200)}",
        f"  task         {brief(one_line(campaign.task.name), 100)}, version {campaign.task.version[:16]}",
        f"  program      {name}, {found.program.id[:16]}",
        "",
        "To verify it, where the campaign's log is:",
        "",
        f"  evolve program show {name}",
        f"  evolve program export {name} -o FOLDER",
        "  evolve program verify FOLDER",
    ]


def _rows(campaign: Campaign, found: Result) -> Iterator[tuple[str, str, str]]:
    fitness, seed = campaign.task.fitness, seed_estimate(campaign)
    better = "larger" if fitness.direction == "max" else "smaller"
    yield "", "before", "after"
    before = f"{fitness.shown(seed.mean):.{fitness.digits}g}" if seed else "-"
    yield f"{fitness.name} ({better} is better)", before, value_text(found, fitness)
    times = f"{seed.count} measurement{'' if seed.count == 1 else 's'}" if seed else "-"
    yield "by", times, _basis(found, fitness.digits) or basis_text(found, campaign.task)
    if fitness.log_ratio:
        yield "ratio to what was there", "1", _ratio(found)
    for case in found.cases:
        after = one_line(case.outcome) if case.fitness is None else f"{case.fitness:.{fitness.digits}g}"
        start = "-" if case.seed is None else f"{case.seed:.{fitness.digits}g}"
        yield f"held-out case {case.case}", start, f"{after}{'' if case.agrees else ' (worse, or not known)'}"


def _basis(found: Result, digits: int) -> str:
    """In fewer words than on a page."""
    if found.certificate or found.value.low is None or found.value.high is None:
        return ""
    return f"{found.value.count} measurements, 95 % in {found.value.low:.{digits}g} to {found.value.high:.{digits}g}"


def _ratio(found: Result) -> str:
    between = (
        ""
        if found.value.low is None or found.value.high is None
        else f" ({_factor(found.value.low):.4g} to {_factor(found.value.high):.4g})"
    )
    return f"{_factor(found.value.fitness):.4g}{between}"


def _factor(logarithm: float) -> float:
    return math.exp(min(max(logarithm, -700.0), 700.0))


def _table(rows: Iterator[tuple[str, str, str]]) -> list[str]:
    cells = [[brief(one_line(cell), _CELL) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    ]
