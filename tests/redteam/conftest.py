"""The box of this machine and a host for it to keep safe."""

from collections.abc import Iterator

import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from tests.redteam.runner import RedTeam


@pytest.fixture(scope="module")
def team() -> Iterator[RedTeam]:
    """At the best level that the machine reaches; after a breach it goes on with a new box and a new host."""
    means = probe().means
    with RedTeam(lambda limits: Box(limits, means=means)) as team:
        yield team
