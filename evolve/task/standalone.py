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
