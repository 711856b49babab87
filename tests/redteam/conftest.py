"""The box of this machine and a host for it to keep safe."""

from collections.abc import Iterator

import pytest

from evolve.sandbox.corpus.runner import RedTeam
from evolve.sandbox.machine.probe import best_box


@pytest.fixture(scope="module")
def team() -> Iterator[RedTeam]:
    """At the best level that the machine reaches; after a breach it goes on with a new box and a new host."""
    with RedTeam(best_box) as team:
        yield team
