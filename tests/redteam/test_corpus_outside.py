"""The harmless cases succeed where nothing holds them: the corpus bites."""

import os
import time
from pathlib import Path

import pytest

from evolve.sandbox.corpus.all import CASES
from evolve.sandbox.corpus.case import Case
from evolve.sandbox.corpus.descendants import descendants
from evolve.sandbox.corpus.outside import bite

_HARMLESS = [case for case in CASES if case.harmless]
_ONLY_AS_ROOT = {"cpu.nice", "cpu.realtime", "disk.immutable"}


@pytest.mark.parametrize("case", _HARMLESS, ids=lambda case: case.name)
def test_it_succeeds_without_a_box(case: Case) -> None:
    """So that a box which holds it has done something."""
    if case.name in _ONLY_AS_ROOT and os.geteuid() != 0:
        pytest.skip("an ordinary user may not do this anywhere")
    (result,) = bite([case])
    if result.verdict == "skipped":
        pytest.skip(result.why)
    assert (result.verdict, result.why) == ("breach", result.why)


def test_what_is_not_harmless_is_never_run(tmp_path: Path) -> None:
    """Outside of a box."""
    proof = tmp_path / "proof"
    source = f"open({str(proof)!r}, 'w')\ndef attack(told):\n    return ['ran']"
    assert list(bite([Case("test.case", "try", source)])) == []
    assert not proof.exists()


@pytest.mark.parametrize(
    "source",
    [
        "import time\ndef attack(told):\n    time.sleep(60)",
        "def attack(told):\n    raise OSError",
        "def attack(told):\n    return []",
    ],
)
def test_what_fails_or_does_not_end_achieves_nothing(source: str) -> None:
    """And is ended."""
    before, begun = descendants(), time.monotonic()
    (result,) = bite([Case("test.case", "try", source, harmless=True, seconds=0.5)])
    assert (result.verdict, result.why) == ("held", "nothing achieved")
    assert descendants() == before
    assert time.monotonic() - begun < 30
