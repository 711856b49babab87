"""What others may not read of an environment, as a strict file mask leaves it."""

import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from evolve.sandbox.machine import visible
from evolve.sandbox.machine.visible import Visible, find_closed_parts, format_remedy, paths_of

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no isolation on Windows"),
]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """Where the packages of a fresh environment lie, with some in it."""
    venv.create(tmp_path / "env", symlinks=True, with_pip=False)
    (found,) = (tmp_path / "env").glob("lib/python*/site-packages")
    for name in ("installed/__init__.py", "installed-1.0.dist-info/METADATA", "single.py", "__pycache__/single.pyc"):
        (found / name).parent.mkdir(exist_ok=True)
        (found / name).write_text("")
    yield found
    visible._paths_of.cache_clear()


def seen(site: Path) -> Visible:
    """What is visible with its interpreter."""
    return paths_of(str(site.parents[2] / "bin" / "python"), {"PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize("private", [True, False])
def test_an_environment_that_others_may_read_is_not_closed(site: Path, private: bool) -> None:
    """What is no module, and what the engine alone needs, may be closed."""
    (site / "evolve").mkdir(mode=0o700)
    (site / "__pycache__").chmod(0o700)
    (site / "~nstalled").mkdir(mode=0o700)
    (site / "notes.txt").touch(0o600)
    (site / "broken.py").symlink_to("nowhere")
    assert find_closed_parts(seen(site), private=private) == ()


@pytest.mark.parametrize("name", ["installed", "installed-1.0.dist-info", "single.py"])
def test_of_a_closed_package_the_folder_is_named_that_all_were_installed_in(site: Path, name: str) -> None:
    """Since others in it may be closed further inside."""
    (site / name).chmod(0o640 if (site / name).is_file() else 0o750)
    assert find_closed_parts(seen(site), private=True) == (str(site),)


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o701, 0o704])
def test_a_folder_on_the_way_that_is_closed_is_named(site: Path, mode: int) -> None:
    """It must be listed as well as entered."""
    found = seen(site)
    site.parent.chmod(mode)
    assert find_closed_parts(found, private=True) == (str(site.parent),)


def test_all_parts_of_an_interpreter_that_are_closed_are_named(site: Path) -> None:
    """As a mask of 077 leaves them; what lies in them is not looked at."""
    environment = site.parents[2]
    closed = [environment / name for name in ("bin", "include", "lib", "pyvenv.cfg")]
    (site / "single.py").chmod(0o600)
    for place in closed:
        place.chmod(0o700)
    assert find_closed_parts(seen(site), private=True) == tuple(map(str, closed))


@pytest.mark.parametrize("private", [True, False])
def test_of_a_project_the_closed_modules_are_named_and_not_its_folder(
    site: Path, tmp_path: Path, private: bool
) -> None:
    """It may hold keys; where candidates have no tree of their own, they must be able to list it."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "module.py").touch(0o600)
    (tmp_path / "project" / ".env").touch(0o600)
    (site / "project.pth").write_text(f"{tmp_path / 'project'}\n")
    assert find_closed_parts(seen(site), private=private) == (str(tmp_path / "project" / "module.py"),)
    (tmp_path / "project").chmod(0o711)
    expected = "project/module.py" if private else "project"
    assert find_closed_parts(seen(site), private=private) == (str(tmp_path / expected),)
    assert find_closed_parts(seen(site), private=private, loose=False) == ()


def test_what_candidates_never_see_may_be_closed(site: Path, tmp_path: Path) -> None:
    """Such as a task's folder on the path."""
    (tmp_path / "task").mkdir(mode=0o700)
    (tmp_path / "task" / "helper.py").touch(0o600)
    (site / "task.pth").write_text(f"{tmp_path / 'task'}\n")
    assert find_closed_parts(seen(site).closing(str(tmp_path / "task")), private=True) == ()


def test_the_remedy_opens_what_is_closed(site: Path) -> None:
    """Where it is run, nothing is closed any more."""
    for place in (site / "installed" / "__init__.py", site / "single.py"):
        place.chmod(0o600)
    (site / "installed").chmod(0o700)
    subprocess.run(format_remedy(find_closed_parts(seen(site), private=True)).strip("`"), shell=True, check=True)
    assert find_closed_parts(seen(site), private=True) == ()
    assert (site / "installed" / "__init__.py").stat().st_mode & 0o777 == 0o604
