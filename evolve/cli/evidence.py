"""One record with everything that its score rests on, for `evolve program show`.

Invariant: a score is said with its trust and its isolation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.cli import marking
from evolve.cli.output import CELL, brief, one_line, quoted
from evolve.store.comments import Comments, Marks
from evolve.types import Outcome, RecordId, Ruled

_NUMBERS = 50
_NAME = 60
"""How many numbers of a kind are told, and how many characters of a name."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A record with what the log holds of it. `artifacts` are sizes in characters by name; `judged_again` are later measurements;
    `marks` are a person's, `ruling` tells by whom its program is quarantined, and why, empty where it is not."""

    record: report.RecordLine
    feedback: str
    thought: str
    descriptors: Mapping[str, float]
    metrics: Mapping[str, float]
    artifacts: Mapping[str, int]
    fingerprint: str
    environment: str
    judged_again: tuple[report.RecordLine, ...]
    files: Mapping[str, str]
    ruling: str = ""
    marks: Marks = field(default_factory=Marks)


def shown(campaign: Campaign, number: RecordId) -> Shown:
    """Reads a record and its texts; raises `StoreError` for one that there is not."""
    event, history = report.settled(campaign, number), campaign.state.history
    record, evaluation = event.record, event.record.evaluation
    return Shown(
        record=report.record_line(campaign, event),
        feedback=history.text(evaluation.feedback) if evaluation.feedback else "",
        thought=record.thought,
        descriptors=dict(evaluation.descriptors),
        metrics=dict(evaluation.metrics),
        artifacts={name: len(history.text(text)) for name, text in evaluation.artifacts.items()},
        fingerprint=evaluation.fingerprint,
        environment=evaluation.environment,
        judged_again=report.measurements(campaign, number),
        files=dict(history.program(record.program).files) if record.program else {},
        ruling=_ruling(campaign.state.quarantined.get(record.program)) if record.program else "",
        marks=Comments(campaign.log.path).of(number),
    )


def told(campaign: Campaign, shown: Shown) -> list[tuple[str, str]]:
    """Labels and texts; what is empty is left out."""
    line = shown.record
    rows = [
        ("program", f"{line.name}  {(line.program or 'no program')[:16]}"),
        ("origin", _origin(campaign, shown)),
        ("prompt", _prompt(campaign, line)),
        ("outcome", line.outcome),
        ("why", _why(shown)),
        ("integrity", one_line(line.tag)),
        ("ruling", shown.ruling),
        *marking.told(shown.marks),
        ("score", _score(campaign, line)),
        ("estimate", _estimate(campaign, line)),
        ("objectives", _objectives(campaign, line)),
        ("constraints", _constraints(campaign, shown)),
        ("certified", _certificate(shown)),
        ("archive", _archive(shown)),
        ("descriptors", _numbers(shown.descriptors)),
        ("metrics", _numbers(shown.metrics)),
        ("artifacts", _artifacts(shown.artifacts)),
        ("judged again", "\n".join(_again(campaign, again) for again in shown.judged_again)),
        ("isolation", line.isolation),
        ("took", f"{wording.seconds(line.seconds)}, {wording.seconds(line.cpu_seconds)} of CPU in the candidate"),
        ("cached from", line.cached_from),
        ("fingerprint", one_line(shown.fingerprint)),
        ("environment", one_line(shown.environment)),
        ("thought", quoted(shown.thought) if shown.thought and shown.thought != shown.feedback else ""),
    ]
    return [(label, text) for label, text in rows if text]


def _ruling(ruling: Ruled | None) -> str:
    if ruling is None:
        return ""
    return f"quarantined by {one_line(ruling.by)}" + (f": {brief(one_line(ruling.why), CELL)}" if ruling.why else "")


def _why(shown: Shown) -> str:
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


def _constraints(campaign: Campaign, shown: Shown) -> str:
    """Whether a success meets them, and how far it misses them."""
    line = shown.record
    if not campaign.task.constraints or line.fitness is None or line.certified:
        return ""
    if line.violation == 0.0:
        return "met"
    return "\n".join(
        [f"missed, violation {line.violation:.4g}", *map(wording.missed, report.missed(campaign.task, shown.metrics))]
    )


def _archive(shown: Shown) -> str:
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


def _estimate(campaign: Campaign, line: report.RecordLine) -> str:
    """What all judgings of a noisy task's elite say together, and what is reported of it; the score is that of one judging alone."""
    archive = campaign.state.archive
    holders = [*([archive.best] if archive.best else []), *archive.elites()]
    elite = next((one for one in holders if one.program == line.program), None)
    if elite is None or elite.estimate.count < 2:
        return ""
    shown = campaign.task.fitness.shown
    said = f"{wording.number(shown(elite.estimate.mean), campaign.task.fitness)}, the mean of {elite.estimate.count} judgings"
    if elite.reported is None:
        return said
    reported = wording.number(shown(elite.reported.mean), campaign.task.fitness)
    return f"{said}; reported is {reported}, of the {elite.reported.count} since it won its place"


def _basis(line: report.RecordLine) -> str:
    return f"[{line.trust}, isolation {wording.level(line.isolation, weaker=line.weaker)}]"


def _origin(campaign: Campaign, shown: Shown) -> str:
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


def _certificate(shown: Shown) -> str:
    if shown.record.certified:
        return "yes, this value is proven" + "".join(f"; --artifact {name} prints it" for name in shown.artifacts)
    proofs = [again.name for again in shown.judged_again if again.certified]
    return f"yes, by {proofs[-1]}: evolve program show {proofs[-1]}" if proofs else "no"


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
