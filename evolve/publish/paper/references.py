"""`references.bib`: where the anchors were published.

Invariant: only what the task says: nothing is looked up, and no field is made up."""

import re
from collections.abc import Mapping

from evolve.publish.paper.escaping import bibtex
from evolve.types import Anchor, Task

_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})(?!\d)", re.IGNORECASE)
_DOI = re.compile(r"(?:doi:|https://doi\.org/)(10\.\d{4,9}/[^\s,;{}\\%#$&~^\"]+)", re.IGNORECASE)


def keys(task: Task) -> Mapping[tuple[str, str], str]:
    """The key of each anchor that has a source, by whose it is and the source."""
    found: dict[tuple[str, str], str] = {}
    for anchor in task.anchors:
        if anchor.source:
            stem = re.sub(r"[^a-z0-9]", "", anchor.by.lower())[:24] or "anchor"
            key = free = f"{stem}{anchor.year or ''}"
            count = 1
            while free in found.values():
                count += 1
                free = f"{key}-{count}"
            found.setdefault((anchor.by, anchor.source), free)
    return found


def references(task: Task) -> str:
    """The whole file; a comment where no anchor has a source."""
    cited = keys(task)
    anchors = {(anchor.by, anchor.source): anchor for anchor in reversed(task.anchors)}
    entries = [_entry(key, anchors[name]) for name, key in cited.items()]
    return "\n".join(entries) if entries else "% No anchor of the task has a source.\n"


def _entry(key: str, anchor: Anchor) -> str:
    fields = [("author", f"{{{bibtex(anchor.by)}}}"), ("note", bibtex(anchor.source))]
    fields += [("year", str(anchor.year))] if anchor.year else []
    if arxiv := _ARXIV.search(anchor.source):
        fields += [("eprint", arxiv[1]), ("archiveprefix", "arXiv"), ("url", f"https://arxiv.org/abs/{arxiv[1]}")]
    elif doi := _DOI.search(anchor.source):
        fields += [("doi", bibtex(doi[1])), ("url", f"https://doi.org/{bibtex(doi[1])}")]
    return f"@misc{{{key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields) + "}\n"
