"""What prompts tell of the machine."""

import getpass
import platform
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evolve import hardware, plugins
from evolve.evaluation.provenance import processor
from evolve.testing import rehearsed_task
from evolve.types import Grants, Limits, Needs, Selection, Stage, Task

pytestmark = pytest.mark.integration

SELECTION = Selection("diff")


def told(task: Task) -> str:
    """The text of the one section."""
    (section,) = hardware.prompt_sections(task, SELECTION)
    assert section.name == hardware.NAME
    return section.text


def test_a_model_reads_what_it_can_write_for() -> None:
    """Processor, cores, versions; and the same again."""
    text = told(rehearsed_task())
    assert text.startswith(
        f"## The machine\n\n- Processor: {processor()}, of which a program has 1 core.\n- Installed: python "
    )
    assert f"python {platform.python_version()}, numpy {np.__version__}" in text
    assert text == told(rehearsed_task())


def test_nothing_says_where_that_is() -> None:
    """No host, no user, no folder."""
    task = replace(rehearsed_task(), python=sys.executable, folder=str(Path.cwd()))
    text = told(task)
    assert [word for word in (platform.node(), getpass.getuser(), str(Path.home()), "/") if word and word in text] == []


def test_the_cores_are_those_of_the_widest_stage() -> None:
    """Not those of the machine."""
    task = replace(rehearsed_task(), stages=(Stage("a"), Stage("b", needs=Needs(cores=3))))
    assert "of which a program has 3 cores." in told(task)


def test_versions_are_those_of_the_tasks_interpreter() -> None:
    """One that does not answer has none; that it cannot be used is said elsewhere."""
    assert f"- Installed: python {platform.python_version()}, numpy {np.__version__}" in told(
        replace(rehearsed_task(), python=sys.executable)
    )
    assert "Installed" not in told(replace(rehearsed_task(), python="/nowhere/python"))


def test_the_gpu_is_named_as_its_driver_does(tmp_path: Path) -> None:
    """Where there is one, and the task has it."""
    card = tmp_path / "0000:01:00.0"
    card.mkdir()
    (card / "information").write_text("Model: \t\t NVIDIA H200\nIRQ:   45\n")
    assert (hardware.graphics(tmp_path), hardware.graphics(tmp_path / "none")) == ("NVIDIA H200", "")
    with_gpu = replace(rehearsed_task(), limits=Limits(grants=Grants(gpu=1)))
    assert ("- GPU: " in told(with_gpu)) == bool(hardware.graphics())


def test_it_is_a_plugin_as_others_are() -> None:
    """Loaded with the bundled ones."""
    found = plugins.load([]).prompt_sections(rehearsed_task(), SELECTION)
    assert [section.name for section in found] == [hardware.NAME]
