"""What was made of settled records is kept."""

from functools import partial
from threading import Thread

from evolve.derived import Derived


def test_a_value_is_made_once_for_each_key() -> None:
    """One that is empty, too."""
    derived, made = Derived(), list[str]()
    for key in ("a", "b", "a", "b"):
        assert derived.found(key, lambda: made.append("made")) is None
    assert len(made) == 2


def test_the_oldest_is_forgotten() -> None:
    """What is kept is bounded."""
    derived = Derived(most=3)
    for number in range(4):
        derived.found(number, lambda: "old")
    assert [derived.found(number, lambda: "new") for number in (1, 3, 0)] == ["old", "old", "new"]


def test_what_follows_from_something_else_that_is_kept_is_kept_beside_it() -> None:
    derived = Derived()
    assert derived.found("sum", lambda: derived.found("a", lambda: 1) + derived.found("b", lambda: 2)) == 3
    assert [derived.found(key, lambda: 0) for key in ("a", "b", "sum")] == [1, 2, 3]


def test_many_threads_find_the_same() -> None:
    derived, found = Derived(most=8), list[int]()

    def look() -> None:
        for place in range(4000):
            found.append(derived.found(place % 16, partial(int, place % 16)) - place % 16)

    threads = [Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0] * 16_000
