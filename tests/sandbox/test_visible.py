"""What an interpreter needs to be visible, for those that are installed here and for some that are made."""

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

import evolve
from evolve.sandbox.machine import visible
from evolve.sandbox.machine.visible import SYSTEM, Visible, is_below, is_shared, paths_of, private_paths_of, with_links
from evolve.types import SandboxError

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no isolation on Windows"),
]
PACKAGE = Path(evolve.__file__).resolve().parent
PATH = {"PATH": "/usr/bin:/bin"}


@pytest.fixture(autouse=True)
def _asked_again() -> Iterator[None]:
    yield
    visible._paths_of.cache_clear()
    visible._private_paths_of.cache_clear()


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A fresh environment whose interpreter is a link."""
    venv.create(tmp_path / "env", symlinks=True, with_pip=False)
    return tmp_path / "env"


def site(environment: Path) -> Path:
    """Where its packages lie."""
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def needed(python: str) -> list[str]:
    """The files that were opened or loaded when the interpreter has started: its modules and libraries."""
    program = (
        "import ctypes, json, sqlite3, ssl, sys; "
        "print(*[module.__file__ for module in sys.modules.values() if getattr(module, '__file__', None)], "
        "*{line.split()[5] for line in open('/proc/self/maps') if '/' in line}, sys.executable, sep='\\n')"
    )
    done = subprocess.run([python, "-I", "-c", program], capture_output=True, text=True, check=True, env=PATH)
    return done.stdout.splitlines()


def interpreters() -> list[str]:
    """Those that are here."""
    kept = (str(path) for path in sorted(Path.home().glob(".pyenv/versions/3.1[1-9]*/bin/python")))
    return [sys.executable, *(path for path in ("/usr/bin/python3", *kept) if Path(path).exists())]


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what is loaded")
@pytest.mark.parametrize("python", interpreters())
def test_what_a_running_interpreter_uses_is_visible(python: str) -> None:
    """Its modules, its libraries and itself, but not the engine; no home is open."""
    found = paths_of(python, PATH)
    opened, hidden = set(map(Path, found.visible)), set(map(Path, found.hidden))
    used = [Path(os.path.realpath(path)) for path in needed(python)]
    assert [path for path in used if not is_below(path, opened)] == []
    assert [path for path in used if is_below(path, hidden)] == []
    assert [path for path in opened if is_shared(path)] == []
    assert PACKAGE in hidden


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what is loaded")
@pytest.mark.parametrize("python", interpreters())
def test_what_is_private_has_what_a_running_interpreter_uses(python: str) -> None:
    """And neither a package that nobody preloads, nor another program, nor the system's libraries as a whole; no entry lies in another."""
    found = private_paths_of(python, ("json.tool",), PATH)
    opened = set(map(Path, found.visible))
    used = [Path(os.path.realpath(path)) for path in needed(python)]
    assert [path for path in used if not is_below(path, opened) and path.name != "gconv-modules.cache"] == []
    assert [path for path in opened if opened & set(path.parents)] == []
    assert not is_below(Path(os.path.realpath("/usr/bin/env")), opened)
    assert [
        path.name for path in opened if not path.is_symlink() and path.name in {"lib", "site-packages", "test"}
    ] == []


def test_what_is_private_has_the_packages_that_preloading_imports(environment: Path) -> None:
    """Whole, with what these import."""
    for name, text in (("one", "import two"), ("two", ""), ("three", "")):
        (site(environment) / name).mkdir()
        (site(environment) / name / "__init__.py").write_text(text)
    found = private_paths_of(str(environment / "bin" / "python"), ("one",), PATH)
    assert {Path(place).name for place in found.visible} & {"one", "two", "three"} == {"one", "two"}


def test_links_on_the_way_are_named_with_what_they_lead_to(environment: Path, tmp_path: Path) -> None:
    """Each by the real place that it lies in, so that all of them can be made again."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "link").symlink_to("../env")
    (tmp_path / "two").symlink_to("one")
    found = paths_of(str(tmp_path / "two" / "link" / "bin" / "python"), PATH)
    assert {str(tmp_path / "two"), str(tmp_path / "one" / "link"), str(tmp_path / "env" / "bin")} <= set(found.visible)
    assert str(tmp_path / "two" / "link") not in found.visible


def test_no_entry_lies_in_another(environment: Path) -> None:
    """Nor anything in what is hidden."""
    for places in (paths_of(str(environment / "bin" / "python"), PATH).visible, paths_of(sys.executable, PATH).hidden):
        folders = {Path(place) for place in places if not Path(place).is_symlink()}
        assert [place for place in places if any(parent in folders for parent in Path(place).parents)] == []


def test_an_environment_is_open_in_its_parts(environment: Path) -> None:
    """One that was made in the folder of a project leaves the project's other files alone."""
    (environment / ".env").write_text("KEY=1\n")
    (environment / "evaluator.py").write_text("")
    found = paths_of(str(environment / "bin" / "python"), PATH)
    inside = {Path(place).name for place in found.visible if Path(place).parent == environment}
    assert {"bin", "lib", "pyvenv.cfg"} <= inside <= {"bin", "lib", "lib64", "include", "pyvenv.cfg"}


def test_a_copied_interpreter_needs_the_one_that_it_was_copied_from(tmp_path: Path) -> None:
    """Its standard library lies there."""
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--copies", "--without-pip", str(tmp_path / "env")], check=True)
    found = paths_of(str(tmp_path / "env" / "bin" / "python"), PATH)
    library = Path(os.path.realpath(os.__file__))
    assert is_below(library, set(map(Path, found.visible)))


def test_of_editable_packages_the_modules_are_visible(environment: Path, tmp_path: Path) -> None:
    """By a folder in a .pth file, and by the hook that setuptools writes; what lies beside them may be a task, a log, or a key."""
    for name in ("flat/package", "flat/tasks/number", "flat/archive", "project/src/space", "hooked/inner"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("flat/.env", "flat/module.py", "flat/package/__init__.py", "flat/notes.txt", "project/secret"):
        (tmp_path / name).write_text("")
    (tmp_path / "linked").symlink_to("flat")
    folders = f"{tmp_path / 'linked'}\n{tmp_path / 'project' / 'src'}\nimport __editable___hooked_finder\n"
    (site(environment) / "some.pth").write_text(folders)
    (site(environment) / "__editable___hooked_finder.py").write_text(
        f"MAPPING = {{'inner': {str(tmp_path / 'hooked' / 'inner')!r}}}\n"
    )
    found = paths_of(str(environment / "bin" / "python"), PATH)
    theirs = {place for place in found.visible if Path(place).is_relative_to(tmp_path)}
    theirs = {str(Path(place).relative_to(tmp_path)) for place in theirs if not place.startswith(str(environment))}
    assert theirs == {"linked", "flat/module.py", "flat/package", "project/src/space", "hooked/inner"}
    assert found.listed == (str(tmp_path / "flat"), str(tmp_path / "project" / "src"))
    assert set(found.listed) <= set(found.pieces()[1])


def test_a_home_in_a_pth_file_is_not_opened(environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is imported from there is not found, which is better than a home that is read."""
    (tmp_path / "ada").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    (site(environment) / "home.pth").write_text(f"{tmp_path / 'ada'}\n/tmp\n/\n")
    assert {str(tmp_path / "ada"), "/tmp", "/"} & set(
        paths_of(str(environment / "bin" / "python"), PATH).visible
    ) == set()


def test_the_engine_and_its_plugins_are_hidden_where_they_are_installed(environment: Path) -> None:
    """By the names of bundled plugins, and by the entry points of others."""
    folder = site(environment)
    for name in ("evolve", "evolve_kernel", "theirs", "theirs/inner", "other"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("")
    information = folder / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[evolve]\ntheirs = theirs.inner\n")
    hidden = set(paths_of(str(environment / "bin" / "python"), PATH).hidden)
    assert {str(folder / "evolve"), str(folder / "evolve_kernel"), str(folder / "theirs" / "inner")} <= hidden
    assert {str(folder / "theirs"), str(folder / "other")} & hidden == set()


def test_a_checkout_that_an_environment_was_linked_to_is_not_opened(environment: Path, tmp_path: Path) -> None:
    """Its folder is the engine's, with tasks and tests in it."""
    checkout = tmp_path / "checkout"
    (checkout / "evolve").mkdir(parents=True)
    (checkout / "evolve" / "__init__.py").write_text("")
    (checkout / "plugins").mkdir()
    (site(environment) / "_evolve.pth").write_text(f"{checkout}\n{checkout / 'plugins'}\n")
    found = paths_of(str(environment / "bin" / "python"), PATH)
    assert not is_below(checkout / "plugins", set(map(Path, found.visible)))
    assert str(checkout / "evolve") in found.hidden


def test_tools_on_path_are_visible_with_their_libraries(tmp_path: Path) -> None:
    """A compiler needs what lies beside its folder; a home's are not opened."""
    for name in ("gcc/bin", "gcc/libexec", "gcc/secret", "scripts"):
        (tmp_path / name).mkdir(parents=True)
    environment = {"PATH": f"/usr/bin:{tmp_path / 'gcc' / 'bin'}:{tmp_path / 'scripts'}:relative:{Path.home() / 'bin'}"}
    added = set(paths_of(sys.executable, environment).visible) - set(paths_of(sys.executable, PATH).visible)
    assert added == {str(tmp_path / name) for name in ("gcc/bin", "gcc/libexec", "scripts")}


def test_libraries_of_the_variable_are_visible(tmp_path: Path) -> None:
    """Where a home is none."""
    added = {"LD_LIBRARY_PATH": f"{tmp_path}:{Path.home()}"}
    found = set(paths_of(sys.executable, PATH | added).visible) - set(paths_of(sys.executable, PATH).visible)
    assert found == {str(tmp_path)}


def test_it_is_asked_once(tmp_path: Path) -> None:
    """In the life of a process."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho x >> {tmp_path}/asked\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert paths_of(str(python), PATH) == paths_of(str(python), PATH)
    assert (tmp_path / "asked").read_text() == "x\n"


@pytest.mark.parametrize("lines", ["echo 'no such thing' >&2; exit 3", "echo hello"])
def test_what_does_not_answer_is_refused_with_the_remedy(lines: str, tmp_path: Path) -> None:
    """With what it said."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{lines}\n")
    python.chmod(0o755)
    with pytest.raises(SandboxError, match=r"does not say which files it needs .*Try: try it by hand"):
        paths_of(str(python), PATH)


def test_a_box_that_cannot_cover_is_given_pieces(tmp_path: Path) -> None:
    """The folders around what is hidden may be listed; links are left out."""
    for name in ("lib/site/evolve/tasks", "lib/site/numpy", "lib/other", "bin"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib" / "link").symlink_to("site")
    found = Visible((str(tmp_path / "bin"), str(tmp_path / "lib")), ()).hiding(str(tmp_path / "lib/link/evolve"))
    whole, listed = found.pieces()
    assert whole == tuple(str(tmp_path / name) for name in ("bin", "lib/other", "lib/site/numpy"))
    assert listed == tuple(str(tmp_path / name) for name in ("lib", "lib/site"))


def test_hiding_all_leaves_nothing() -> None:
    """Also where what is hidden is around what is visible."""
    assert Visible(("/usr/lib",), ()).hiding("/usr").pieces() == ((), ())


def test_folders_to_read_come_with_the_links_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a program finds them by the path that its task names; a home is left out, and so is what is not there."""
    (tmp_path / "sets" / "one").mkdir(parents=True)
    (tmp_path / "data").symlink_to("sets")
    monkeypatch.setenv("HOME", str(tmp_path))
    found = with_links([str(tmp_path / "data" / "one"), str(tmp_path), str(tmp_path / "gone")])
    assert found == (str(tmp_path / "data"), str(tmp_path / "sets" / "one"))


def answered(monkeypatch: pytest.MonkeyPatch, prefix: Path, base: Path, *folders: Path) -> Visible:
    """What is found for an interpreter that says this of itself."""
    answer = {
        "programs": [str(prefix / "bin" / "python")],
        "prefixes": [str(prefix), str(base)],
        "folders": [str(folder) for folder in folders],
        "editable": [],
        "engine": [],
        "plugins": [],
        "libraries": [],
    }
    monkeypatch.setattr(visible, "_ask", lambda *_: answer)
    return paths_of(str(prefix / "bin" / "python"), PATH)


def made(folder: Path, *names: str) -> Path:
    """A folder with these folders."""
    for name in names:
        (folder / name).mkdir(parents=True)
    return folder


def test_an_environment_of_conda_comes_with_its_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And without what else lies in it."""
    parts = ("bin", "lib/python3.12/site-packages", "include", "libexec", "x86_64-conda-linux-gnu/sysroot")
    prefix = made(tmp_path / "conda" / "envs" / "one", *parts, "conda-meta", "work")
    found = answered(monkeypatch, prefix, prefix, prefix / "lib/python3.12", prefix / "lib/python3.12/site-packages")
    ours = {place for place in found.visible if place.startswith(str(tmp_path))}
    assert ours == {str(prefix / part.split("/")[0]) for part in parts}


def test_an_interpreter_behind_a_link_of_its_version_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As uv keeps them: the folder of a minor version is a link to that of a patch."""
    store = tmp_path / "uv" / "python"
    made(store / "cpython-3.12.5", "bin", "lib/python3.12")
    (store / "cpython-3.12").symlink_to("cpython-3.12.5")
    prefix = made(tmp_path / "project" / ".venv", "bin", "lib/python3.12/site-packages")
    (prefix / "bin" / "python").symlink_to(store / "cpython-3.12" / "bin" / "python3")
    (store / "cpython-3.12.5" / "bin" / "python3").touch()
    found = answered(monkeypatch, prefix, store / "cpython-3.12", store / "cpython-3.12" / "lib" / "python3.12")
    ours = {place for place in found.visible if place.startswith(str(tmp_path))}
    assert ours == {
        str(prefix / "bin"),
        str(prefix / "lib"),
        str(store / "cpython-3.12"),
        str(store / "cpython-3.12.5" / "bin"),
        str(store / "cpython-3.12.5" / "lib"),
    }


def test_links_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    """They are no reason to hang."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    found = paths_of(sys.executable, PATH | {"LD_LIBRARY_PATH": str(tmp_path / "a")})
    assert found == paths_of(sys.executable, PATH)


def test_the_systems_own_folders_are_visible_as_links_or_folders() -> None:
    """As this system has them."""
    found = set(paths_of(sys.executable, PATH).visible)
    assert {place for place in SYSTEM if Path(place).exists()} <= found


def test_of_a_closed_folder_the_interpreters_own_parts_are_visible(tmp_path: Path) -> None:
    """However deep they lie in it; modules, tools and libraries that lie there are not, nor may they be listed."""
    task = tmp_path / "task"
    venv.create(task / "environments" / "one", symlinks=True, with_pip=False)
    made(task, "helper", "bin", "lib", "environments/two/lib", "environments/one/src")
    for name in ("helper/__init__.py", "evaluator.py", "environments/notes.py"):
        (task / name).write_text("")
    (task / "linked").symlink_to("/usr")
    own = task / "environments" / "one"
    (site(own) / "project.pth").write_text(f"{task}\n{task / 'environments'}\n")
    variables = {"PATH": f"/usr/bin:{task / 'bin'}", "LD_LIBRARY_PATH": str(task)}
    found = paths_of(str(own / "bin" / "python"), variables).closing(str(task))
    inside = {str(Path(place).relative_to(task)) for place in found.visible if Path(place).is_relative_to(task)}
    assert inside - {"environments/one/lib64"} == {
        f"environments/one/{name}" for name in ("bin", "include", "lib", "pyvenv.cfg")
    }
    closed = {str(Path(place).relative_to(task)) for place in found.hidden if Path(place).is_relative_to(task)}
    assert closed == {
        "helper",
        "bin",
        "lib",
        "evaluator.py",
        "environments/two",
        "environments/notes.py",
        "environments/one/src",
    }
    assert found.listed == ()


def test_a_closed_folder_without_an_interpreter_is_hidden_as_one(environment: Path, tmp_path: Path) -> None:
    """Also one that is not there yet."""
    (site(environment) / "project.pth").write_text(f"{made(tmp_path / 'task', 'package')}\n")
    (tmp_path / "task" / "package" / "__init__.py").write_text("")
    found = paths_of(str(environment / "bin" / "python"), PATH)
    assert str(tmp_path / "task" / "package") in found.visible
    closed = found.closing(str(tmp_path / "task")).closing(str(tmp_path / "later"))
    assert {str(tmp_path / "task"), str(tmp_path / "later")} <= set(closed.hidden)
    assert [place for place in closed.visible if "task" in Path(place).parts] == []


def test_an_environment_behind_a_link_in_a_closed_folder_is_visible(environment: Path, tmp_path: Path) -> None:
    """What other links there lead to is not hidden for it."""
    task = made(tmp_path / "task", "cases")
    (task / ".venv").symlink_to(environment)
    found = paths_of(str(task / ".venv" / "bin" / "python"), PATH).closing(str(task))
    assert {str(task / ".venv"), str(environment / "lib")} <= set(found.visible)
    assert not any(is_below(environment, {Path(place)}) for place in found.hidden)
    assert str(task / "cases") in found.hidden
