"""`python tests/redteam`: hostile programs against the box of this machine, at each level from `standard` on that it reaches, as a table.

Exit code 1 where one got out that the level does not exempt, or where `EVOLVE_SANDBOX` is `strict` and one could not be tried. Words choose
cases (`net.tcp`) or groups (`net`)."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:] = [str(ROOT), *[path for path in sys.path if path != str(Path(__file__).resolve().parent)]]

from evolve.cli.output import table  # noqa: E402
from evolve.engine.isolation import VARIABLE  # noqa: E402
from evolve.sandbox.box import Box  # noqa: E402
from evolve.sandbox.machine.probe import find_failure, probe  # noqa: E402
from evolve.sandbox.means import Means  # noqa: E402
from evolve.types import Level  # noqa: E402
from tests.redteam.case import Case  # noqa: E402
from tests.redteam.corpus import CASES  # noqa: E402
from tests.redteam.outside import ENOUGH, bite  # noqa: E402
from tests.redteam.runner import RedTeam, Result  # noqa: E402

_WIDTH = 100


def main(words: Sequence[str]) -> int:
    """Attacks, prints, and returns the exit code."""
    parser = argparse.ArgumentParser(prog="python tests/redteam", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a case or a group; without any, all are tried")
    parser.add_argument(
        "--bite", action="store_true", help="run the harmless cases outside any box, where they succeed"
    )
    parser.add_argument("--best", action="store_true", help="at the best level alone")
    parser.add_argument("--landlock", type=int, metavar="VERSION", help="use no later version of Landlock's interface")
    parser.add_argument("--json", action="store_true", help="one object for each level")
    options = parser.parse_args(words)
    known = {case.name for case in CASES} | {case.group for case in CASES}
    if unknown := sorted(set(options.names) - known):
        parser.error(f"there is no case and no group {', '.join(unknown)}")
    cases = tuple(case for case in CASES if not options.names or {case.name, case.group} & set(options.names))
    if options.bite:
        results = list(bite(cases))
        succeeded = sum(result.verdict == "breach" for result in results)
        print(_table(results, held="fails", breach="bites"))
        print(
            f"\noutside any box: {succeeded} of {len(results)} harmless cases succeed; of all, at least {ENOUGH} must"
        )
        return int(cases == CASES and succeeded < ENOUGH)
    codes = [_attack(means, cases, options.json) for means in levels(options.landlock, best=options.best)]
    return max(codes)


def levels(landlock: int | None = None, *, best: bool = False) -> Iterator[Means]:
    """Yields the means of the best level of this machine, then those of `standard` where that is another one that it reaches."""
    means = probe().means
    if landlock is not None:
        means = replace(means, landlock=min(landlock, means.landlock))
    yield means
    standard = replace(means, namespaces=False)
    if not best and means.namespaces and standard.level is Level.STANDARD and not find_failure(standard):
        yield standard


def _attack(means: Means, cases: Sequence[Case], as_json: bool) -> int:
    with RedTeam(lambda limits: Box(limits, means=means)) as team:
        results = [team.attack(case) for case in cases]
    found = {verdict: [result for result in results if result.verdict == verdict] for verdict in ("breach", "skipped")}
    exempt = [result for result in found["breach"] if means.level in result.case.exempt]
    if as_json:
        told = {verdict: {result.case.name: result.why for result in those} for verdict, those in found.items()}
        exempted = [result.case.name for result in exempt]
        print(json.dumps({"isolation": means.line, "cases": len(results), "exempt": exempted, **told}))
    else:
        print(_format(means, results, found, exempt))
    left_out = found["skipped"] and os.environ.get(VARIABLE) == Level.STRICT
    return int(bool(left_out) or len(exempt) < len(found["breach"]))


def _format(means: Means, results: Sequence[Result], found: dict[str, list[Result]], exempt: Sequence[Result]) -> str:
    named = [
        f"{verdict}  {one.case.name}  {one.why}{' (as documented for this level)' * (one in exempt)}"
        for verdict, those in found.items()
        for one in those
    ]
    counts = f"cases {len(results)}, breaches {len(found['breach'])}, of them documented {len(exempt)}, skipped {len(found['skipped'])}"
    return "\n".join([_table(results), "", *named, *([""] if named else []), f"{means.line}: {counts}", ""])


def _table(results: Sequence[Result], **words: str) -> str:
    headings = ("case", "tries", "must happen", "happened", "seconds", "verdict")
    rows = [
        (
            result.case.name,
            result.case.tries,
            result.case.must,
            _shorten(result),
            f"{result.seconds:.2f}",
            words.get(result.verdict, result.verdict),
        )
        for result in results
    ]
    return table(headings, rows)


def _shorten(result: Result) -> str:
    words = result.why if result.status in (None, "ok") else f"{result.status}: {result.why}"
    return words if len(words) <= _WIDTH else f"{words[: _WIDTH - 3]}..."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
