"""How a reader verifies a report: what to type.

Invariant: every command is whole and works as it stands, where the log is in the workspace."""

from evolve.pages.document import Commands, Paragraph, Section
from evolve.pages.findings import Findings


def checking(found: Findings, further: tuple[tuple[str, str], ...]) -> Section:
    """The chapter; `further` are commands for the best program, with what each does, in which `{best}` stands for its name."""
    page = found.overview
    rows = [
        (
            f"evolve campaign replay {page.name}",
            "computes the archive from the log again, and says whether it is the one that the log tells of",
        )
    ]
    if page.best is not None:
        name = page.best.name
        rows.append((f"evolve program show {name} --code", "prints the best program with what its score rests on"))
        rows.append((f"evolve program lineage {name}", "prints the steps that led to it"))
        rows += [(command.replace("{best}", name), what) for command, what in further]
    if page.costs is not None:
        rows.append((f"evolve model calls {page.name}", "lists every call of a model, with prompt and answer"))
    told = (
        f"Everything here is computed from the campaign's log, {page.log.rsplit('/', 1)[-1]}, which holds {page.events:,} events. "
        "Where it lies in the workspace (archive/campaigns/), these commands check it:"
    )
    return Section("verify", "How to verify", (Paragraph(told), Commands(tuple(rows))))
