"""One record with everything that its score rests on, for `evolve program show`.

Invariant: a score is said with its trust and its isolation."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli.output import CELL, brief, one_line, quoted
from evolve.report.best import kept
from evolve.types import Outcome

_NUMBERS = 50
_NAME = 60
"""How many numbers of a kind are told, and how many characters of a name."""


def told(campaign: Campaign, shown: report.Shown) -> list[tuple[str, str]]:
    """Labels and texts; what is empty is left out."""
    line = shown.record
    rows = [
        ("program", f"{line.name}  {(line.program or 'no program')[:16]}"),
        ("origin", _origin(campaign, shown)),
        ("prompt", _prompt(campaign, line)),
        ("outcome", line.outcome),
        ("why", _why(shown)),
        ("integrity", one_line(line.tag)),
        ("ruling", _ruling(shown)),
        ("score", _score(campaign, line)),
        ("estimate", _estimate(campaign, shown)),
        ("objectives", _objectives(campaign, line)),
        ("constraints", _constraints(campaign, shown)),
        ("certified", _certificate(shown)),
        ("cases", _cases(campaign, shown)),
        ("archive", _archive(shown)),
        ("descriptors", _numbers(shown.descriptors)),
        ("metrics", _numbers(shown.metrics)),
        ("artifacts", _artifacts(shown.artifacts)),
        ("judged again", "\n".join(_again(campaign, again) for again in _elsewhere(shown))),
        ("children", _children(shown)),
        ("isolation", line.isolation),
        ("took", f"{wording.seconds(line.seconds)}, {wording.seconds(line.cpu_seconds)} of CPU in the candidate"),
        ("cached from", line.cached_from),
        ("fingerprint", one_line(shown.fingerprint)),
        ("environment", one_line(shown.environment)),
        ("thought", quoted(shown.thought) if shown.thought and shown.thought != shown.feedback else ""),
    ]
    return [(label, text) for label, text in rows if text]


def _ruling(shown: report.Shown) -> str:
    if shown.ruling is None:
        return ""
    why = f": {brief(one_line(shown.ruling.why), CELL)}" if shown.ruling.why else ""
    return f"quarantined by {one_line(shown.ruling.by)}{why}"


def _children(shown: report.Shown) -> str:
    """`12, of which 3 failed and 1 was never judged`."""
    found = shown.offspring
    parts = [f"{found.failed:,} failed"] * bool(found.failed)
    parts += [f"{found.screened:,} {'was' if found.screened == 1 else 'were'} never judged"] * bool(found.screened)
    return (f"{found.children:,}" + (f", of which {' and '.join(parts)}" if parts else "")) if found.children else ""


def _why(shown: report.Shown) -> str:
    """The first line of a failure's feedback."""
    if shown.record.outcome == Outcome.OK.value:
        return ""
    lines = shown.feedback.strip().splitlines() or ["(no feedback)"]
    first = brief(one_line(lines[0]), CELL)
    return f"{first}\n--feedback prints the rest" if lines[1:] else first


def _objectives(campaign: Campaign, line: report.RecordLine) -> str:
    inside = {
        each.name: each.inside(line.objectives[each.name]) for each in campaign.task.objectives if line.objectives
    }
    return ", ".join(map(wording.objective, report.objectives(campaign.task, inside)))


def _constraints(campaign: Campaign, shown: report.Shown) -> str:
    """Whether a success meets them, and how far it misses them."""
    line = shown.record
    if not campaign.task.constraints or line.fitness is None or line.certified:
        return ""
    if line.violation == 0.0:
        return "met"
    return "\n".join(
        [f"missed, violation {line.violation:.4g}", *map(wording.missed, report.missed(campaign.task, shown.metrics))]
    )


def _cases(campaign: Campaign, shown: report.Shown) -> str:
    """What the program found where the search does not look, and what is left of its gain there."""
    told = {line.name: _basis(line) for line in shown.judged_again}
    bases = [told.get(line.name, "") for line in shown.cases]
    lines = [f"{line.case}: {wording.case(line, campaign.task.fitness)}" for line in shown.cases]
    if len(lines) > 1 and len(set(bases)) == 1:
        lines.append(f"each {bases[0]}")
    else:
        lines = [f"{line}  {basis}".rstrip() for line, basis in zip(lines, bases, strict=True)]
    if shown.promoted:
        lines.append(f"promoted: no worse than the seed on any held-out case{_lost(campaign, shown)}")
    return "\n".join(lines)


def _lost(campaign: Campaign, shown: report.Shown) -> str:
    """As it is told of the campaign's best program; of another one by its own value, beside the same seed."""
    best, value = report.best(campaign), shown.reported or shown.estimate or shown.record
    if best is None or value.fitness is None:
        return ""
    own = replace(best, fitness=value.fitness, cases=shown.cases)
    return wording.lost(kept(own, campaign.state.cases.held_out, campaign.task.fitness))


def _elsewhere(shown: report.Shown) -> Iterator[report.RecordLine]:
    """The measurements that are not told among the cases."""
    told = {line.name for line in shown.cases}
    return (again for again in shown.judged_again if again.name not in told)


def _archive(shown: report.Shown) -> str:
    """What the archive did with it at first, and by which later measurement it won."""
    line = shown.record
    place = f" on island {line.island}, cell {line.cell}" if line.cell >= 0 else ""
    won = [again for again in shown.judged_again if again.insertion in ("IMPROVED", "NEW")]
    return f"{line.insertion}{place}" + (f", then {won[0].insertion} by {won[0].name}" if won else "")


def _score(campaign: Campaign, line: report.RecordLine) -> str:
    if line.fitness is None:
        return ""
    fitness = campaign.task.fitness
    error = f" +- {line.standard_error:.2g}" if line.standard_error else ""
    return f"{fitness.name} {wording.number(line.fitness, fitness)}{error}  {_basis(line)}"


def _estimate(campaign: Campaign, shown: report.Shown) -> str:
    """What all judgings of a noisy task's elite say together, and what is reported of it; the score is that of one judging alone."""
    estimate, fitness = shown.estimate, campaign.task.fitness
    if estimate is None or estimate.measurements < 2:
        return ""
    said = f"{wording.number(estimate.fitness, fitness)}, the mean of {estimate.measurements} judgings"
    if shown.reported is None:
        return said
    reported = wording.number(shown.reported.fitness, fitness)
    return f"{said}; reported is {reported}, of the {shown.reported.measurements} since it won its place"


def _basis(line: report.RecordLine) -> str:
    return f"[{line.trust}, isolation {wording.level(line.isolation, weaker=line.weaker)}]"


def _origin(campaign: Campaign, shown: report.Shown) -> str:
    line = shown.record
    if line.kind == "measurement":
        case = f" on case {line.case!r}" if line.case else ""
        return (
            f"measurement of {report.record_name(campaign, line.about)}{case} ({line.why or 'asked by the strategy'})"
        )
    parents = ", ".join(report.record_name(campaign, parent) for parent in line.parents)
    return f"{line.operator} of {parents}" if line.operator else line.kind


def _prompt(campaign: Campaign, line: report.RecordLine) -> str:
    """Where the calls are that led to a proposal of a model: steps and records are numbered apart."""
    if not line.model:
        return ""
    return f"of {one_line(line.model)}, step {line.step}: evolve model calls {campaign.name} --step {line.step}"


def _certificate(shown: report.Shown) -> str:
    if shown.record.certified:
        return "yes, this value is proven" + "".join(f"; --artifact {name} prints it" for name in shown.artifacts)
    proof = shown.certificate
    return f"yes, by {proof}: evolve program show {proof}" if proof else "no"


def _again(campaign: Campaign, line: report.RecordLine) -> str:
    score = wording.number(line.fitness, campaign.task.fitness) if line.fitness is not None else line.outcome
    return f"{line.name}  {score}  {'certified' if line.certified else line.case or line.why}  {_basis(line)}"


def _artifacts(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{brief(one_line(name), _NAME)} ({size:,} characters)" for name, size in sizes.items())


def _numbers(values: Mapping[str, float]) -> str:
    """Some of them by name; an evaluator may have taken both from what a program claims."""
    told = [f"{brief(one_line(name), _NAME)} {value:.6g}" for name, value in islice(values.items(), _NUMBERS)]
    more = [f"and {len(values) - _NUMBERS:,} more"] if len(values) > _NUMBERS else []
    return ", ".join([*told, *more])
