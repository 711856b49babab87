"""Cosines over an island's last vectors."""

import math

import numpy as np
import pytest

from evolve.nearest import VectorIndex, packed


def turned(degrees: float) -> bytes:
    """A vector of the plane."""
    return packed([3 * math.cos(math.radians(degrees)), 3 * math.sin(math.radians(degrees))])


def test_the_most_similar_one_is_found_from_a_cosine_on() -> None:
    """On its island, but for those that are passed over."""
    index = VectorIndex(wanted=0.9)
    for degrees in (0, 20, 80):
        index.add(str(degrees), 0, turned(degrees))
    found = index.most_similar(turned(18), 0)
    assert (found.key, found.cosine) == ("20", pytest.approx(math.cos(math.radians(2)), abs=1e-3))
    assert index.most_similar(turned(18), 0, ["20"]).key == "0"
    assert index.most_similar(turned(18), 0, ["0", "20"]) is None
    assert index.most_similar(turned(50), 0) is None
    assert index.most_similar(turned(18), 1) is None


def test_a_vector_is_as_similar_to_itself_as_can_be() -> None:
    """Rounding to 16 bits does not make it another one."""
    rng = np.random.default_rng(0)
    index = VectorIndex(wanted=1.0 - 1e-6)
    vector = packed(rng.normal(size=1536).tolist())
    assert len(vector) == 2 * 1536
    index.add("one", 0, vector)
    assert index.most_similar(vector, 0).cosine == pytest.approx(1.0, abs=1e-6)


def test_the_last_vectors_are_kept() -> None:
    """The oldest give way, round after round."""
    index = VectorIndex(wanted=0.999, recent=20)
    for number in range(90):
        index.add(str(number), 0, turned(4 * number))
    found = [index.most_similar(turned(4 * number), 0) for number in range(90)]
    assert [near.key for near in found if near is not None] == [str(number) for number in range(70, 90)]


def test_vectors_of_different_lengths_never_meet() -> None:
    """A server that has another model now."""
    index = VectorIndex(wanted=0.5)
    index.add("flat", 0, packed([1.0, 0.0]))
    index.add("deep", 0, packed([1.0, 0.0, 0.0]))
    assert index.most_similar(packed([1.0, 0.0]), 0).key == "flat"
    assert index.most_similar(packed([1.0, 0.0, 0.0]), 0).key == "deep"
    assert index.most_similar(packed([1.0]), 0) is None


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [[1.0], [2.0]]])
def test_what_has_no_direction_is_no_vector(vector: list[float]) -> None:
    """It is compared with nothing."""
    assert packed(vector) == b""
