"""The harmless cases succeed where nothing holds them: the corpus bites."""

import time
from pathlib import Path

import pytest

from tests.redteam.case import Case
from tests.redteam.corpus import CASES
from tests.redteam.descendants import descendants
from tests.redteam.outside import ENOUGH, bite

pytestmark = pytest.mark.integration

_HARMLESS = [case for case in CASES if case.harmless]
_ONLY_AS_ROOT = {"cpu.nice", "cpu.realtime", "disk.immutable"}


def test_the_corpus_bites() -> None:
    """Enough of the harmless cases succeed without a box; some depend on the kernel, or on the rights of a user."""
    results = {result.case.name: result for result in bite(_HARMLESS)}
    assert list(results) == [case.name for case in _HARMLESS]
    succeeded = {name for name, result in results.items() if result.verdict == "breach"}
    assert len(succeeded) >= min(ENOUGH, len(_HARMLESS) - len(_ONLY_AS_ROOT)), results.keys() - succeeded


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
