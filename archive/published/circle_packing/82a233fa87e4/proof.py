"""Exact packings: fractions instead of floating point, and nothing but the standard library, so that anyone can check one.

Invariant: `verify` believes nothing; it recomputes everything that a certificate says."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

STEPS = 10**17
"""Radii are made smaller in steps of 1e-17."""
DECIMALS = 16

PROVES = "so many circles as the parameter n says lie in the unit square, no two of them overlap, and their radii add up to the value"
NUMBER = re.compile(r"-?[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
"""How a certificate writes a number: as a whole one, or as a fraction."""

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Grid:
    """Circles as whole multiples of `1 / scale`: whole numbers are as exact as fractions, and ten times as fast."""

    scale: int
    points: list[tuple[int, int]]
    radii: list[int]

    def wall(self, circle: int) -> int:
        """The distance from the centre to the nearest side; negative outside the square."""
        x, y = self.points[circle]
        return min(x, y, self.scale - x, self.scale - y)

    def squared_distance(self, one: int, other: int) -> int:
        """In multiples of `1 / scale ** 2`."""
        (x, y), (u, v) = self.points[one], self.points[other]
        return (x - u) ** 2 + (y - v) ** 2


def certificate(centres: Sequence[Sequence[float]], radii: Sequence[float]) -> dict[str, Any]:
    """Circles that provably do not overlap: floats are taken as the fractions that they are, and every radius is made smaller by
    the first of 1e-17, 2e-17, 4e-17, ... that leaves no overlap."""
    points = [(_clamped(x), _clamped(y)) for x, y in centres]
    grid = _grid(points, [Fraction(radius) for radius in radii])
    exact = [Fraction(radius, grid.scale) for radius in _shrunk(grid)]
    return {
        "centres": [[str(x), str(y)] for x, y in points],
        "radii": [str(radius) for radius in exact],
        "sum": str(sum(exact, Fraction(0))),
    }


def proven(certificate: Mapping[str, Any], parameters: Mapping[str, Any]) -> Fraction:
    """The exact fitness; raises `ValueError` as `verify` does, and for another number of circles than the task asks for."""
    value, count = verify(certificate), len(certificate["centres"])
    if count != parameters["n"]:
        raise ValueError(f"there are {count} circles, wanted {parameters['n']}")
    return value


def verify(certificate: Mapping[str, Any]) -> Fraction:
    """The exact sum of the radii. Raises `ValueError` unless the circles lie in the unit square, none overlap, and the sum is the
    one that is written."""
    points = [(_number(x), _number(y)) for x, y in certificate["centres"]]
    radii = [_number(radius) for radius in certificate["radii"]]
    if len(points) != len(radii):
        raise ValueError(f"there are {len(points)} centres and {len(radii)} radii")
    grid = _grid(points, radii)
    for circle, radius in enumerate(grid.radii):
        if not 0 <= radius <= grid.wall(circle):
            raise ValueError(f"circle {circle} is not in the unit square")
    for one, other in combinations(range(len(points)), 2):
        if (grid.radii[one] + grid.radii[other]) ** 2 > grid.squared_distance(one, other):
            raise ValueError(f"circles {one} and {other} overlap")
    total = sum(radii, Fraction(0))
    if total != _number(certificate["sum"]):
        raise ValueError(f"the radii add up to {total}, not to {certificate['sum']}")
    return total


def rounded_down(value: Fraction) -> float:
    """The largest float that is not above `value` cut to 16 decimals."""
    cut = Fraction(math.floor(value * 10**DECIMALS), 10**DECIMALS)
    nearest = float(cut)
    return nearest if Fraction(nearest) <= cut else math.nextafter(nearest, -math.inf)


def _number(text: Any) -> Fraction:
    """Nothing but what `certificate` writes is a number here: no float, no exponent that fills the memory."""
    if type(text) is not str or not NUMBER.fullmatch(text):
        raise ValueError(f"this is no exact number: {text!r:.60}")
    return Fraction(text)


def _grid(points: Sequence[Point], radii: Sequence[Fraction]) -> Grid:
    scale = math.lcm(STEPS, *(number.denominator for number in chain(radii, *points)))
    whole = [[number.numerator * (scale // number.denominator) for number in numbers] for numbers in (*points, radii)]
    return Grid(scale, [(x, y) for x, y in whole[:-1]], whole[-1])


def _shrunk(grid: Grid) -> list[int]:
    """What holds at one step holds at every later one, so each step looks only at what was still wrong."""
    step = grid.scale // STEPS
    pairs = [(one, other, grid.squared_distance(one, other)) for one, other in combinations(range(len(grid.points)), 2)]
    while True:
        radii = [max(radius - step, 0) for radius in grid.radii]
        pairs = [pair for pair in pairs if (radii[pair[0]] + radii[pair[1]]) ** 2 > pair[2]]
        if not pairs and all(radius <= grid.wall(circle) for circle, radius in enumerate(radii)):
            return radii
        step *= 2


def _clamped(value: float) -> Fraction:
    return min(max(Fraction(value), Fraction(0)), Fraction(1))


# ----------------------------------------------------------------------
# What stands above is a file of the task, the verifier of task 'circle_packing', as its judge runs it.
# What stands below is the same for every task. Run: python3 -I -S proof.py
# ----------------------------------------------------------------------

"""The part of an exported `proof.py` that is the same for every task: it stands below the task's own verifier in that file.

Invariant: the standard library alone; every name begins with `exported_`, so that none of the task's is replaced; nothing in the construction's file is
believed, but read as plain data."""

import json as exported_json
import sys as exported_sys
from fractions import Fraction as ExportedFraction
from pathlib import Path as ExportedPath
from typing import Any as ExportedAny

EXPORTED_MALFORMED = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    OSError,
    MemoryError,
)
EXPORTED_DECIMALS = 30
EXPORTED_BITS = 600


def exported_pairs(pairs: list[tuple[str, ExportedAny]]) -> dict[str, ExportedAny]:
    """An object of JSON; a key that is there twice could be read in two ways."""
    found: dict[str, ExportedAny] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} is there twice")
        found[key] = value
    return found


def exported_constant(name: str) -> None:
    """JSON has neither of them."""
    raise ValueError(f"{name} is no number")


def exported_read(path: ExportedPath) -> dict[str, ExportedAny]:
    """The construction as dictionaries, lists, texts and numbers."""
    try:
        text = path.read_bytes().decode("utf-8")
        found = exported_json.loads(text, object_pairs_hook=exported_pairs, parse_constant=exported_constant)
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from None
    except (exported_json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("the construction is no object")
    return found


def exported_value(
    proven: ExportedAny, claim: dict[str, ExportedAny], construction: dict[str, ExportedAny]
) -> ExportedFraction:
    """What the construction proves, exactly; raises `ValueError` where that is less than what is claimed."""
    value = proven(construction, dict(claim["parameters"]))
    if type(value) is not int and type(value) is not ExportedFraction:
        raise ValueError(f"the verifier found no exact number, but {value!r:.60}")
    exact, claimed = ExportedFraction(value), ExportedFraction(claim["value"])
    short = exact < claimed if claim["direction"] == "max" else exact > claimed
    if short:
        raise ValueError(f"it proves {exported_decimal(exact)}, and {claim['value']!r} is claimed")
    return exact


def exported_decimal(value: ExportedFraction) -> str:
    """A fraction as a decimal number that is cut, never rounded up."""
    scaled = abs(value.numerator) * 10**EXPORTED_DECIMALS // value.denominator
    whole, rest = divmod(scaled, 10**EXPORTED_DECIMALS)
    digits = f"{rest:0{EXPORTED_DECIMALS}d}".rstrip("0") or "0"
    return f"{'-' if value < 0 else ''}{whole}.{digits}"


def exported_plain(text: str) -> str:
    """A text that no terminal obeys: what is not ASCII, and control characters, as escapes."""
    return ascii(text)[1:-1].replace("\\'", "'").replace("\\\\", "\\")


def exported_told(claim: dict[str, ExportedAny], proves: str, value: ExportedFraction) -> list[str]:
    """What has been proven, in lines."""
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    exactly = str(value) if bits <= EXPORTED_BITS else f"a fraction of {bits} bits"
    given = ", ".join(f"{name} = {setting}" for name, setting in claim["parameters"].items())
    no_less = "at least" if claim["direction"] == "max" else "at most"
    return [
        f"task       {claim['task']}{f' ({given})' if given else ''}",
        f"proven     {proves}",
        f"value      {claim['fitness']} {exported_decimal(value)}",
        f"exactly    {exactly}",
        f"claimed    {no_less} {claim['value']!r}: holds",
        "verified",
    ]


def exported_main(proven: ExportedAny, proves: str, claim: dict[str, ExportedAny], arguments: list[str]) -> int:
    """The exit status: 0 where the construction proves what is claimed."""
    place = ExportedPath(arguments[0]) if arguments else ExportedPath(__file__).resolve().parent / claim["certificate"]
    try:
        value = exported_value(proven, claim, exported_read(place))
        lines = exported_told(claim, proves, value)
    except EXPORTED_MALFORMED as error:
        reason = " ".join(str(error).split()) or "it is not what was expected"
        exported_sys.stderr.write(f"not verified: {type(error).__name__}: {exported_plain(reason)[:1000]}\n")
        return 1
    exported_sys.stdout.write("".join(f"{exported_plain(line)}\n" for line in lines))
    return 0


EXPORTED_CLAIM = {'task': 'circle_packing',
 'version': 'c17343e2819e8f2f23f8ca99dc52b9bb83e958a81bb13d62ac24c8090ccb6543',
 'parameters': {'n': 26},
 'fitness': 'sum of radii',
 'direction': 'max',
 'value': 2.6359830849174353,
 'record': 'agent/3',
 'certificate': 'certificate/certificate.json'}

if __name__ == "__main__":
    exported_sys.exit(exported_main(proven, PROVES, EXPORTED_CLAIM, exported_sys.argv[1:]))
