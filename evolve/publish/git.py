"""A person's own git repository, as it is committed: read, and never written.

Invariant: nothing in the repository changes, neither files nor index nor objects: what is made anew goes to a folder of its own, which is gone afterwards."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from evolve.types import ConfigError

_OURS = (
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.quotePath=true",
    "--no-optional-locks",
)
_LINK = "120000"
_EXACTLY = (
    "--text",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--diff-algorithm=myers",
)


@dataclass(frozen=True, slots=True)
class Committed:
    """A file of the commit that is checked out: `mode` as git writes it."""

    mode: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree: `top` is its folder. `more` are variables for git."""

    top: Path
    more: Mapping[str, str]

    def path(self, file: Path) -> str | None:
        """A file's path from the top; None where it is elsewhere."""
        try:
            return file.resolve().relative_to(self.top).as_posix()
        except ValueError:
            return None

    def committed(self, path: str) -> Committed | None:
        """A file of `HEAD`; None where that has none. Raises `ConfigError` for a link."""
        found = self.git("ls-tree", "-z", "HEAD", "--", f":(literal,top){path}").decode("utf-8", "surrogateescape")
        for entry in filter(None, found.split("\0")):
            head, _, name = entry.partition("\t")
            mode, kind, name_of_data = head.split(" ")
            if name == path and kind == "blob":
                if mode == _LINK:
                    raise ConfigError(
                        f"{path} is a link in {self.top}, and a patch changes files. Do: name the folder of what it leads to"
                    )
                return Committed(mode, self.git("cat-file", "blob", name_of_data))
        return None

    def is_dirty(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Those of the paths whose files are not as they are committed."""
        literal = [f":(literal,top){path}" for path in paths]
        found = self.git(
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=no",
            "--no-renames",
            "--ignore-submodules=all",
            "--",
            *literal,
        )
        return tuple(entry[3:].decode("utf-8", "replace") for entry in found.split(b"\0") if len(entry) > 3)

    def difference(self, files: Mapping[str, Committed]) -> tuple[str, bytes]:
        """How many lines change where, and the diff from `HEAD` to a commit that has these files."""
        with self._scratch() as scratch:
            scratch.git("read-tree", "HEAD")
            for path, file in files.items():
                name = scratch.git("hash-object", "-w", "--stdin", given=file.data).decode().strip()
                scratch.git("update-index", "--add", "-z", "--index-info", given=_entry(file, name, path))
            tree = scratch.git("write-tree").decode().strip()
            stat = scratch.git("diff-tree", "-r", "--stat=78", *_EXACTLY, "HEAD", tree)
            diff = scratch.git("diff-tree", "-r", "-p", "--full-index", "--unified=3", *_EXACTLY, "HEAD", tree)
        return stat.decode("utf-8", "replace"), diff

    def identity(self) -> str:
        """Who commits here, as `Name <address>`."""
        name, mail = (self.setting(f"user.{key}") for key in ("name", "email"))
        return f"{name} <{mail}>" if name and mail else "evolve <evolve@localhost>"

    def setting(self, key: str) -> str:
        """A setting of git; empty where there is none."""
        found = self.git("config", "--default", "", "--get", key).decode("utf-8", "replace")
        return " ".join(found.replace("<", "").replace(">", "").split())

    def git(self, *words: str, given: bytes = b"") -> bytes:
        """What git prints; raises `ConfigError` with what it complains of."""
        return _git(self.top, words, self.more, given)

    @contextmanager
    def _scratch(self) -> Iterator["Repository"]:
        """The same repository with an index and a store of its own, which may read that of the repository."""
        objects = (self.top / self.git("rev-parse", "--git-path", "objects").decode().rstrip("\n")).resolve()
        with TemporaryDirectory(prefix="evolve-patch-") as folder:
            (Path(folder) / "objects").mkdir()
            yield replace(
                self,
                more={
                    "GIT_INDEX_FILE": f"{folder}/index",
                    "GIT_OBJECT_DIRECTORY": f"{folder}/objects",
                    "GIT_ALTERNATE_OBJECT_DIRECTORIES": _alternate(objects),
                },
            )


def _entry(file: Committed, name: str, path: str) -> bytes:
    return f"{file.mode} {name}\t{path}\0".encode("utf-8", "surrogateescape")


def repository(place: Path) -> Repository:
    """The repository that a folder or a file lies in; raises `ConfigError` where there is none, or nothing is committed."""
    folder = place if place.is_dir() else place.parent
    if not place.exists():
        raise ConfigError(f"there is no {str(place)!r}. Do: name a folder of your git repository")
    try:
        top = _git(folder, ("rev-parse", "--show-toplevel"), {}).decode("utf-8", "surrogateescape").rstrip("\n")
    except ConfigError as error:
        raise ConfigError(
            f"{place} is in no git repository with files: {error}. Do: name a folder of yours, or git init one"
        ) from error
    found = Repository(Path(top).resolve(), {})
    try:
        found.git("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except ConfigError as error:
        raise ConfigError(
            f"nothing is committed in {top}, and a patch is against a commit. Do: git commit the program's files"
        ) from error
    return found


def _alternate(objects: Path) -> str:
    """A path in a list that colons separate."""
    return '"' + str(objects).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _git(folder: Path, words: Sequence[str], more: Mapping[str, str], given: bytes = b"") -> bytes:
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key.startswith("GIT_CONFIG")
    }
    environment = {**inherited, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **more}
    try:
        run = subprocess.run(
            ("git", *_OURS, *words),
            cwd=folder,
            env=environment,
            input=given,
            capture_output=True,
            timeout=120,
            check=False,
        )
    except FileNotFoundError as error:
        raise ConfigError("git is not installed, and a patch is made with it. Do: install git") from error
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f"git {words[0]} did not end within 120 s in {folder}. Do: try it by hand") from error
    if run.returncode:
        said = " ".join(run.stderr.decode("utf-8", "replace").split()) or f"exit status {run.returncode}"
        raise ConfigError(f"git {words[0]}: {said}")
    return run.stdout
