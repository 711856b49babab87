"""Files of the machine that an interpreter needs, and those among them that candidates may not see.

No home folder, and no folder that the whole system shares, is ever visible as a whole, whatever an environment names."""

import json
import os
import subprocess
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evolve.types import SandboxError

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Where a system keeps its programs and libraries: folders on some, links into /usr on others."""
_STORES = tuple(os.sep + place for place in ("nix/store", "gnu/store", "home/linuxbrew/.linuxbrew"))
"""Where some package managers keep what everybody may read, in folders that link to each other."""
_ENGINE = Path(__file__).resolve().parents[2]
_LOADING = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
_LOCALE = "/usr/lib/locale/C.utf8"
_PARTS = ("bin", "include", "lib", "lib32", "lib64", "libexec", "nvvm", "targets", "pyvenv.cfg", "*-linux-gnu*")
"""What an interpreter, its libraries and compilers need of the folder that they are installed in, and no more of it."""
_MODULES = (".py", ".pyc", ".so")
_SITES = ("lib*/python3*/site-packages", "lib*/python3*/dist-packages", "local/lib*/python3*/*-packages")
_SPARED = ("config-*", "dist-packages", "idlelib", "lib2to3", "site-packages", "test")
"""What a private box has not of the standard library's folder: it is large, and programs do without; packages are found one by one."""
_PATIENCE = 60.0
_SHOWN = 300
# Asked as a template is started: what a user's own variables and folders add is no part of it. Some of the standard library's modules
# are loaded for the libraries that they bring along.
_QUESTION = """
import importlib.metadata, importlib.util, json, os, sys, sysconfig
for name in ("bz2", "ctypes", "lzma", "sqlite3", "ssl", *sys.argv[1:]):
    try:
        __import__(name)
    except ImportError:
        pass
def places(module):
    name, *inner = module.split(".")
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    folders = list(found and found.submodule_search_locations or ())
    if not folders:
        return [found.origin] if found and found.origin and not inner else []
    paths = [os.path.join(folder, *inner) for folder in folders]
    return [place for path in paths for place in (path, path + ".py") if os.path.exists(place)]
points = [point for group in ("evolve", "evolve.commands") for point in importlib.metadata.entry_points(group=group)]
editable = [place for name, module in list(sys.modules.items()) if name.startswith("__editable__")
            for place in getattr(module, "MAPPING", {}).values()]
maps = open("/proc/self/maps").read() if os.path.exists("/proc/self/maps") else ""
lines = [line.split(None, 5) for line in maps.splitlines()]
print("\\n" + json.dumps({
    "programs": [sys.executable, getattr(sys, "_base_executable", None) or sys.executable],
    "prefixes": sorted({sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}),
    "folders": [path for path in sys.path if path],
    "stdlib": sorted({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}),
    "loaded": [file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))],
    "editable": editable,
    "engine": places("evolve"),
    "plugins": [place for point in points for place in places(point.value.partition(":")[0].strip())],
    "libraries": sorted({line[5] for line in lines if len(line) == 6 and ".so" in line[5]}),
}))
"""
_ROOT = Path("/")
_OF_HOMES = (_ROOT / "home", _ROOT / "Users")
_NAMES = ("dev", "etc", "media", "mnt", "opt", "proc", "root", "run", "srv", "sys", "tmp", "var", "Volumes")
_OF_VAR = (_ROOT / "var" / name for name in ("lib", "log", "tmp"))
_EVERYBODYS = frozenset({_ROOT, *_OF_HOMES, *(_ROOT / name for name in _NAMES), *_OF_VAR})


@dataclass(frozen=True, slots=True)
class Visible:
    """Absolute paths. `visible`: folders with all that is in them, files, and links. A link is there for itself alone: what it leads to has
    an entry of its own, or lies in one. No entry lies in another. `hidden`: what may not be seen, in one of them or not. `listed`: folders that
    modules are looked for in, of which nothing is visible but some entries. `own`: the parts of the system and of the interpreter, and the
    links to them."""

    visible: tuple[str, ...]
    hidden: tuple[str, ...]
    listed: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def hiding(self, *places: str) -> "Visible":
        """This with more that may not be seen."""
        more = (Path(os.path.realpath(place)) for place in places)
        return replace(self, hidden=_texts(outermost({*map(Path, self.hidden), *more})))

    def closing(self, folder: str) -> "Visible":
        """This without what lies in a folder, such as a task's own or where logs are kept, but for the interpreter's own parts in it:
        modules, tools and libraries that lie there are seen by nobody, whatever names them."""
        place = Path(os.path.realpath(folder))
        own = frozenset(path for path in map(Path, self.own) if place in path.parents)
        seen, listed = (
            {path for path in map(Path, paths) if not is_below(path, {place}) or is_below(path, own)}
            for paths in (self.visible, self.listed)
        )
        left = replace(self, visible=_texts(outermost(seen | own)), listed=_texts(listed))
        return left.hiding(*map(str, _around(place, own)))

    def pieces(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """For a box that can open but not cover: what is open with all that is in it, and the folders around what is hidden, which may be
        listed and no more. Links are left out."""
        whole, listed = set[Path](), set(map(Path, self.listed))
        hidden = frozenset(map(Path, self.hidden))
        around = frozenset(parent for place in hidden for parent in place.parents)
        open_places = deque(map(Path, self.visible))
        while open_places:
            place = open_places.popleft()
            if place.is_symlink() or place in hidden or any(parent in hidden for parent in place.parents):
                continue
            if place not in around:
                whole.add(place)
            elif place.is_dir():
                listed.add(place)
                open_places.extend(place.iterdir())
        return _texts(whole), _texts(listed)


def paths_of(python: str, environment: Mapping[str, str] = os.environ) -> Visible:
    """Returns the files that `python` needs, asked of it once in this process's life. Of the environment, PATH adds tools outside of the system's folders and
    of homes, LD_LIBRARY_PATH libraries. Raises `SandboxError`.

    Of a folder on the module path that lies outside of the interpreter's own, as editable packages do, modules and packages are visible, and
    not what lies beside them; what another hook than setuptools' finds is not. Libraries that nothing but an extension module's own search path names are not found."""
    return _paths_of(*_asking(python, environment))


def private_paths_of(python: str, preload: Sequence[str], environment: Mapping[str, str] = os.environ) -> Visible:
    """Returns the files that `python` needs for its standard library and the packages that importing `preload` imports, and nothing else: little enough to be
    copied for each slot. Raises `SandboxError`."""
    return _private_paths_of(*_asking(python, environment), tuple(preload))


def _asking(python: str, environment: Mapping[str, str]) -> tuple[str, str, str]:
    """The interpreter's path, and those of the variables that decide where it finds what."""
    place = Path.cwd() / python if os.sep in python else python
    return str(place), environment.get("PATH", ""), environment.get("LD_LIBRARY_PATH", "")


@cache
def _private_paths_of(python: str, programs: str, libraries: str, preload: tuple[str, ...]) -> Visible:
    found, answer = _paths_of(python, programs, libraries), _ask(python, programs, libraries, preload)
    stdlib = {Path(folder) for folder in answer["stdlib"]}
    modules = {path for folder in stdlib for path in folder.glob("*") if not any(map(path.match, _SPARED))}
    settings = {Path(prefix, "pyvenv.cfg") for prefix in answer["prefixes"]}
    loaders = {path for folder in ("/lib", "/lib64") for path in Path(folder).glob("ld-*.so*")}
    named = map(Path, (*answer["programs"], *_LOADING, _LOCALE))
    links, real = _resolve({*named, *loaders, *modules, *settings, *_find_imported(answer, stdlib)})
    links |= {place for place in map(Path, SYSTEM) if place.is_symlink()}
    seen = _texts(outermost(real) | {link for link in links if not is_below(link, real)})
    return replace(found, visible=seen, own=seen, listed=())


def _find_imported(answer: Mapping[str, list[str]], stdlib: set[Path]) -> Iterator[Path]:
    """The packages, or modules, that were imported from folders other than the standard library's, and the libraries that were loaded from
    elsewhere, each with the links beside it by which others name it."""
    folders = {Path(folder) for folder in answer["folders"]} - stdlib
    folders |= _real(map(str, folders))
    for path in map(Path, (*answer["loaded"], *answer["libraries"])):
        holder = max((each for each in path.parents if each in folders), key=lambda each: len(each.parts), default=None)
        if holder is not None:
            yield holder / path.relative_to(holder).parts[0]
        elif path.suffix != ".py" and not is_below(path, stdlib):
            yield from path.parent.glob(f"{path.name.partition('.so')[0]}.so*")


def with_links(places: Iterable[str]) -> tuple[str, ...]:
    """Folders that a task lets its programs read, by their real paths, with the links that lead to them; what is not there, and homes, are
    left out."""
    links, real = _resolve(map(Path, places))
    return _texts(outermost(real) | {link for link in links if not is_below(link, real)})


@cache
def _paths_of(python: str, programs: str, libraries: str) -> Visible:
    answer = _ask(python, programs, libraries)
    engines = {_ENGINE, *_real(answer["engine"])}
    prefixes = list(map(Path, answer["prefixes"]))
    parts = [part for prefix in prefixes for part in _parts(prefix)]
    loose = _loose(answer["folders"], parts, engines)
    loaded = {str(Path(path).parent) for path in answer["libraries"]}
    own = [*map(Path, (*SYSTEM, *_STORES, *_LOADING, *answer["programs"])), *parts]
    wanted = [
        *own,
        *map(Path, (*answer["editable"], *loaded, *_read_loader_folders())),
        *Path("/etc").glob("python3*"),
        *(module for folder in loose for module in _modules(folder)),
        *(part for folder in _folders(programs) for part in _tools(folder)),
        *_folders(libraries),
    ]
    links, real = _resolve(wanted)
    installed = {place for place in _find_installed(prefixes) if is_below(place, real)}
    hidden = {*engines, *_real(answer["plugins"]), *installed}
    hidden |= {place for engine in engines if is_below(engine.parent, real) for place in _beside(engine, real)}
    alone = {link for link in links if not is_below(link, real)}
    return Visible(
        visible=_texts(outermost(real) | alone),
        hidden=_texts(outermost(hidden)),
        listed=_texts(_real(map(str, loose))),
        own=_texts(set().union(*_resolve(own))),
    )


def _around(place: Path, own: frozenset[Path]) -> Iterator[Path]:
    """`place`, or where some of `own` lie in it, all else that it holds. A link there opens nothing, and what it leads to may be needed."""
    if not any(place in path.parents for path in own):
        yield place
        return
    for entry in place.iterdir():
        if entry not in own and not entry.is_symlink():
            yield from _around(entry, own)


def _ask(python: str, programs: str, libraries: str, preload: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """The interpreter's own answer, when it has imported `preload`."""
    environment = {name: value for name, value in (("PATH", programs), ("LD_LIBRARY_PATH", libraries)) if value}
    try:
        asked = subprocess.run(
            [python, "-I", "-c", _QUESTION, *preload],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            cwd=os.sep,
            timeout=_PATIENCE,
            check=True,
        )
        answer: dict[str, list[str]] = json.loads(asked.stdout.rstrip().rpartition(b"\n")[2])
    except subprocess.CalledProcessError as error:
        words = " ".join(error.stderr.decode("utf-8", "replace").split())[-_SHOWN:]
        raise _silent(python, f"exit code {error.returncode}: {words}") from error
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise _silent(python, str(error)[:_SHOWN]) from error
    return answer


def _silent(python: str, reason: str) -> SandboxError:
    return SandboxError(
        f"{python!r} does not say which files it needs ({reason}). Try: try it by hand, or name another Python"
    )


def _parts(prefix: Path) -> Iterator[Path]:
    for pattern in _PARTS:
        yield from prefix.glob(pattern)


def _tools(folder: Path) -> Iterator[Path]:
    """A folder of programs, and where one that is named `bin` is installed, the libraries beside it; nothing of a home."""
    if not is_below(Path(os.path.realpath(folder)), home_folders()):
        yield from _parts(folder.parent) if folder.name == "bin" else [folder]


def _folders(variable: str) -> list[Path]:
    """The absolute paths of a variable such as PATH."""
    return [Path(entry) for entry in variable.split(os.pathsep) if Path(entry).is_absolute()]


def _read_loader_folders(place: Path = Path("/etc")) -> Iterator[str]:
    """The folders of libraries that the machine's loader knows beside its own."""
    for path in (place / "ld.so.conf", *sorted(place.glob("ld.so.conf.d/*.conf"))):
        try:
            lines = path.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        yield from (line.strip() for line in lines if line.strip().startswith(os.sep))


def _resolve(wanted: Iterable[Path]) -> tuple[set[Path], set[Path]]:
    """The links on the way to what is wanted and is there, and what it really is."""
    links, real = set[Path](), set[Path]()
    for path in wanted:
        passed, place = _walk(path)
        # A path that leads to a home or to all of /tmp by way of links is not opened because somebody's environment names it.
        if place.exists() and (str(path) in SYSTEM or not is_shared(place)):
            links |= passed
            real.add(place)
    return links, real


def _walk(path: Path) -> tuple[set[Path], Path]:
    """The links on the way to `path`, each by the real path of its folder, and where the way ends. Links in a circle end it too."""
    passed, place, left = set[Path](), Path(path.anchor), deque(path.parts[1:])
    while left:
        part = left.popleft()
        step = place.parent if part == os.pardir else place / part
        if step.is_symlink() and step not in passed:
            passed.add(step)
            target = step.readlink()
            place = Path(target.anchor) if target.is_absolute() else place
            left.extendleft(reversed(target.parts[1:] if target.is_absolute() else target.parts))
        else:
            place = Path(os.path.realpath(step)) if step in passed else step
    return passed, place


def _loose(folders: Iterable[str], parts: Iterable[Path], engines: set[Path]) -> list[Path]:
    """The folders on the module path that are no part of the interpreter's own, nor the engine's, nor a home."""
    own = {*_real(map(str, parts)), *(engine.parent for engine in engines)}
    found = ((Path(folder), Path(os.path.realpath(folder))) for folder in folders)
    return [place for place, real in found if real.is_dir() and not is_shared(real) and not is_below(real, own)]


def _modules(folder: Path) -> Iterator[Path]:
    """Yields the modules and packages of a folder. A package without `__init__.py` is known where nothing but packages can be meant, in `src`."""
    for place in folder.iterdir():
        if place.is_dir():
            if (place / "__init__.py").is_file() or (folder.name == "src" and place.name.isidentifier()):
                yield place
        elif place.suffix in _MODULES:
            yield place


def _find_installed(prefixes: Iterable[Path]) -> Iterator[Path]:
    """The engine and its plugins where one is installed, also for another interpreter of the same folder."""
    for prefix in prefixes:
        for site in (found for pattern in _SITES for found in prefix.glob(pattern)):
            real = Path(os.path.realpath(site))
            yield from (*real.glob("evolve"), *real.glob("evolve_*"), *real.glob("evolve-*.dist-info"))


def _beside(engine: Path, real: set[Path]) -> Iterator[Path]:
    """Yields the neighbours of the package in a checkout, which has the tasks, but for what leads to something visible of its own."""
    if (engine.parent / "pyproject.toml").is_file():
        yield from (place for place in engine.parent.iterdir() if not _leads(place, real))


def _leads(place: Path, real: set[Path]) -> bool:
    return any(is_below(path, {place}) for path in real)


def _real(paths: Iterable[str]) -> set[Path]:
    return {Path(os.path.realpath(path)) for path in paths}


def _texts(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(sorted(map(str, paths)))


def home_folders() -> frozenset[Path]:
    """Returns the folders of homes, as far as they can be known: this user's own, root's, and the folders that hold the others'."""
    own = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 the path's own method raises where there is no home
    return frozenset({own, _ROOT / "root", *_OF_HOMES} - {_ROOT})


def is_shared(place: Path) -> bool:
    """Returns whether a real path is a home, holds one, or is a folder that the whole system shares."""
    if place in _EVERYBODYS or place.parent in _OF_HOMES:
        return True
    return any(is_below(home, {place}) for home in home_folders())


def is_below(place: Path, folders: Collection[Path]) -> bool:
    """Returns whether `place` is one of `folders`, or lies in one, by the names alone."""
    return place in folders or any(parent in folders for parent in place.parents)


def outermost(places: Collection[Path]) -> set[Path]:
    """`places` without those that lie in another of them."""
    return {place for place in places if not any(parent in places for parent in place.parents)}
