"""The pages of docs/, for tests that read them."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def read_page(name: str) -> str:
    """Returns the text of docs/NAME.md."""
    return (DOCS / f"{name}.md").read_text("utf-8")


def read_chapter(name: str, heading: str) -> str:
    """Returns the section of docs/NAME.md below `## HEADING`, with its headings one level up."""
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", read_page(name), re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/{name}.md has no heading {heading!r}"
    return re.sub(r"^##(?=#* )", "#", found[1], flags=re.MULTILINE)
