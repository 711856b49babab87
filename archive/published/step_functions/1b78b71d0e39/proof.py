"""Exact ratios of step functions: whole numbers instead of floating point, and nothing but the standard library, so that anyone can
check one.

A function with n equal steps has an autoconvolution that is linear between the knots, the multiples of a step's width, because the
overlap of two steps is. Its values at the knots are the sums of products that the convolution of the list of steps gives. So its maximum
over the real line is the largest of these numbers, its integral their sum, and the integral of its square a sum over neighbours: nothing
is lost between the knots. The overlap that Erd\u0151s asked for is linear between knots for the same reason.

Invariant: `verify` believes nothing; it recomputes everything that a certificate says."""

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

KINDS = ("c1", "c2", "c3abs", "erdos")
MAXIMISED = "c2"
"""The one kind of which more is better."""
BOUNDS = {"c1": Fraction(128, 100), "c3abs": Fraction(1), "erdos": Fraction(379005, 1000000)}
"""What the minimised kinds are proven never to be below: Cloninger and Steinerberger 2017 (https://arxiv.org/abs/1403.7988); the mean of
a function on an interval of length 1 is at most its maximum; White 2022 (https://arxiv.org/abs/2201.05704). That of c2 is in `task.toml`."""
LOW, HIGH = Fraction(1, 10), Fraction(9, 10)
"""The steps of `erdos` that may be changed so that they add up to what they must."""
DECIMALS = 16
PROVES = "the function of n equal steps is one that its kind allows, and its ratio (with a minus where less is better) is the value"
WHOLE = re.compile(r"-?[0-9]{1,4000}")
NUMBER = re.compile(r"-?[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
"""How a certificate writes whole numbers and fractions."""


def certificate(kind: str, steps: Sequence[float]) -> dict[str, Any]:
    """A step function and its ratio, from floats that are taken as the fractions that they are: whole numbers over a common `scale`.

    Negative steps of c1 and c2 become 0; steps of `erdos` are moved into [0, 1] and made to add up to half their number. Raises `ValueError`
    where that cannot be, and for a function without a ratio."""
    scale, whole = _whole([Fraction(step) for step in steps])
    if kind in ("c1", "c2"):
        whole = [max(step, 0) for step in whole]
    if kind == "erdos":
        scale, whole = _balanced(scale, [min(max(step, 0), scale) for step in whole])
    value = ratio(kind, scale, whole)
    return {"kind": kind, "scale": str(scale), "steps": [str(step) for step in whole], "value": str(value)}


def proven(certificate: Mapping[str, Any], parameters: Mapping[str, Any]) -> Fraction:
    """The exact fitness: the ratio of c2, and the negative ratio of the other kinds. Raises `ValueError` as `verify` does, and for
    another kind or number of steps than the task asks for."""
    kind, count = certificate["kind"], len(certificate["steps"])
    if kind != parameters["kind"]:
        raise ValueError(f"the kind is {kind!r:.60}, wanted {parameters['kind']!r}")
    if count != parameters["n"]:
        raise ValueError(f"there are {count} steps, wanted {parameters['n']}")
    value = verify(certificate)
    return value if kind == MAXIMISED else -value


def verify(certificate: Mapping[str, Any]) -> Fraction:
    """The exact ratio. Raises `ValueError` unless the steps are what their kind allows, and the ratio is the one that is written."""
    kind, scale = certificate["kind"], _whole_number(certificate["scale"])
    steps = [_whole_number(step) for step in certificate["steps"]]
    if kind not in KINDS:
        raise ValueError(f"there is no kind {kind!r}, only {', '.join(KINDS)}")
    if scale < 1:
        raise ValueError(f"the scale is {scale}, wanted a positive number")
    if kind != "c3abs" and any(step < 0 for step in steps):
        raise ValueError(f"a step of kind {kind} is negative")
    if kind == "erdos" and any(step > scale for step in steps):
        raise ValueError("a step of kind erdos is above 1")
    if kind == "erdos" and 2 * sum(steps) != scale * len(steps):
        raise ValueError("the steps of kind erdos do not add up to half their number")
    value = ratio(kind, scale, steps)
    if value != _number(certificate["value"]):
        raise ValueError(f"the ratio is {value}, not {certificate['value']}")
    return value


def ratio(kind: str, scale: int, steps: Sequence[int]) -> Fraction:
    """The ratio of the function with the steps `steps / scale`; raises `ValueError` where it divides by 0."""
    total = sum(steps)
    if not total:
        raise ValueError("the steps add up to 0")
    if kind == "erdos":
        overlaps = convolved(steps, [scale - step for step in reversed(steps)])
        return Fraction(2 * max(overlaps), len(steps) * scale**2)
    knots = convolved(steps, steps)
    if kind == "c2":
        squares = sum(one * one + one * other + other * other for one, other in pairwise([0, *knots, 0]))
        return Fraction(squares, 3 * total**2 * max(knots))
    return Fraction(2 * len(steps) * max(map(abs, knots)), total**2)


def convolved(ones: Sequence[int], others: Sequence[int]) -> list[int]:
    """The convolution of two lists of whole numbers by one multiplication (Kronecker's substitution): each list becomes the value of a
    polynomial at a power of two that is so large that the coefficients of the product stand apart."""
    largest = max(1, *map(abs, ones)) * max(1, *map(abs, others)) * min(len(ones), len(others))
    width = largest.bit_length() // 8 + 1
    count, half = len(ones) + len(others) - 1, 1 << (8 * width - 1)
    # Half the range is added to every coefficient, so that none is negative when it is read.
    product = _packed(ones, width) * _packed(others, width) + _packed([half] * count, width)
    digits = product.to_bytes(width * count, "little")
    return [int.from_bytes(digits[start : start + width], "little") - half for start in range(0, len(digits), width)]


def score(kind: str, value: Fraction) -> float:
    """The ratio of c2, and the negative ratio of the other kinds, rounded down."""
    return rounded_down(value if kind == MAXIMISED else -value)


def rounded_down(signed: Fraction) -> float:
    """The largest float that is not above the number cut to 16 decimals."""
    cut = Fraction(math.floor(signed * 10**DECIMALS), 10**DECIMALS)
    nearest = float(cut)
    return nearest if Fraction(nearest) <= cut else math.nextafter(nearest, -math.inf)


def _packed(numbers: Sequence[int], width: int) -> int:
    """The polynomial with these coefficients at 256 to the power of `width`."""
    above = b"".join(max(number, 0).to_bytes(width, "little") for number in numbers)
    below = b"".join(max(-number, 0).to_bytes(width, "little") for number in numbers)
    return int.from_bytes(above, "little") - int.from_bytes(below, "little")


def _whole_number(text: Any) -> int:
    """Nothing but what `certificate` writes is a number here: no float, no exponent that fills the memory."""
    if type(text) is not str or not WHOLE.fullmatch(text):
        raise ValueError(f"this is no whole number: {text!r:.60}")
    return int(text)


def _number(text: Any) -> Fraction:
    if type(text) is not str or not NUMBER.fullmatch(text):
        raise ValueError(f"this is no exact number: {text!r:.60}")
    return Fraction(text)


def _whole(steps: Sequence[Fraction]) -> tuple[int, list[int]]:
    scale = math.lcm(*(step.denominator for step in steps))
    return scale, [step.numerator * (scale // step.denominator) for step in steps]


def _balanced(scale: int, steps: list[int]) -> tuple[int, list[int]]:
    """The steps with those between `LOW` and `HIGH` multiplied by one number, so that all add up to half of how many they are."""
    middle = [LOW * scale <= step <= HIGH * scale for step in steps]
    movable = sum(step for step, moves in zip(steps, middle, strict=True) if moves)
    excess = Fraction(sum(steps)) - Fraction(len(steps) * scale, 2)
    if not excess:
        return scale, steps
    if not movable:
        raise ValueError("the steps do not add up to half their number, and none lies between 0.1 and 0.9")
    factor = 1 - excess / movable
    balanced = [step * factor if moves else Fraction(step) for step, moves in zip(steps, middle, strict=True)]
    if not all(0 <= step <= scale for step in balanced):
        raise ValueError("the steps are too far from adding up to half their number")
    finer, whole = _whole(balanced)
    return scale * finer, whole


# ----------------------------------------------------------------------
# What stands above is a file of the task, the verifier of task 'step_functions', as its judge runs it.
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


EXPORTED_CLAIM = {'task': 'step_functions',
 'version': '9b385287c6327c6aa60b68fb3d5a0ed11d0484fe0b5cbc7ea6fb74400631c5f0',
 'parameters': {'kind': 'c2', 'n': 256, 'limit': 0.5},
 'fitness': 'ratio',
 'direction': 'max',
 'value': 0.9260102341563712,
 'record': 'agent/6',
 'certificate': 'certificate/certificate.json'}

if __name__ == "__main__":
    exported_sys.exit(exported_main(proven, PROVES, EXPORTED_CLAIM, exported_sys.argv[1:]))
