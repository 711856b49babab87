"""What was made of settled records is kept."""

from functools import partial
from threading import Thread

from evolve.bounded_cache import BoundedCache


def test_a_value_is_made_once_for_each_key() -> None:
    """One that is empty, too."""
    derived, made = BoundedCache(), list[str]()
    for key in ("a", "b", "a", "b"):
        assert derived.get_or_create(key, lambda: made.append("made")) is None
    assert len(made) == 2


def test_the_oldest_is_forgotten() -> None:
    """What is kept is bounded."""
    derived = BoundedCache(most=3)
    for number in range(4):
        derived.get_or_create(number, lambda: "old")
    assert [derived.get_or_create(number, lambda: "new") for number in (1, 3, 0)] == ["old", "old", "new"]


def test_what_follows_from_something_else_that_is_kept_is_kept_beside_it() -> None:
    derived = BoundedCache()
    assert (
        derived.get_or_create(
            "sum", lambda: derived.get_or_create("a", lambda: 1) + derived.get_or_create("b", lambda: 2)
        )
        == 3
    )
    assert [derived.get_or_create(key, lambda: 0) for key in ("a", "b", "sum")] == [1, 2, 3]


def test_many_threads_find_the_same() -> None:
    derived, found = BoundedCache(most=8), list[int]()

    def look() -> None:
        for place in range(4000):
            found.append(derived.get_or_create(place % 16, partial(int, place % 16)) - place % 16)

    threads = [Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0] * 16_000
