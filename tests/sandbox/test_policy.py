"""From a task's limits and the machine's means to a jail."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import evolve
from evolve.sandbox.box import Box
from evolve.sandbox.jail import Jail
from evolve.sandbox.machine.identity import can_choose
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import Means
from evolve.sandbox.policy import gpu_nodes, jail_for
from evolve.types import Grants, Level, Limits, Program, SandboxError

pytestmark = pytest.mark.integration

STRICT = Means(namespaces=True, landlock=7, seccomp=True)
STANDARD = replace(STRICT, namespaces=False)


NONE = Grants()


def made(grants: Grants = NONE, means: Means = STRICT, user: int = -1, python: str = sys.executable) -> Jail:
    return jail_for("/home/of/a/slot", Limits(grants=grants), python, means, user)


def test_what_is_told_is_what_was_meant(tmp_path: Path) -> None:
    """A jail crosses to the template whole."""
    jail = made(Grants(read=(str(tmp_path),), threads=3, execute=False))
    assert Jail.from_json(jail.to_json()) == jail


def test_the_engine_is_hidden() -> None:
    """With its tasks, wherever it lies."""
    engine = os.path.realpath(Path(evolve.__file__).parent)
    assert any(engine == place or engine.startswith(place + "/") for place in made().hidden)


@pytest.mark.parametrize("means", [Means(), Means(limits=False)])
def test_without_a_box_nothing_is_shown_or_hidden(means: Means) -> None:
    """The interpreter is not even asked, for a candidate sees what its user sees."""
    jail = made(means=means, python="/no/such/python")
    assert (jail.visible, jail.hidden, jail.listed) == ((), (), ())


def test_grants_arrive(tmp_path: Path) -> None:
    """Each by its name."""
    jail = made(
        Grants(execute=False, memfd=True, shm=5, read=(str(tmp_path),), threads=3, network="loopback", template=False)
    )
    assert (jail.execute, jail.memfd, jail.shm, jail.threads, jail.loopback, jail.template) == (
        False,
        True,
        5,
        3,
        True,
        False,
    )
    assert jail.readable == (str(tmp_path),)
    assert (jail.gpu, jail.nodes) == (False, ())


def test_a_private_tree_needs_namespaces() -> None:
    """Elsewhere the machine's own files are all that there is to show."""
    jails = [made(Grants(private=True), means) for means in (STRICT, STANDARD)]
    assert [jail.private for jail in jails] == [True, False]
    assert ["/usr" in jail.visible for jail in jails] == [False, True]


def test_shared_memory_needs_a_file_tree_of_its_own() -> None:
    """The machine's /dev/shm is everybody's."""
    with pytest.raises(SandboxError, match=r"`shm`.*closed to them. Try: run where level strict"):
        made(Grants(shm=1 << 30), STANDARD)
    assert made(means=STANDARD).shm == Grants().shm


def test_loopback_needs_a_network_of_its_own() -> None:
    """That of the machine has the engine on it."""
    with pytest.raises(
        SandboxError, match=r"`loopback`, and here its network is the machine's.*Try: run where level strict"
    ):
        made(Grants(network="loopback"), STANDARD)


def test_the_task_is_hidden_but_for_the_interpreter_in_it(tmp_path: Path) -> None:
    """Its evaluator and its held-out cases lie there."""
    task = tmp_path / "task"
    task.mkdir()
    (task / "evaluator.py").write_text("")
    jail = jail_for("/home/of/a/slot", Limits(), sys.executable, STRICT, -1, [os.fspath(task)])
    assert os.path.realpath(task) in jail.hidden
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", task / ".venv"], check=True)
    inner = jail_for("/home/of/a/slot", Limits(), os.fspath(task / ".venv/bin/python"), STRICT, -1, [os.fspath(task)])
    assert os.path.realpath(task / "evaluator.py") in inner.hidden
    assert os.path.realpath(task) not in inner.hidden


def test_a_folder_to_read_comes_with_the_links_to_it(tmp_path: Path) -> None:
    """In a file tree of its own. Without one the link is there, and a rule about it would open all that it leads to."""
    (tmp_path / "sets" / "one").mkdir(parents=True)
    (tmp_path / "data").symlink_to("sets")
    grants = Grants(read=(str(tmp_path / "data" / "one"),))
    assert made(grants).readable == (str(tmp_path / "data"), str(tmp_path / "sets" / "one"))
    assert made(grants, STANDARD).readable == (str(tmp_path / "sets" / "one"),)


def test_data_of_a_task_that_comes_with_the_engine_can_be_granted() -> None:
    """The rest of the engine stays hidden."""
    data = Path(evolve.__file__).resolve().parent / "task" / "starters"
    jail = made(Grants(read=(str(data),)))
    assert (jail.readable, jail.shown) == ((str(data),), ())


@pytest.mark.parametrize(
    ("there", "granted"),
    [
        (["nvidia0", "nvidiactl", "nvidia-uvm", "dri/renderD128"], ["nvidia-uvm", "nvidia0", "nvidiactl"]),
        (["dxg"], ["dxg"]),
        (["dri/renderD128", "dri/card0", "nvidiactl"], []),
    ],
    ids=["NVIDIA", "a Linux within Windows", "a screen"],
)
def test_a_gpu_is_the_device_files_of_its_kind(tmp_path: Path, there: list[str], granted: list[str]) -> None:
    """Exactly where the judge finds that there is one."""
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert gpu_nodes(tmp_path) == tuple(str(tmp_path / name) for name in granted)


LOOK = """
def look(paths):
    found = []
    for path in paths:
        try:
            with open(path) as file:
                found.append(file.read())
        except OSError as error:
            found.append(type(error).__name__)
    return found
"""


def reachable(means: Means) -> str:
    """A Python that candidates may run with these means: the tests' own, or the system's where that one lies in somebody's home."""
    folders = {*Path(sys.executable).absolute().parents, *Path(sys.executable).resolve().parents}
    is_open = means.namespaces or all(folder.stat().st_mode & stat.S_IXOTH for folder in folders)
    return sys.executable if is_open else "/usr/bin/python3"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="evolve-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()


@pytest.mark.parametrize("level", [Level.STRICT, Level.STANDARD])
@pytest.mark.parametrize("inside", [True, False])
def test_what_is_granted_is_read_and_what_lies_beside_it_is_not(open_folder: Path, level: Level, inside: bool) -> None:
    """By the path that the task names, also where that goes through a link, in the task's hidden folder and elsewhere."""
    hidden = (str(open_folder),) if inside else ()
    had = probe().means
    means = had if level is Level.STRICT else replace(had, namespaces=False)
    if means.level is not level:
        pytest.skip(f"this machine reaches {had.level}")
    (open_folder / "sets" / "one").mkdir(parents=True)
    (open_folder / "data").symlink_to("sets")
    for name, text in {"sets/one/numbers": "1 2 3", "sets/answers": "6", "evaluator.py": "secret"}.items():
        (open_folder / name).write_text(text)
    paths = [str(open_folder / name) for name in ("data/one/numbers", "data/answers", "evaluator.py")]
    try:
        limits = Limits(grants=Grants(read=(str(open_folder / "data" / "one"),)))
        box = Box(limits, reachable(means), means=means, hidden=hidden)
    except SandboxError as error:
        if level is Level.STRICT:
            raise
        pytest.skip(str(error))
    with closing(box), box.open(Program({"seed.py": LOOK}), "seed", 10.0) as session:
        numbers, *others = session.call("look", paths)
    assert numbers == "1 2 3"
    assert set(others) <= {"FileNotFoundError", "PermissionError"}


def environment(folder: Path, base: str) -> Path:
    """A virtual environment by hand, which every Python can be the base of; its interpreter."""
    version = subprocess.run(
        [base, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True
    ).stdout.strip()
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(os.path.realpath(base))
    (folder / f"lib/python{version}/site-packages").mkdir(parents=True)
    home = Path(os.path.realpath(base)).parent
    (folder / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\nversion = {version}\n")
    return folder / "bin" / "python"


def site(python: Path) -> Path:
    """Where an environment's packages lie."""
    (found,) = python.parent.parent.glob("lib/python*/site-packages")
    return found


def means_of(level: Level) -> Means:
    """This machine's best means of a level."""
    had = probe().means
    means = had if level is Level.STRICT else replace(had, namespaces=False)
    if means.level is not level:
        pytest.skip(f"this machine reaches {had.level}")
    return means


ANYWHERE = """
import importlib
import sys
NAMES = ("evaluator.py", "helper", "inner", "cases")
def look(paths):
    found = []
    for path in paths:
        try:
            with open(path) as file:
                found.append(file.read())
        except OSError as error:
            found.append(type(error).__name__)
    for name in ("evaluator", "helper", "inner"):
        try:
            found.append(importlib.import_module(name).__file__)
        except (ImportError, OSError) as error:
            found.append(type(error).__name__)
    finders = sys.path_importer_cache.values()
    return found + [name for finder in finders for name in getattr(finder, "_path_cache", ()) if name in NAMES]
"""
REFUSED = {"FileNotFoundError", "PermissionError", "ModuleNotFoundError"}


@pytest.mark.parametrize("level", [Level.STRICT, Level.STANDARD])
@pytest.mark.parametrize("inside", [True, False])
def test_a_task_on_the_interpreters_path_stays_hidden(open_folder: Path, level: Level, inside: bool) -> None:
    """By a line of a .pth file, by setuptools' hook, and whether or not the environment lies in the task's folder."""
    means = means_of(level)
    task = open_folder / "task"
    for name in ("helper/__init__.py", "inner/__init__.py", "evaluator.py", "cases/first.py"):
        (task / name).parent.mkdir(parents=True, exist_ok=True)
        (task / name).write_text("secret = 1\n")
    python = environment((task if inside else open_folder) / ".venv", reachable(means))
    (site(python) / "project.pth").write_text(f"{task}\nimport __editable___inner_finder\n")
    (site(python) / "__editable___inner_finder.py").write_text(f"MAPPING = {{'inner': {str(task / 'inner')!r}}}\n")
    (site(python) / "installed.py").write_text("")
    paths = [str(task / name) for name in ("evaluator.py", "helper/__init__.py", "inner/__init__.py", "cases/first.py")]
    limits = Limits(preload=("installed",))
    box = Box(limits, str(python), means=means, hidden=(str(task),))
    with closing(box), box.open(Program({"seed.py": ANYWHERE}), "seed", 10.0) as session:
        assert set(session.call("look", paths)) <= REFUSED


@pytest.mark.parametrize("level", [Level.STRICT, Level.STANDARD])
def test_a_tasks_programs_on_path_open_nothing_of_it(
    open_folder: Path, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a folder of libraries there."""
    means = means_of(level)
    for name in ("bin", "lib", "more"):
        (open_folder / name).mkdir()
        (open_folder / name / "evaluator.py").write_text("secret")
    monkeypatch.setenv("PATH", f"{open_folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(open_folder / "more"))
    box = Box(Limits(), reachable(means), means=means, hidden=(str(open_folder),))
    with closing(box), box.open(Program({"seed.py": ANYWHERE}), "seed", 10.0) as session:
        found = session.call("look", [str(open_folder / name / "evaluator.py") for name in ("bin", "lib", "more")])
    assert set(found) <= REFUSED


@pytest.mark.skipif(not can_choose(), reason="candidates are who the engine is")
@pytest.mark.parametrize("level", [Level.STRICT, Level.STANDARD])
def test_an_environment_that_candidates_may_not_read_is_refused_with_the_remedy(
    open_folder: Path, level: Level
) -> None:
    """Programs would be told that its modules are not there."""
    means = means_of(level)
    python = environment(open_folder / ".venv", reachable(means))
    (site(python) / "installed").mkdir(mode=0o700)
    wanted = rf"may not read {site(python)}/installed. Try: `chmod -R o\+rX {site(python)}`"
    with pytest.raises(SandboxError, match=wanted):
        Box(Limits(preload=()), str(python), means=means)
    (site(python) / "installed").chmod(0o755)
    Box(Limits(preload=()), str(python), means=means).close()


def test_what_is_hidden_and_not_there_yet_must_not_come_to_light(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With namespaces a folder can be covered where it is, and its surroundings are shown with all that will be made in them."""
    monkeypatch.setenv("PATH", f"{open_folder}:{os.environ['PATH']}")
    later = open_folder / "archive"
    jail_for("", Limits(), sys.executable, STANDARD, -1, [str(later)])
    with pytest.raises(SandboxError, match=rf"would see {later}, .* Try: make it first, with `mkdir -p`"):
        jail_for("", Limits(), sys.executable, STRICT, -1, [str(later)])
    later.mkdir()
    assert str(later) in jail_for("", Limits(), sys.executable, STRICT, -1, [str(later)]).hidden


def test_without_namespaces_nothing_hidden_lies_in_what_may_be_read(open_folder: Path) -> None:
    """A list of folders opens all that they hold. With them, it is covered."""
    (open_folder / "data" / "archive").mkdir(parents=True)
    limits, hidden = Limits(grants=Grants(read=(str(open_folder / "data"),))), [str(open_folder / "data" / "archive")]
    with pytest.raises(SandboxError, match=rf"would see {hidden[0]}, .* Try: grant a folder that does not hold it"):
        jail_for("", limits, sys.executable, STANDARD, -1, hidden)
    assert hidden[0] in jail_for("", limits, sys.executable, STRICT, -1, hidden).hidden


def test_what_is_hidden_in_a_folder_of_path_is_not_seen(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as logs that somebody keeps there, and files of one; with namespaces and without."""
    (open_folder / "archive").mkdir()
    for name in ("tool", "archive/log.db", "other.db"):
        (open_folder / name).write_text(name)
    monkeypatch.setenv("PATH", f"{open_folder}:{os.environ['PATH']}")
    paths = [str(open_folder / name) for name in ("tool", "archive/log.db", "other.db")]
    for level in (Level.STANDARD, Level.STRICT):
        means = means_of(level)
        box = Box(Limits(), reachable(means), means=means, hidden=(str(open_folder / "archive"), paths[2]))
        with closing(box), box.open(Program({"seed.py": LOOK}), "seed", 10.0) as session:
            tool, *logs = session.call("look", paths)
        assert tool == "tool"
        assert set(logs) <= {*REFUSED, ""}
