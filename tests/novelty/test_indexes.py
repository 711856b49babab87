"""Programs near another one, by sketches and by vectors."""

import math
import threading
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve import novelty
from evolve.novelty import VectorIndex, pack_vector
from evolve.novelty.indexes import MINIMA, SketchIndex, sketch
from evolve.types import Program

COUNTS = st.integers(0, 40)


def random_sketch(rng: np.random.Generator) -> bytes:
    """That of a program which has nothing in common with another one."""
    return rng.integers(0, 256, MINIMA, np.uint8).tobytes()


def changed(base: bytes, places: object) -> bytes:
    """A sketch with other minima at these places."""
    row = np.frombuffer(base, np.uint8).copy()
    row[places] += 1
    return row.tobytes()


def sketch_distance(a: bytes, b: bytes) -> float:
    """As the index computes it, for one pair."""
    differing = sum(one != other for one, other in zip(a, b, strict=True))
    return min(1.0, differing / MINIMA * 256 / 255)


def program(lines: int, changed_line: int = -1) -> Program:
    """A program of 8 tokens a line, of which one may have another name in it."""
    text = "".join(f"x{n} = f{n}(a{n}, {'other' if n == changed_line else 'b'})\n" for n in range(lines))
    return Program({"seed.py": text})


def test_equal_sketches_have_no_distance_and_unrelated_ones_nearly_1() -> None:
    """What is equal by chance is taken out, but for what would be beyond 1."""
    rng = np.random.default_rng(1)
    one = random_sketch(rng)
    assert sketch_distance(one, one) == 0.0
    distances = [sketch_distance(one, random_sketch(rng)) for _ in range(500)]
    assert np.mean(distances) == pytest.approx(1.0, abs=0.005)
    assert max(distances) == 1.0


@pytest.mark.parametrize("line", range(0, 60, 9))
def test_a_sketch_estimates_what_the_whole_minhash_does(line: int) -> None:
    """It has a quarter of the size."""
    one, other = (novelty.minhash(program(60, number)) for number in (-1, line))
    assert sketch_distance(sketch(one), sketch(other)) == pytest.approx(novelty.distance(one, other), abs=0.01)


def test_one_changed_word_is_ten_over_the_number_of_words() -> None:
    """What the documentation says of a threshold."""
    tokens = 9 * 60
    found = [
        sketch_distance(*(sketch(novelty.minhash(program(60, number))) for number in (-1, line)))
        for line in range(2, 58)
    ]
    assert np.mean(found) == pytest.approx(10 / tokens, rel=0.25)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
    st.lists(st.tuples(st.integers(0, 2), COUNTS), max_size=30),
    st.tuples(st.integers(0, 2), COUNTS),
    st.integers(0, 2**32),
)
def test_the_nearest_is_that_of_a_scan(
    wanted: float, stored: list[tuple[int, int]], asked: tuple[int, int], seed: int
) -> None:
    """On each island for itself, the oldest of several; whatever differs, wherever."""
    rng = np.random.default_rng(seed)
    base = random_sketch(rng)

    def near(count: int) -> bytes:
        return changed(base, rng.permutation(MINIMA)[:count])

    index, all_of = SketchIndex(wanted), []
    for number, (island, count) in enumerate(stored):
        all_of.append((str(number), island, near(count)))
        index.add(*all_of[-1])
    island, wish = asked[0], near(asked[1])
    scanned = [(sketch_distance(wish, one), int(key), key) for key, place, one in all_of if place == island]
    best = min(scanned, default=(1.0, 0, ""))
    found = index.nearest(wish, island)
    assert (None if found is None else (found.distance, found.key)) == (
        (best[0], best[2]) if best[0] < wanted else None
    )


@pytest.mark.parametrize(("true", "expected"), [(0.0, 1.0), (0.01, 0.86), (0.02, 0.53), (0.04, 0.11), (0.1, 0.0003)])
def test_how_often_a_neighbour_at_a_true_distance_is_found(true: float, expected: float) -> None:
    """At a threshold of 0.02, as the documentation says: two of 128 minima may differ."""
    exact = sum(comb(MINIMA, count) * true**count * (1 - true) ** (MINIMA - count) for count in range(3))
    assert exact == pytest.approx(expected, abs=0.006)
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(2000):
        one, index = random_sketch(rng), SketchIndex(0.02)
        index.add("one", 0, one)
        found += index.nearest(changed(one, rng.random(MINIMA) < true), 0) is not None
    assert found / 2000 == pytest.approx(exact, abs=0.03)


def test_what_is_passed_over_is_not_found() -> None:
    """The next one is."""
    base = random_sketch(np.random.default_rng(3))
    index = SketchIndex(0.1)
    index.add("parent", 0, base)
    index.add("sibling", 0, changed(base, [5, 6]))
    wish = changed(base, [5])
    assert index.nearest(wish, 0).key == "parent"
    assert index.nearest(wish, 0, [base]).key == "sibling"
    assert index.nearest(wish, 0, [base, changed(base, [5, 6])]) is None


def test_a_sketch_has_one_place_per_island() -> None:
    """The first program that has it stands for all."""
    base = random_sketch(np.random.default_rng(3))
    index = SketchIndex(0.1)
    for number in range(100):
        index.add(str(number), number % 2, base)
    assert (index.nearest(base, 0).key, index.nearest(base, 1).key) == ("0", "1")


def test_threads_may_add_and_look_at_the_same_time() -> None:
    """Each finds what it added itself, while the index grows."""
    index, missed = SketchIndex(0.02), []

    def use(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for number in range(200):
            one = random_sketch(rng)
            index.add(f"{seed}/{number}", seed, one)
            found = index.nearest(one, seed)
            if found is None or found.key != f"{seed}/{number}":
                missed.append((seed, number))

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missed == []


def turned(degrees: float) -> bytes:
    """A vector of the plane."""
    return pack_vector([3 * math.cos(math.radians(degrees)), 3 * math.sin(math.radians(degrees))])


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
    vector = pack_vector(rng.normal(size=1536).tolist())
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
    index.add("flat", 0, pack_vector([1.0, 0.0]))
    index.add("deep", 0, pack_vector([1.0, 0.0, 0.0]))
    assert index.most_similar(pack_vector([1.0, 0.0]), 0).key == "flat"
    assert index.most_similar(pack_vector([1.0, 0.0, 0.0]), 0).key == "deep"
    assert index.most_similar(pack_vector([1.0]), 0) is None


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [[1.0], [2.0]]])
def test_what_has_no_direction_is_no_vector(vector: list[float]) -> None:
    """It is compared with nothing."""
    assert pack_vector(vector) == b""
