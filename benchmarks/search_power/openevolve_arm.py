"""The arm that is a campaign of OpenEvolve."""

import argparse
from pathlib import Path

from campaigns import Campaign


def run(place: Path, task: Path, args: argparse.Namespace) -> Campaign:
    """Runs it."""
    raise NotImplementedError
