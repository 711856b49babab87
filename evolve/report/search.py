"""Programs by what their code says.

Invariant: a program is one line, by its first record."""

from evolve.campaign import Campaign
from evolve.report.records import RecordLine, record_line

_RANKED = 1_000
"""Of so many matches the newest are as good as the best, and are found much sooner."""


def found(campaign: Campaign, text: str, limit: int = 20) -> tuple[RecordLine, ...]:
    """The programs that hold every word of `text` in one file, the best match first; the newest first where there are a great many."""
    newest = campaign.log.holding(text, _RANKED)
    programs = newest[:limit] if len(newest) == _RANKED else campaign.log.search(text, limit)
    records = [record for program in programs if (record := campaign.log.first_record(program))]
    return tuple(record_line(campaign, campaign.log.settled(record)) for record in records)
