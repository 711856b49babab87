"""Where a campaign ran, and how it was set.

Invariant: no setting names a folder of the machine."""

import json
from collections.abc import Iterator

from evolve.campaign import Campaign
from evolve.pages.document import Block, Facts, Line, Mono, Paragraph, Section, Table
from evolve.pages.findings import Findings

_VALUE = 300
"""Characters of a setting."""


def environment(campaign: Campaign, found: Findings) -> Section:
    """The chapter."""
    return Section("environment", "Where and with what", tuple(_blocks(campaign, found)))


def _blocks(campaign: Campaign, found: Findings) -> Iterator[Block]:
    page, evidence = found.overview, found.evidence
    rows: list[tuple[str, Line]] = [
        ("versions", ", ".join(f"{name} {version}" for name, version in found.versions.items())),
        ("task version", Mono(campaign.task.version)),
        ("judge slots", str(campaign.settings.judges)),
        (
            "another run repeats it",
            "yes" if campaign.settings.deterministic else "no: with the same seed it takes another course",
        ),
    ]
    if evidence is not None and evidence.environment:
        rows.append(("the best was judged with", evidence.environment))
    if page.noise_floor is not None and not campaign.task.deterministic:
        rows.append(("noise floor", f"{page.noise_floor:.3g}: the standard deviation of one measurement of the seed"))
    yield Facts(tuple(rows))
    machines = [(each.hardware or "unknown", each.isolation or "unknown") for each in found.machines]
    if machines:
        yield Table(("hardware class", "isolation"), tuple(machines))
    if not found.settings:
        yield Paragraph("All settings are the defaults.")
        return
    yield Paragraph("Settings that differ from the defaults:")
    settings: list[tuple[Line, ...]] = [
        (Mono(each.key), Mono(_json(each.value)), Mono(_json(each.default))) for each in found.settings
    ]
    yield Table(("setting", "value", "default"), tuple(settings))


def _json(value: object) -> str:
    told = json.dumps(_without_folders(value), ensure_ascii=False)
    return told if len(told) <= _VALUE else f"{told[:_VALUE]} …"


def _without_folders(value: object) -> object:
    """A setting whose paths are file names alone: a report leaves the machine."""
    match value:
        case str() if value.startswith(("/", "~/")):
            return f"…/{value.rstrip('/').rsplit('/', 1)[-1]}"
        case list() | tuple():
            return [_without_folders(each) for each in value]
        case dict():
            return {key: _without_folders(each) for key, each in value.items()}
        case _:
            return value
