"""`evolve sandbox redteam`: hostile programs against the box of this machine, one by one.

Invariant: exit code 0 says that nothing got out that the reached level does not exempt, and where `strict` was asked for, that nothing was left
out; every breach and every skip is named with its reason."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import click

from evolve.cli.output import debug_option, emit, json_option, say, table
from evolve.cli.pretending import lessened
from evolve.engine.isolation import VARIABLE, WantedLevel, wanted_level
from evolve.sandbox.box import Box
from evolve.sandbox.corpus.all import CASES
from evolve.sandbox.corpus.case import Case
from evolve.sandbox.corpus.outside import ENOUGH, bite
from evolve.sandbox.corpus.runner import RedTeam, Result
from evolve.sandbox.machine.choice import chosen
from evolve.sandbox.machine.probe import probe
from evolve.types import ConfigError, Level, SandboxError
from evolve.types.suggest import did_you_mean

_GROUPS = sorted({case.group for case in CASES})
_WIDTH = 100
_LEVELS = [str(level) for level in (Level.STRICT, Level.STANDARD, Level.REDUCED)]


@dataclass(frozen=True, slots=True)
class Named:
    """A case that was not held, or not tried, and why. `exempt`: the level's documentation says so."""

    name: str
    why: str
    exempt: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A case and what became of it, as it is printed."""

    name: str
    tries: str
    must: str
    verdict: str
    why: str
    status: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class RedTeamed:
    """The one object of `--json`. `cases` counts all, tried or skipped; outside a box, `level` is `none` and a breach is what is wanted."""

    level: Level
    isolation: str
    cases: int
    breaches: tuple[Named, ...]
    skipped: tuple[Named, ...]
    results: tuple[Line, ...]


@click.command("redteam")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--group", "groups", multiple=True, type=click.Choice(_GROUPS), help="The cases of this group; may be repeated."
)
@click.option(
    "--bite", "outside", is_flag=True, help="Run the harmless cases outside any box, where they must succeed."
)
@click.option(
    "--sandbox",
    "wanted",
    type=click.Choice(_LEVELS),
    help=f"Stop where the box does not reach this level.  [default: ${VARIABLE}, else what this machine reaches]",
)
@click.option(
    "--pretend",
    multiple=True,
    metavar="MEAN=VALUE",
    help="For tests: as if this machine had less, such as landlock=1, landlock=0, namespaces=no or cgroup=no; may be repeated.",
)
@json_option
@debug_option
def redteam(
    names: tuple[str, ...],
    groups: tuple[str, ...],
    outside: bool,
    wanted: str | None,
    pretend: tuple[str, ...],
    as_json: bool,
) -> None:
    """Attack the box of this machine with hostile programs (all, or those that are named), and say which of them were held."""
    if outside and (wanted or pretend):
        raise click.UsageError(
            "--bite runs outside any box, so there is no level to ask for, and no mean to go without"
        )
    cases = _chosen(names, groups)
    if outside:
        found = _report("none: outside any box", _shown(bite(cases), sum(case.harmless for case in cases), as_json))
        failed = cases == CASES and len(found.breaches) < ENOUGH
    else:
        wish = _wished(wanted)
        found = _attacked(cases, wish, pretend, as_json)
        left_out = wish.level is Level.STRICT and bool(found.skipped)
        failed = left_out or not all(breach.exempt for breach in found.breaches)
    if as_json:
        emit(found)
    else:
        say(_bitten(found) if outside else _page(found))
    if failed:
        click.get_current_context().exit(1)


def _chosen(names: Sequence[str], groups: Sequence[str]) -> tuple[Case, ...]:
    """The cases that are named by themselves or by their groups; all where nothing is named."""
    known = [case.name for case in CASES]
    for name in names:
        if name not in known:
            raise click.UsageError(f"there is no case {name!r}.{did_you_mean(name, known)}")
    return tuple(case for case in CASES if case.name in names or case.group in groups or not (names or groups))


def _wished(option: str | None) -> WantedLevel:
    """The level that is named; `reduced`, which every machine reaches, where none is. Raises `ConfigError`."""
    wish = wanted_level(option)
    if wish.level is Level.NONE:
        raise ConfigError(
            f"{VARIABLE} is 'none', and then there is no box to attack. Do: name a level with --sandbox, or run the harmless cases outside any box with --bite"
        )
    return wish if wish.said else WantedLevel(Level.REDUCED)


def _attacked(cases: Sequence[Case], wish: WantedLevel, pretended: Sequence[str], quiet: bool) -> RedTeamed:
    means = lessened(chosen(wish.level, probe()), pretended)
    if not means.level.reaches(wish.level):
        raise SandboxError(
            f"as it is to be pretended, the box is {means.line!r}, and {wish.level.value!r} was asked for. "
            f"Do: leave --pretend out, or ask for less by --sandbox or {VARIABLE}"
        )
    with RedTeam(lambda limits: Box(limits, means=means)) as team:
        return _report(team.isolation, _shown(map(team.attack, cases), len(cases), quiet))


def _shown(results: Iterator[Result], count: int, quiet: bool) -> list[Result]:
    """The results; while they come, a person sees how far it is."""
    hidden = quiet or not sys.stderr.isatty()
    with click.progressbar(results, length=count, file=sys.stderr, hidden=hidden) as progress:
        return list(progress)


def _report(isolation: str, results: Sequence[Result]) -> RedTeamed:
    level = Level(isolation.partition(":")[0])
    return RedTeamed(
        level=level,
        isolation=isolation,
        cases=len(results),
        breaches=_named(results, "breach", level),
        skipped=_named(results, "skipped", level),
        results=tuple(_line(result) for result in results),
    )


def _named(results: Iterable[Result], verdict: str, level: Level) -> tuple[Named, ...]:
    return tuple(
        Named(result.case.name, result.why, level in result.case.exempt)
        for result in results
        if result.verdict == verdict
    )


def _line(result: Result) -> Line:
    case = result.case
    status = None if result.status is None else str(result.status)
    return Line(case.name, case.tries, case.must, result.verdict, result.why, status, round(result.seconds, 3))


def _page(found: RedTeamed) -> str:
    """All cases, then those that were not held or not tried, then the count."""
    parts = [_table(found)]
    for word, named in (("breach", found.breaches), ("skipped", found.skipped)):
        if named:
            rows = [(word, one.name, f"{one.why}{' (as documented for this level)' * one.exempt}") for one in named]
            parts.append("\n".join("  ".join(row) for row in rows))
    counts = f"cases {found.cases}, breaches {len(found.breaches)}, skipped {len(found.skipped)}"
    return "\n\n".join([*parts, f"{found.isolation}: {counts}"])


def _bitten(found: RedTeamed) -> str:
    tried = found.cases - len(found.skipped)
    return f"{_table(found, held='fails', breach='bites')}\n\noutside any box: {len(found.breaches)} of {tried} harmless cases succeed; of all, at least {ENOUGH} must"


def _table(found: RedTeamed, **words: str) -> str:
    headings = ("case", "tries", "must happen", "happened", "seconds", "verdict")
    rows = [
        (
            line.name,
            line.tries,
            line.must,
            _happened(line),
            f"{line.seconds:.2f}",
            words.get(line.verdict, line.verdict),
        )
        for line in found.results
    ]
    return table(headings, rows)


def _happened(line: Line) -> str:
    words = line.why if line.status in (None, "ok") else f"{line.status}: {line.why}"
    return words if len(words) <= _WIDTH else f"{words[: _WIDTH - 3]}..."
