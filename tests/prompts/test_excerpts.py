"""Texts that were read before."""

from evolve.prompts import excerpts
from evolve.prompts.excerpts import Excerpts


def test_a_text_that_its_hash_names_is_read_once() -> None:
    """For each length."""
    kept, reads = Excerpts(), list[str]()
    for name, most in (("a" * 64, 5), ("a" * 64, 5), ("a" * 64, 6), ("short", 5), ("short", 5)):
        kept.found(name, most, lambda: reads.append("read") or "text")
    assert len(reads) == 4


def test_the_oldest_is_forgotten() -> None:
    """What is kept is bounded."""
    kept = Excerpts()
    for number in range(excerpts._KEPT + 1):
        kept.found(f"{number:064x}", 1, lambda: "old")
    assert (kept.found(f"{0:064x}", 1, lambda: "new"), kept.found(f"{9:064x}", 1, lambda: "new")) == ("new", "old")
