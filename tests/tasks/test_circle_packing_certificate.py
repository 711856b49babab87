"""Facts about exact certificates of `circle_packing`."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import certificate
import circles
import packing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

FOLDER = Path(certificate.__file__).parent
PACKINGS = json.loads((Path(__file__).parents[1] / "data" / "circle_packings.json").read_text("utf-8"))


def proof_of(centres: Any) -> dict[str, Any]:
    packed = packing.packed([(x, y) for x, y in centres], margin=0.0)
    return certificate.certificate(packed.centres, packed.radii)


def brute_force(proof: dict[str, Any]) -> list[str]:
    points = [(Fraction(x), Fraction(y)) for x, y in proof["centres"]]
    return circles.overlaps(points, [Fraction(radius) for radius in proof["radii"]])


def test_the_seed_certifies_within_a_hair_of_its_real_value() -> None:
    """The real value is 2.5 + (sqrt(2) - 1) / 10 for the grid; its decimal coordinates are a little off as binary fractions."""
    proof = proof_of(circles.SEED)
    assert brute_force(proof) == []
    assert certificate.rounded_down(certificate.verify(proof)) == pytest.approx(circles.SEED_TOTAL, abs=1e-14)


@pytest.mark.parametrize("name", PACKINGS)
def test_good_packings_certify(name: str) -> None:
    """Found from random starts."""
    centres, total = PACKINGS[name]["centres"], PACKINGS[name]["total"]
    proof = proof_of(centres)
    value = certificate.verify(proof)
    assert brute_force(proof) == []
    assert certificate.rounded_down(value) == pytest.approx(total, abs=1e-13)
    assert value <= Fraction(packing.packed([(x, y) for x, y in centres]).total) + Fraction(1, 10**12)


def test_the_best_that_is_known_certifies_to_fourteen_digits() -> None:
    """Its contacts determine it: 58 between circles and 20 with sides, for 26 centres and radii. Found by exchanges of circles and sequential quadratic
    programming, polished by Newton's method; the value is the one that others have published."""
    centres = PACKINGS["plateau"]["centres"]
    value = certificate.verify(proof_of(centres))
    assert Fraction("2.63598308491760") < value < Fraction("2.63598308491761")
    found = packing.contacts(packing.packed([(x, y) for x, y in centres], margin=0.0))
    assert (len(found.pairs), len(found.sides)) == (58, 20)


@pytest.mark.parametrize("name", PACKINGS)
def test_a_polished_copy_has_the_fingerprint_of_its_original(name: str) -> None:
    """Moving every coordinate by a millionth leaves the contacts."""
    centres = PACKINGS[name]["centres"]
    rough = [(round(x, 6), round(y, 6)) for x, y in centres]
    assert packing.fingerprint(rough) == packing.fingerprint(centres)


@pytest.mark.parametrize("symmetry", range(8))
def test_turned_copies_certify_at_nearly_the_same_value(symmetry: int) -> None:
    """Rounding of 1 - x is all that differs."""
    proof = proof_of(circles.turned(circles.shaken(4), circles.SYMMETRIES[symmetry], 3))
    assert brute_force(proof) == []
    assert float(certificate.verify(proof)) == pytest.approx(
        float(certificate.verify(proof_of(circles.shaken(4)))), abs=1e-13
    )


coordinate = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5, 0.1, 0.2, 5e-324, 1 - 2**-53])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=10))
def test_every_certificate_holds(centres: list[tuple[float, float]]) -> None:
    """Whatever the centres, also after a journey as JSON, and never far below the score in floating point."""
    proof = json.loads(json.dumps(proof_of(centres)))
    value = certificate.verify(proof)
    assert brute_force(proof) == []
    assert abs(value - Fraction(packing.packed(centres).total)) <= Fraction(1, 10**12)


def test_radii_that_overlap_are_made_smaller_until_they_do_not() -> None:
    """By steps that double, so even gross overlap ends, at radius 0 if need be."""
    proof = certificate.certificate([(0.5, 0.5), (0.5, 0.5)], [0.5, 0.25])
    assert (proof["radii"], certificate.verify(proof)) == (["0", "0"], 0)


def test_centres_are_clamped_into_the_square() -> None:
    """A certificate can be asked for anything."""
    proof = certificate.certificate([(-1.0, 2.0)], [0.5])
    assert proof == {"centres": [["0", "1"]], "radii": ["0"], "sum": "0"}


GOOD = {"centres": [["1/4", "1/2"], ["3/4", "1/2"]], "radii": ["1/4", "1/4"], "sum": "1/2"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"radii": ["1/4", "1000000000000000000001/4000000000000000000000"]}, "circle 1 is not in the unit square"),
        ({"centres": [["1/4", "1/2"], ["2999999999/4000000000", "1/2"]]}, "circles 0 and 1 overlap"),
        ({"radii": ["1/4", "-1/4"]}, "circle 1 is not in the unit square"),
        ({"centres": [["1/4", "1/2"], ["5/4", "1/2"]]}, "circle 1 is not in the unit square"),
        ({"sum": "2/3"}, "the radii add up to 1/2, not to 2/3"),
        ({"radii": ["1/4"]}, "there are 2 centres and 1 radii"),
        ({"radii": ["1/4", "nan"]}, "nan"),
        ({"radii": ["1/4", "inf"]}, "inf"),
    ],
)
def test_a_forged_certificate_is_refused(change: dict[str, Any], message: str) -> None:
    """An overlap of 1e-22 is an overlap."""
    assert certificate.verify(GOOD) == Fraction(1, 2)
    with pytest.raises(ValueError, match=message):
        certificate.verify(GOOD | change)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(1, 2), 0.5),
        (Fraction(1, 3), 0.33333333333333326),
        (Fraction(2, 3), 0.6666666666666665),
        (Fraction(0), 0.0),
    ],
)
def test_a_value_is_never_rounded_up(value: Fraction, expected: float) -> None:
    """To 16 decimals first, then to a float."""
    assert certificate.rounded_down(value) == expected


@settings(max_examples=100, deadline=None)
@given(st.fractions(0, 3))
def test_a_rounded_value_is_at_most_a_hair_too_low(value: Fraction) -> None:
    """A decimal and a half of the last place."""
    rounded = certificate.rounded_down(value)
    assert Fraction(rounded) <= value < Fraction(rounded) + Fraction(1, 10**15)
    assert math.isfinite(rounded)


@pytest.mark.integration
def test_a_certificate_is_checked_by_the_standard_library_alone(tmp_path: Path) -> None:
    """As the task's README says, in an interpreter without any package."""
    (tmp_path / "certificate.json").write_text(json.dumps(proof_of(circles.SEED)))
    code = "import json, certificate; print(float(certificate.verify(json.load(open('certificate.json')))))"
    (tmp_path / "certificate.py").write_text((FOLDER / "certificate.py").read_text("utf-8"), "utf-8")
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert float(run.stdout) == pytest.approx(circles.SEED_TOTAL, abs=1e-13)
