"""Campaigns of methods with a model, whose engine is killed while calls are in flight."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from evolve.campaign import Campaign
from evolve.plugins import load
from evolve.types import Asked, Propose, Settled
from tests.models import fault_server
from tests.models.fault_server import FaultServer
from tests.test_killed_with_models import IN_FLIGHT, command, rewrites, written_task

pytestmark = pytest.mark.integration

PROGRAMS = 40


@pytest.mark.parametrize(
    "name", ["puct", pytest.param("hgm", marks=pytest.mark.slow), pytest.param("shinka", marks=pytest.mark.slow)]
)
def test_a_campaign_goes_on_after_a_kill(tmp_path: Path, name: str) -> None:
    """Whatever had settled by then; with an exact budget, and children of more than one program."""
    environment = {**os.environ, "EVOLVE_HOME": str(tmp_path / "home")}
    with FaultServer([fault_server.OK, *rewrites(160, delay=0.2)]) as server:
        words = command(written_task(tmp_path / "number"), server, "--strategy", name, programs=PROGRAMS)
        with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL) as engine:
            deadline = time.monotonic() + 60
            while server.count < 1 + 4 * IN_FLIGHT and time.monotonic() < deadline:
                time.sleep(0.01)
            engine.kill()
        with Campaign.open("killed", load(), tmp_path / "home") as campaign:
            assert campaign.state.progress.calls > IN_FLIGHT
            assert campaign.state.progress.programs < PROGRAMS
        goes_on = [sys.executable, "-m", "evolve", "run", "--continue", "killed"]
        subprocess.run(goes_on, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
    with Campaign.open("killed", load(), tmp_path / "home") as campaign:
        assert campaign.state.progress.programs == PROGRAMS
        records = [event.event.record for event in campaign.log.events(only=Settled)]
        steps = Counter((record.origin.step, record.origin.index) for record in records)
        assert set(steps.values()) == {1}, "nothing settled twice"
        actions = [event.event.action for event in campaign.log.events(only=Asked)]
        assert len({action.selection.parents for action in actions if isinstance(action, Propose)}) > 1
