"""One record with everything that its score rests on, as labels and texts for `evolve program show`."""

from collections.abc import Mapping
from dataclasses import replace

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli.output import CELL, brief, one_line, quoted
from evolve.report.best import kept
from evolve.types import Outcome

_MOST_NUMBERS = 50
_LONGEST_NAME = 60


def format_record(campaign: Campaign, shown: report.Shown) -> list[tuple[str, str]]:
    """Returns labels and texts; empty texts are left out."""
    line = shown.record
    rows = [
        ("program", f"{line.name}  {(line.program or 'no program')[:16]}"),
        ("origin", _origin(campaign, line)),
        ("prompt", _prompt(campaign, line)),
        ("outcome", line.outcome),
        ("why", _failure(shown)),
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
        ("artifacts", ", ".join(f"{_name(name)} ({size:,} characters)" for name, size in shown.artifacts.items())),
        ("judged again", _measurements(campaign, shown)),
        ("children", _children(shown.offspring)),
        ("isolation", line.isolation),
        ("took", f"{wording.seconds(line.seconds)}, {wording.seconds(line.cpu_seconds)} of CPU in the candidate"),
        ("cached from", line.cached_from),
        ("fingerprint", one_line(shown.fingerprint)),
        ("environment", one_line(shown.environment)),
        ("thought", quoted(shown.thought) if shown.thought and shown.thought != shown.feedback else ""),
    ]
    return [(label, text) for label, text in rows if text]


def _origin(campaign: Campaign, line: report.RecordLine) -> str:
    if line.kind == "measurement":
        case = f" on case {line.case!r}" if line.case else ""
        about = report.record_name(campaign, line.about)
        return f"measurement of {about}{case} ({line.why or 'asked by the strategy'})"
    parents = ", ".join(report.record_name(campaign, parent) for parent in line.parents)
    return f"{line.operator} of {parents}" if line.operator else line.kind


def _prompt(campaign: Campaign, line: report.RecordLine) -> str:
    # Steps and records are numbered apart, so the command is given in full.
    if not line.model:
        return ""
    return f"of {one_line(line.model)}, step {line.step}: evolve model calls {campaign.name} --step {line.step}"


def _failure(shown: report.Shown) -> str:
    if shown.record.outcome == Outcome.OK.value:
        return ""
    lines = shown.feedback.strip().splitlines() or ["(no feedback)"]
    first = brief(one_line(lines[0]), CELL)
    return f"{first}\n--feedback prints the rest" if lines[1:] else first


def _ruling(shown: report.Shown) -> str:
    if shown.ruling is None:
        return ""
    why = f": {brief(one_line(shown.ruling.why), CELL)}" if shown.ruling.why else ""
    return f"quarantined by {one_line(shown.ruling.by)}{why}"


def _score(campaign: Campaign, line: report.RecordLine) -> str:
    if line.fitness is None:
        return ""
    fitness = campaign.task.fitness
    error = f" +- {line.standard_error:.2g}" if line.standard_error else ""
    return f"{fitness.name} {wording.number(line.fitness, fitness)}{error}  {_basis(line)}"


def _basis(line: report.RecordLine) -> str:
    return f"[{line.trust}, isolation {wording.level(line.isolation, weaker=line.weaker)}]"


def _estimate(campaign: Campaign, shown: report.Shown) -> str:
    """Returns the mean over all measurements of a noisy task's elite; the score is that of one measurement."""
    estimate, fitness = shown.estimate, campaign.task.fitness
    if estimate is None or estimate.measurements < 2:
        return ""
    mean = f"{wording.number(estimate.fitness, fitness)}, the mean of {estimate.measurements} judgings"
    if shown.reported is None:
        return mean
    reported = wording.number(shown.reported.fitness, fitness)
    return f"{mean}; reported is {reported}, of the {shown.reported.measurements} since it won its place"


def _objectives(campaign: Campaign, line: report.RecordLine) -> str:
    inside = {
        each.name: each.inside(line.objectives[each.name]) for each in campaign.task.objectives if line.objectives
    }
    return ", ".join(map(wording.objective, report.objectives(campaign.task, inside)))


def _constraints(campaign: Campaign, shown: report.Shown) -> str:
    line = shown.record
    if not campaign.task.constraints or line.fitness is None or line.certified:
        return ""
    if line.violation == 0.0:
        return "met"
    missed = map(wording.missed, report.missed(campaign.task, shown.metrics))
    return "\n".join([f"missed, violation {line.violation:.4g}", *missed])


def _certificate(shown: report.Shown) -> str:
    if shown.record.certified:
        return "yes, this value is proven" + "".join(f"; --artifact {name} prints it" for name in shown.artifacts)
    return f"yes, by {shown.certificate}: evolve program show {shown.certificate}" if shown.certificate else "no"


def _cases(campaign: Campaign, shown: report.Shown) -> str:
    """Returns a line for each held-out case, and whether the gain of the program is kept there."""
    measured = {line.name: _basis(line) for line in shown.judged_again}
    bases = [measured.get(line.name, "") for line in shown.cases]
    lines = [f"{line.case}: {wording.case(line, campaign.task.fitness)}" for line in shown.cases]
    if len(lines) > 1 and len(set(bases)) == 1:
        lines.append(f"each {bases[0]}")
    else:
        lines = [f"{line}  {basis}".rstrip() for line, basis in zip(lines, bases, strict=True)]
    if shown.promoted:
        lines.append(f"promoted: no worse than the seed on any held-out case{_lost_gain(campaign, shown)}")
    return "\n".join(lines)


def _lost_gain(campaign: Campaign, shown: report.Shown) -> str:
    best, value = report.best(campaign), shown.reported or shown.estimate or shown.record
    if best is None or value.fitness is None:
        return ""
    own = replace(best, fitness=value.fitness, cases=shown.cases)
    return wording.lost(kept(own, campaign.state.cases.held_out, campaign.task.fitness))


def _archive(shown: report.Shown) -> str:
    """Returns the archive's first decision, and the later measurement by which the program won a place."""
    line = shown.record
    place = f" on island {line.island}, cell {line.cell}" if line.cell >= 0 else ""
    won = next((again for again in shown.judged_again if again.insertion in ("IMPROVED", "NEW")), None)
    return f"{line.insertion}{place}" + (f", then {won.insertion} by {won.name}" if won else "")


def _measurements(campaign: Campaign, shown: report.Shown) -> str:
    """Returns the later measurements that `_cases` does not show."""
    cases = {line.name for line in shown.cases}
    return "\n".join(_measurement(campaign, line) for line in shown.judged_again if line.name not in cases)


def _measurement(campaign: Campaign, line: report.RecordLine) -> str:
    score = wording.number(line.fitness, campaign.task.fitness) if line.fitness is not None else line.outcome
    return f"{line.name}  {score}  {'certified' if line.certified else line.case or line.why}  {_basis(line)}"


def _children(offspring: report.OffspringCounts) -> str:
    """Returns a text such as `12, of which 3 failed and 1 was never judged`."""
    if not offspring.children:
        return ""
    parts = [f"{offspring.failed:,} failed"] * bool(offspring.failed)
    parts += [f"{offspring.screened:,} {'was' if offspring.screened == 1 else 'were'} never judged"] * bool(
        offspring.screened
    )
    return f"{offspring.children:,}" + (f", of which {' and '.join(parts)}" if parts else "")


def _numbers(values: Mapping[str, float]) -> str:
    # An evaluator may have taken both names and numbers from the program, so their count is bounded.
    parts = [f"{_name(name)} {value:.6g}" for name, value in list(values.items())[:_MOST_NUMBERS]]
    more = [f"and {len(values) - _MOST_NUMBERS:,} more"] if len(values) > _MOST_NUMBERS else []
    return ", ".join([*parts, *more])


def _name(name: str) -> str:
    return brief(one_line(name), _LONGEST_NAME)
