"""Table of all records: columns of plain values, to compute with: a data frame, CSV.

Invariant: columns and one query over the events, however many records there are; names of columns come from the task and from what the evaluator
has found of its seed, never from a program."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolve.campaign import Campaign
from evolve.campaign.history import KINDS
from evolve.report.records import trust_of
from evolve.types import ConfigError, Insertion, Outcome, RecordId

_MOST = 100
"""Metrics, and descriptors, that become columns."""
Columns = Mapping[str, Sequence[Any]]
"""Columns by their names, equally long, in the order of the records; None is what a record has not."""
_FORMULA = ("=", "+", "-", "@", "\t", "\n")


def columnar(campaign: Campaign, records: Sequence[RecordId] | None = None) -> Columns:
    """Records, all or these, with what the columns hold of them, when they settled, and the objectives, descriptors and metrics that the seed's have.
    `at` is in seconds since 1970, `active` in seconds that the campaign had run; `calls`, `tokens` and `money` are what the step's calls took."""
    chosen = list(range(1, len(campaign.state.history) + 1)) if records is None else list(records)
    return {**_take_columns(campaign, chosen), **_read(campaign, chosen)}


def _take_columns(campaign: Campaign, records: Sequence[RecordId]) -> dict[str, list[Any]]:
    """Returns the columns that memory holds."""
    history, columns, shown = campaign.state.history, campaign.state.columns, campaign.task.fitness.shown

    def pick(column: Sequence[Any]) -> list[Any]:
        return [column[record - 1] for record in records]

    outcomes, values = [history.outcome(record) for record in records], [history.fitness(record) for record in records]
    taken = [campaign.state.calls.of_steps([step]) for step in pick(columns.steps)]
    return {
        "record": list(records),
        "fitness": [None if value is None else shown(value) for value in values],
        "violation": [
            None if value is None else history.violation(record) for record, value in zip(records, values, strict=True)
        ],
        "kind": [KINDS[code] for code in pick(columns.kinds)],
        "operator": pick(columns.operators),
        "model": pick(columns.models),
        "step": pick(columns.steps),
        "island": pick(columns.islands),
        "parents": [" ".join(map(str, parents)) for parents in pick(columns.parents)],
        "program": pick(columns.programs),
        "outcome": [outcome.value for outcome in outcomes],
        "insertion": [Insertion(code).name for code in pick(columns.insertions)],
        "seconds": pick(columns.seconds),
        "isolation": pick(columns.isolations),
        # A screened proposal was not evaluated, so that nobody has computed anything.
        "trust": [
            None if outcome is Outcome.SCREENED else trust_of(campaign, record)
            for record, outcome in zip(records, outcomes, strict=True)
        ],
        "calls": [one.calls for one in taken],
        "tokens": [one.prompt_tokens + one.completion_tokens for one in taken],
        "money": [one.money for one in taken],
    }


def _read(campaign: Campaign, records: Sequence[RecordId]) -> dict[str, list[Any]]:
    """Returns the columns that the events hold."""
    wanted = _find_columns(campaign)
    names = ("at", "active", "certified", *wanted)
    rows: dict[RecordId, list[Any]] = {}
    for record, at, active, body in campaign.log.settled_as_json(records):
        evaluation = json.loads(body)["record"]["evaluation"]
        found = [_number(evaluation.get(part, {}).get(name), sign) for part, name, sign in wanted.values()]
        rows[record] = [at, active, evaluation.get("certified", False), *found]
    return {name: [rows[record][place] for record in records] for place, name in enumerate(names)}


def _find_columns(campaign: Campaign) -> dict[str, tuple[str, str, int]]:
    """Returns where each further column is found in an evaluation, and its sign in the user's direction."""
    task, seed = campaign.task, campaign.state.seed_record
    found = {
        f"objective.{each.name}": ("objectives", each.name, -1 if each.direction == "min" else 1)
        for each in task.objectives
    }
    if seed:
        evaluation = campaign.log.settled(seed).record.evaluation
        parts = {"descriptor": ("descriptors", evaluation.descriptors), "metric": ("metrics", evaluation.metrics)}
        for label, (part, values) in parts.items():
            found |= {f"{label}.{name}": (part, name, 1) for name in sorted(values)[:_MOST]}
    return found


def _number(value: float | None, sign: int) -> float | None:
    return None if value is None else sign * value


def harmless(value: Any) -> Any:
    """Returns a cell of CSV that no spreadsheet takes for a formula: a text that begins like one has an apostrophe before it. A number stays one; a line ends in
    a line feed alone, for a lone carriage return would end the row."""
    if not isinstance(value, str):
        return value
    told = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{told}" if told.startswith(_FORMULA) else told


def format_csv(table: Columns) -> str:
    """Returns a table as CSV, with a line of names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, table))
    writer.writerows(map(harmless, row) for row in zip(*table.values(), strict=True))
    return text.getvalue()


def write_csv(table: Columns, target: Path) -> None:
    """Writes a table as CSV; raises `ConfigError` where it cannot be written."""
    try:
        target.write_text(format_csv(table), "utf-8", errors="replace", newline="")
    except OSError as error:
        raise ConfigError(
            f"the table cannot be written to {target}: {error.strerror}. Try: name another file"
        ) from error
