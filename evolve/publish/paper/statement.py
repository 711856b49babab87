"""`statement.md`: what a reader must know of how a value came about: models and their revisions, dates, tokens and cost, operators, seeds, settings, isolation.

Invariant: every sentence is a fact of the log."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

from evolve import report
from evolve.campaign import Campaign
from evolve.publish.markdown import escaped, table
from evolve.publish.paper.calls import Calls, ModelUse
from evolve.publish.paper.escaping import fenced
from evolve.publish.paper.table import basis_text, value_text
from evolve.publish.result import Result
from evolve.types import Opened
from evolve.types.secrets import without_keys


def statement(campaign: Campaign, found: Result, calls: Calls) -> str:
    """The whole page."""
    sections = (
        ("Value", _value(campaign, found)),
        ("Judging", _judging(campaign, found)),
        ("Held-out cases", _cases(campaign, found)),
        ("Dates", _dates(campaign)),
        ("Models", _models(campaign, calls)),
        ("What was spent", _spent(campaign)),
        ("Search", _search(campaign)),
        ("Lineage", _lineage(campaign, found)),
        ("Settings", fenced(without_keys(json.dumps(campaign.settings.model_dump(mode="json"), indent=2)))),
    )
    head = f"# How {escaped(found.name)} came about\n"
    return "\n".join([head, *(f"## {title}\n\n{text.rstrip()}\n" for title, text in sections if text)])


def day(at: float) -> str:
    """Of seconds since 1970, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def moment(campaign: Campaign) -> datetime:
    """When the last event of a campaign happened, to the second."""
    last = next(iter(islice(campaign.log.events(campaign.events - 1), 1)))
    return datetime.fromtimestamp(int(last.at), UTC)


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f"- {label}: {text}\n" for label, text in pairs if text)


def _value(campaign: Campaign, found: Result) -> str:
    fitness = campaign.task.fitness
    better = "larger" if fitness.direction == "max" else "smaller"
    proof = found.certificate
    rests = (
        "on what was measured after the program had won its place"
        if found.value.confirmed
        else "on all its measurements"
    )
    return _listed(
        (
            (f"{escaped(fitness.name)} ({better} is better)", value_text(found, fitness)),
            ("kind", escaped(basis_text(found, campaign.task))),
            ("certified by", escaped(proof.name) if proof else "nothing: the value is measured"),
            ("it rests", "" if proof or campaign.task.deterministic else rests),
            (
                "trust",
                f"{found.trust}{'' if found.trust != 'claimed' else ': the program said so itself, and nobody has checked it'}",
            ),
            ("promoted", found.promotion),
            ("constraints", "" if not campaign.task.constraints else "missed" if found.evaluation.violation else "met"),
        )
    )


def _judging(campaign: Campaign, found: Result) -> str:
    task, evaluation = campaign.task, found.evaluation
    machine = campaign.state.machine
    parameters = ", ".join(f"{name} = {value}" for name, value in task.parameters.items())
    weaker = " (weaker than elsewhere in the campaign)" if found.weaker else ""
    return _listed(
        (
            ("task", f"{escaped(task.name)}, version {task.version}"),
            ("parameters", escaped(parameters)),
            ("equal programs get equal scores", "yes" if task.deterministic else "no"),
            ("isolation of the program while it was judged", escaped(found.isolation or "unknown") + weaker),
            ("environment", escaped(evaluation.environment)),
            ("hardware", escaped(machine.hardware) if machine else ""),
        )
    )


def _cases(campaign: Campaign, found: Result) -> str:
    if not found.cases:
        return ""
    digits = campaign.task.fitness.digits
    lines = [
        (
            escaped(case.case),
            escaped(case.outcome) if case.fitness is None else f"{case.fitness:.{digits}g}",
            "-" if case.seed is None else f"{case.seed:.{digits}g}",
            "no worse" if case.agrees else "worse, or not known",
        )
        for case in found.cases
    ]
    return "The search has never seen these.\n\n" + table(("case", "program", "the first program", "is"), lines)


def _dates(campaign: Campaign) -> str:
    first = next(iter(campaign.log.events()))
    assert isinstance(first.event, Opened), "a log begins with it"
    versions = ", ".join(f"{name} {version}" for name, version in first.event.versions.items())
    return _listed(
        (
            ("begun", day(first.at)),
            ("last event", day(moment(campaign).timestamp())),
            ("begun with", escaped(versions)),
        )
    )


def _models(campaign: Campaign, calls: Calls) -> str:
    if not calls.uses:
        return "No model was called: every program was made by operators that compute.\n"
    kinds = {member.name: member.kind for member in campaign.settings.models.members}
    headings = ("model", "kind", "revision", "calls", "first call", "last call")
    return table(headings, [_model(use, kinds.get(use.model, "-")) for use in calls.uses])


def _model(use: ModelUse, kind: str) -> tuple[str, ...]:
    revision = escaped(use.revision) or "not told"
    return (escaped(use.model), escaped(kind), revision, str(use.calls), day(use.first), day(use.last))


def _spent(campaign: Campaign) -> str:
    progress, costs = campaign.state.progress, report.costs(campaign)
    spent = [
        ("programs judged", f"{progress.programs:,}"),
        ("measurements", f"{progress.measurements:,}"),
        ("screened", f"{progress.screened:,}"),
        ("seconds that the campaign ran", f"{progress.seconds:,.1f}"),
        ("seconds of judging", f"{progress.judge_seconds:,.1f}"),
    ]
    for label, line in (
        (("all calls", costs.total), ("calls on the way to the best program", costs.lineage)) if costs else ()
    ):
        if line is not None:
            counted = "all counted" if line.exact == 1.0 else "some estimated"
            tokens = f"{line.prompt_tokens:,} + {line.completion_tokens:,} tokens ({counted})"
            spent.append(
                (label, f"{line.calls:,}, of which {line.failed:,} failed; {tokens}; {line.money:.4f} US dollars")
            )
    return _listed(spent)


def _search(campaign: Campaign) -> str:
    settings = campaign.settings
    return _listed(
        (
            ("strategy", escaped(settings.strategy.name)),
            ("operators", escaped(", ".join(campaign.operator_names))),
            ("seed of the campaign's random numbers", str(settings.seed)),
            ("budget", escaped(", ".join(map(str, settings.budget)))),
            ("lessons", f"{len(campaign.state.lessons)}" if campaign.state.lessons else ""),
        )
    )


def _lineage(campaign: Campaign, found: Result) -> str:
    fitness = campaign.task.fitness
    lines = [
        (
            escaped(step.name),
            escaped(step.operator or step.kind),
            escaped(step.outcome) if step.fitness is None else f"{step.fitness:.{fitness.digits}g}",
            "" if step.change is None else f"{step.change:+.4g}",
            escaped(step.isolation.partition(":")[0]),
        )
        for step in report.lineage(campaign, found.record)
    ]
    return table(("record", "made by", escaped(fitness.name), "change", "isolation"), lines)
