"""How a reader verifies a report: what to type.

Invariant: every command is whole and works as it stands, where the log is in the workspace."""

from evolve.pages.document import Commands, Paragraph, Section
from evolve.pages.findings import Findings


def checking(found: Findings) -> Section:
    """The chapter."""
    page = found.overview
    rows = [
        (
            f"evolve campaign replay {page.name}",
            "computes the archive from the log again, and says whether it is the one that the log tells of",
        )
    ]
    if page.best is not None:
        name = page.best.name
        rows += [
            (f"evolve program show {name} --code", "prints the best program with what its score rests on"),
            (f"evolve program lineage {name}", "prints the steps that led to it"),
            (f"evolve program verify {name}", "judges it again, and says whether its score holds"),
            (f"evolve program export {name}", "writes it with all that another machine needs to judge it again"),
        ]
    if page.costs is not None:
        rows.append((f"evolve model calls {page.name}", "lists every call of a model, with prompt and answer"))
    told = (
        f"Everything here is computed from the campaign's log, {page.log.rsplit('/', 1)[-1]}, which holds {page.events:,} events. "
        "Where it lies in the workspace (archive/campaigns/), these commands check it:"
    )
    return Section("verify", "How to verify", (Paragraph(told), Commands(tuple(rows))))
