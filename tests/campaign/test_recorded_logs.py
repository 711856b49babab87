"""Logs of real campaigns, recorded by the engine as of 2026-11-23, fold to the archives that they folded to then.

`stub_model` and `killed` asked a model: a script that moves one circle. `killed` was ended by SIGKILL after four seconds and continued.
A digest that changes is another archive, and another search: the logs are never recorded anew to make a test pass."""

import lzma
from pathlib import Path

import pytest

from evolve.campaign import Campaign
from evolve.plugins import load

RECORDED = Path(__file__).parent.parent / "data" / "recorded"
FOLDED = {
    "circle_packing": (327, "f26bfe4989427120ebd904b02968573866c81b43be40ae759e4a0a835df930be"),
    "kernel_softmax": (83, "5ed67712e9534d2484f4e7420e65cdd8b1829884ec4c5fcbe528e8e035d52f6b"),
    "killed": (635, "ac11bb6ecdd9040a322d2ad39511be295e18126581825e7bd7362b50e994a470"),
    "online_bin_packing": (346, "013336507b5f1cc810b958f055341d9f79651194e08f098862e4b4cc1ea46039"),
    "step_functions": (134, "c814c922f9fca2faf45cf72f21a16064716f1664b81fff48f55e0aa49d6f15e4"),
    "stub_model": (495, "d36a4a45f8ed0f63ab09bd911cd413769c7652b8ba33e4e5ece5ac5d20f3ad60"),
}


@pytest.mark.parametrize("name", FOLDED)
def test_a_recorded_log_folds_to_the_archive_that_it_had(name: str, tmp_path: Path) -> None:
    log = tmp_path / f"{name}.db"
    log.write_bytes(lzma.decompress((RECORDED / f"{name}.db.xz").read_bytes()))
    with Campaign.open(str(log), load(), tmp_path) as campaign:
        assert campaign.state.difference is None
        assert (campaign.events, campaign.digest()) == FOLDED[name]


def test_every_recorded_log_is_folded() -> None:
    assert {path.name.removesuffix(".db.xz") for path in RECORDED.iterdir()} == set(FOLDED)
