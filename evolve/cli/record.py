"""References to a record on the command line, and the facts of one record."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from evolve import report, wording
from evolve.campaign import Campaign, workspace
from evolve.cli.output import one_line, quote
from evolve.plugins import load
from evolve.types import ConfigError, Outcome, RecordId

_BEST = "best"
_MOST_CASES = 20
"""Lines of cases that a terminal gets."""


@contextmanager
def open_program(reference: str) -> Iterator[tuple[Campaign, RecordId]]:
    """Opens the campaign of a reference, `NAME/ID`, `ID`, `NAME/best` or `best`, replayed, and yields it with the record; raises `ConfigError`."""
    name, _, number = reference.rpartition("/")
    with Campaign.open(name or None, load(), workspace()) as campaign:
        if number == _BEST:
            yield campaign, _find_best(campaign)
        elif number.isascii() and number.isdigit():
            yield campaign, report.settled(campaign, int(number)).record.id
        else:
            raise ConfigError(
                f"a program is named NAME/ID, got {reference!r}. Try: for example {campaign.name}/1, or a bare 1, or best"
            )


def _find_best(campaign: Campaign) -> RecordId:
    best = campaign.state.archive.best
    if best is not None:
        return best.record
    name = campaign.name
    if len(campaign.state.history) and not campaign.state.seed_values:
        raise ConfigError(
            f"campaign {name!r} has no best program: its seed has failed. Try: `evolve program show {name}/1 --feedback` says why; "
            "another campaign is NAME/best (evolve campaign list)"
        )
    raise ConfigError(f"campaign {name!r} has no best program yet. Try: run it, with --continue")


def format_record(campaign: Campaign, shown: report.Shown) -> list[tuple[str, str]]:
    """Returns labels and texts of a record with everything that its score rests on; empty texts are left out."""
    line, fitness = shown.record, campaign.task.fitness
    evaluated = line.outcome != Outcome.SCREENED
    cases = {case.name for case in shown.cases}
    again = [one for one in shown.judged_again if one.name not in cases]
    place = f" on island {line.island}, cell {line.cell}" if line.cell >= 0 else ""
    rows = [
        ("program", f"{line.name}  {(line.program or 'no program')[:16]}"),
        ("origin", _origin(campaign, line)),
        ("strategy's notes", ", ".join(f"{name} {one_line(str(value))}" for name, value in shown.made.notes.items())),
        ("outcome", "no program: the step makes notes" if line.kind == "note" else wording.outcome(line)),
        ("why", _failure(shown)),
        ("integrity", one_line(line.tag)),
        ("ruling", one_line(f"quarantined by {shown.ruling.by}: {shown.ruling.why}") if shown.ruling else ""),
        ("score", f"{fitness.name} {_format_score(campaign, line)}" if line.fitness is not None else ""),
        ("estimate", _estimate(campaign, shown)),
        ("objectives", ", ".join(f"{name} {value:.6g}" for name, value in line.objectives.items())),
        ("constraints", _constraints(campaign, shown)),
        ("certified", _certificate(shown)),
        ("cases", _results(campaign, shown)),
        ("other cases", _cases(campaign, shown)),
        ("archive", f"{line.insertion}{place}"),
        ("descriptors", _numbers(shown.descriptors)),
        ("metrics", _numbers(shown.metrics)),
        ("artifacts", ", ".join(f"{one_line(name)} ({size:,} characters)" for name, size in shown.artifacts.items())),
        (
            "measured again",
            "\n".join(f"{one.name}  {_format_score(campaign, one)}  {one.case or one.why}" for one in again),
        ),
        ("children", f"{shown.offspring.children:,}" if shown.offspring.children else ""),
        ("isolation", line.isolation if evaluated else ""),
        (
            "took",
            f"{wording.seconds(line.seconds)}, {wording.seconds(line.cpu_seconds)} of CPU in the candidate"
            if evaluated
            else "",
        ),
        ("cached from", line.cached_from),
        ("environment", one_line(shown.environment)),
        ("thought", quote(shown.thought) if shown.thought and shown.thought != shown.feedback else ""),
    ]
    return [(label, text) for label, text in rows if text]


def _origin(campaign: Campaign, line: report.RecordLine) -> str:
    if line.kind == "measurement":
        case = f" on case {line.case!r}" if line.case else ""
        return (
            f"measurement of {report.record_name(campaign, line.about)}{case} ({line.why or 'asked by the strategy'})"
        )
    parents = ", ".join(report.record_name(campaign, parent) for parent in line.parents)
    # Steps and records are numbered apart, so the command is given in full.
    call = f", call {line.call}" if line.call >= 0 else ""
    step = f"evolve model calls {campaign.name} --step {line.step}"
    prompt = f"\nby {one_line(line.model)}{call}: {step}" if line.model else ""
    return (f"{line.operator} of {parents}" if line.operator else line.kind) + prompt


def _failure(shown: report.Shown) -> str:
    if shown.record.outcome == Outcome.OK.value:
        return ""
    lines = shown.feedback.strip().splitlines() or ["(no feedback)"]
    return f"{one_line(lines[0])}\n--feedback prints the rest" if lines[1:] else one_line(lines[0])


def _format_score(campaign: Campaign, line: report.RecordLine) -> str:
    """Returns the fitness of one evaluation, or how it failed, with its trust and isolation."""
    score = line.outcome if line.fitness is None else wording.number(line.fitness, campaign.task.fitness)
    error = f" +- {line.standard_error:.2g}" if line.standard_error else ""
    proof = ", certified" if line.certified else ""
    return f"{score}{error}{proof}  {_basis(line)}"


def _estimate(campaign: Campaign, shown: report.Shown) -> str:
    """Returns the mean over all measurements of a noisy task's elite; the score is that of one measurement."""
    estimate, fitness = shown.estimate, campaign.task.fitness
    if estimate is None or estimate.measurements < 2:
        return ""
    mean = f"{wording.number(estimate.fitness, fitness)}, the mean of {estimate.measurements} evaluations"
    if shown.reported is None:
        return mean
    reported = wording.number(shown.reported.fitness, fitness)
    return f"{mean}; reported is {reported}, of the {shown.reported.measurements} since it won its place"


def _constraints(campaign: Campaign, shown: report.Shown) -> str:
    line = shown.record
    if not campaign.task.constraints or line.fitness is None or line.certified:
        return ""
    missed = "\n".join(map(wording.missed, shown.missed))
    return f"missed, violation {line.violation:.4g}\n{missed}" if line.violation else "met"


def _certificate(shown: report.Shown) -> str:
    if shown.record.certified:
        return "yes, this value is proven" + "".join(f"; --artifact {name} prints it" for name in shown.artifacts)
    return f"yes, by {shown.certificate}: evolve program show {shown.certificate}" if shown.certificate else "no"


def _results(campaign: Campaign, shown: report.Shown) -> str:
    """Returns a line for each case that the fitness is made of, the first ones where there are many."""
    fitness, lines = campaign.task.fitness, list[str]()
    for result in shown.results[:_MOST_CASES]:
        parent = f"its parent {wording.number(result.parent, fitness)}, " if result.parent is not None else ""
        best = wording.number(result.best, fitness)
        holder = (
            f" of {report.record_name(campaign, result.holder)}" if result.holder != shown.record.id else ", this one"
        )
        told = f"{parent}best {best}{holder}" if result.best is not None else parent.removesuffix(", ")
        lines.append(
            f"{one_line(result.case)}: {wording.number(result.fitness, fitness)}" + (f"  ({told})" if told else "")
        )
    more = len(shown.results) - _MOST_CASES
    return "\n".join([*lines, *([f"and {more} more: --json has all"] if more > 0 else [])])


def _cases(campaign: Campaign, shown: report.Shown) -> str:
    """Returns a line for each held-out case, and whether the gain of the program is kept there."""
    fitness, measured = campaign.task.fitness, {line.name: line for line in shown.judged_again}
    lines = [
        f"{case.case}: {wording.case(case, fitness)}"
        + (f"  {_basis(measured[case.name])}" if case.name in measured else "")
        for case in shown.cases
    ]
    best, value = report.best(campaign), shown.reported or shown.estimate or shown.record
    if shown.promoted and best is not None and value.fitness is not None:
        own = replace(best, fitness=value.fitness, cases=shown.cases)
        lost = wording.lost(report.kept(own, campaign.state.cases.held_out, fitness))
        lines.append(f"promoted: no worse than the seed on any held-out case{lost}")
    return "\n".join(lines)


def _basis(line: report.RecordLine) -> str:
    trust, isolation = wording.evidence(line)
    return f"[{trust}, isolation {isolation}]"


def _numbers(values: Mapping[str, float]) -> str:
    return ", ".join(f"{one_line(name)} {value:.6g}" for name, value in values.items())
