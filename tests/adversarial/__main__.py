"""`python tests/adversarial`: the table of all cheats and what became of each; exit code 1 where one was not caught, or its twin was refused.

With `--docs` it judges nothing, and writes the table of `tests/adversarial/CHEATS.md` anew. Words after it choose tasks."""

import contextlib
import sys
from pathlib import Path

from adversary import Adversary, cheats, markdown

from evolve.cli.output import table

PAGE = Path(__file__).with_name("CHEATS.md")
BEGINS, ENDS = "<!-- cheats -->\n", "<!-- end of cheats -->\n"


def page(text: str, told: str) -> str:
    """The page with another table between its marks."""
    before, _, rest = text.partition(BEGINS)
    return before + BEGINS + told + ENDS + rest.partition(ENDS)[2]


def main(words: list[str]) -> int:
    """Judges the cheats of the tasks that are named, or all."""
    if words == ["--docs"]:
        PAGE.write_text(page(PAGE.read_text("utf-8"), markdown(cheats())), "utf-8")
        return 0
    chosen = [cheat for cheat in cheats() if not words or cheat.task in words]
    with contextlib.closing(Adversary()) as adversary:
        found = [adversary.verdict(cheat) for cheat in chosen]
    headings = ("task", "cheat", "trick", "defence", "outcome", "caught")
    rows = [
        (
            one.cheat.task,
            one.cheat.name,
            one.cheat.trick,
            one.cheat.rule,
            f"{one.outcome}{', tagged' if one.tag else ''}",
            "yes" if one.is_caught else "NO",
        )
        for one in found
    ]
    print(table(headings, rows))
    missed = [one for one in found if not one.is_caught]
    for one in missed:
        print(f"\n{one.cheat.task}, {one.cheat.name}: {one.profit or one.unfair}\n  {one.said}")
    levels = ", ".join(sorted({one.isolation for one in found}))
    print(f"\n{len(found)} cheats, {len(found) - len(missed)} caught, isolation {levels}")
    return 1 if missed or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
