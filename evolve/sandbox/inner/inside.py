"""What runs in a candidate's process: imports the program from memory, calls its functions, runs commands, answers.

Standard library and siblings only, for it lives in the template. Nothing here is trusted once the candidate's first line has run:
its answers are claims, which the judge parses strictly, and its only protections are the judge's clock and the kernel.

Invariant: nothing of a program runs before its first call was asked for."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import marshal
import os
import socket
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import CodeType, MappingProxyType, ModuleType, TracebackType
from typing import Any

from evolve.sandbox.frames import TICKET, Request, packed, receive, reply, unpacked
from evolve.sandbox.inner import command
from evolve.sandbox.inner.folder import Folder, Missing, kept
from evolve.sandbox.inner.timed import Timing
from evolve.sandbox.outbox import Outbox
from evolve.sandbox.status import Status
from evolve.sandbox.wire import Piece, WireError, decode, encode, pieces

_TRACE_SHOWN = 8000
_NAMES_SHOWN = 20
_NOT_THEIRS = (str(Path(__file__).parent), "<frozen importlib", str(Path(importlib.__file__).parent))
_NOWHERE = "no_module_has_this_name"
"""Looked for in every folder on the path."""
_REHEARSALS = 20
"""Enough for the interpreter to have specialised the code that every session runs."""


def perform(requests: int, replies: int) -> None:
    """The first request is the program, which `frames.packed` makes, and is not answered; then each asks for something,
    until the end of the requests."""
    _forget_closed_folders()
    # The plain one: what it lacks is not needed.
    sock = socket.SocketType(socket.AF_UNIX, socket.SOCK_STREAM, 0, requests)
    try:
        first = receive(sock)
        if first is None:
            return
        entry, files, context, compiled = unpacked(first.payload)
        first.close()
        program = LoadedProgram(files, entry, context, compiled)
        while (request := receive(sock)) is not None:
            reply(replies, request.ticket, answer(program, request))
            if program.timing.awaits is not None:
                awaited, program.timing.awaits = program.timing.awaits, None
                awaited(requests, replies)
    finally:
        sock.detach()


def answer(program: "LoadedProgram", request: Request) -> list[Piece]:
    """The pieces of the reply to `["call", function, arguments, keywords]`, `["map", function, calls]`, `["run", argv, input, most, log]`,
    `["keep", names, most, absent_ok]`, `["place", {name: bytes}]`, `["timed", function, windows, by_signal]`, `["answer", "", arguments, {}]`, `["share", size]` or
    `["native", library, size]`: `["ok", value]`, or another status with its message."""
    status = Status.NO_ENTRY
    try:
        kind, what, *told = decode(request.payload, binary=True)
        request.close()
        if kind in _CHORES:
            told += [request.file] if request.file >= 0 else []
            return pieces([Status.OK, _CHORES[kind](program, what, *told)], binary=True)
        function = program.timing.work if kind == "answer" else program.function(what)
        status = Status.ERROR
        value = [function(*each) for each in told[0]] if kind == "map" else function(*told[0], **told[1])
        _flush()
        status = Status.BAD_JSON
        return pieces([Status.OK.value, value])
    except MemoryError:
        status, message = Status.MEMORY_LIMIT, "the program asked for more memory than it may have"
    except SystemExit as leaving:
        status, message = (
            Status.NO_RESULT,
            f"the program left with sys.exit({leaving.code!r:.200}) instead of answering",
        )
    except BaseException as error:  # noqa: BLE001 a candidate may raise anything; it becomes its status
        message = explained(error)
    # Only here, with the error gone and what its frames held, is there memory again for an answer.
    return pieces([status, message])


def rehearse() -> None:
    """Plays sessions in the template: what the interpreter makes when it is first needed is then made once, and shared by all forks."""
    program = packed("rehearsal", {"rehearsal.py": "def echo(value):\n    return value\n"}, {})
    call = encode(["call", "echo", [[0, 0.5, "", None]], {}])
    # Folders on the module path were listed where more could be seen than here.
    sys.path_importer_cache.clear()
    importlib.util.find_spec(_NOWHERE)
    for _ in range(_REHEARSALS):
        outbox, (heard, replies) = Outbox(), os.pipe()
        for payload in (program, call):
            outbox.add(bytes(TICKET), [payload])
        outbox.write()
        outbox.close()
        perform(outbox.theirs, replies)
        for number in (outbox.theirs, heard, replies):
            os.close(number)
        del sys.meta_path[0], sys.modules["rehearsal"]


def _forget_closed_folders() -> None:
    """What the interpreter remembers of folders on the module path that are closed to this process: the names of all that is in them."""
    for place in [place for place, finder in sys.path_importer_cache.items() if finder is not None]:
        try:
            os.close(os.open(place, os.O_RDONLY))
        except OSError:
            del sys.path_importer_cache[place]


def _flush() -> None:
    """What was printed reaches the log before the answer reaches the judge, who then ends this process."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def explained(error: BaseException) -> str:
    """The error as the program's author wants to see it: its traceback from their code on, a library's files named as one imports them; ours
    as one line. Where this machine keeps its libraries is nobody's business, least of all that of a model elsewhere."""
    if isinstance(error, WireError | Missing):
        return str(error)
    lines = traceback.format_exception(type(error), error, _theirs(error.__traceback__))
    text = "".join(lines).strip()
    for folder in sorted(filter(os.path.isabs, sys.path), key=len, reverse=True):
        text = text.replace(f'File "{folder}/', 'File "')
    return text[-_TRACE_SHOWN:].encode("utf-8", "backslashreplace").decode()


def _theirs(place: TracebackType | None) -> TracebackType | None:
    while place is not None and place.tb_frame.f_code.co_filename.startswith(_NOT_THEIRS):
        place = place.tb_next
    return place


class LoadedProgram(importlib.abc.ExecutionLoader, importlib.abc.MetaPathFinder):
    """The Python files of a program and its context as modules, from memory; its other files lie in the working folder once it is
    first called, and all of them when a command runs."""

    def __init__(
        self,
        files: Mapping[str, str],
        entry: str,
        context: Mapping[str, str] = MappingProxyType({}),
        compiled: Sequence[bytes] = (),
    ) -> None:
        self.entry = entry
        self._compiled = compiled
        self.timing = Timing()
        self.modules: dict[str, str] = {}
        self._folder = Folder(files, context)
        self._entered: ModuleType | None = None
        self._know(self._folder.files)

    def function(self, name: str) -> Callable[..., Any]:
        """A function of the entry module; raises what the import raises, and `Missing`."""
        if self._entered is None:
            self._entered = self._import()
        function = vars(self._entered).get(name)
        if callable(function):
            return function  # type: ignore[no-any-return]
        known = sorted(key for key, value in vars(self._entered).items() if callable(value) and not key.startswith("_"))
        raise Missing(f"{self.entry}.py has no function {name!r}; it has {_listed(known)}")

    def run(self, argv: Sequence[str], text: str, most: int, log: int) -> list[Any]:
        """What `command.run` gives, in the folder with all files."""
        self._folder.write(modules=True)
        return command.run(argv, text, most, log)

    def keep(self, names: Sequence[str], most: int, absent_ok: bool = False) -> dict[str, bytes]:
        """What these files of the folder hold, `most` bytes together; raises `Missing`."""
        return kept(names, most, absent_ok=absent_ok)

    def place(self, files: Mapping[str, bytes]) -> None:
        """More files, before any other request: they go before the program's own and the context's."""
        self._folder.place(files)
        self._know(files)
        self._compiled = ()  # one of them may be the entry's

    def _import(self) -> ModuleType:
        if self.entry not in self.modules:
            raise Missing(
                f"the program has no module {self.entry!r}; its files are {', '.join(self._folder.files) or 'none'}"
            )
        for name in self.modules:
            sys.modules.pop(name, None)  # a file of the program goes before what the template happens to have loaded
        self._folder.write(modules=False)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        parent = self.entry.rpartition(".")[0]
        if parent:
            importlib.import_module(parent)
        return self._executed()

    def _executed(self) -> ModuleType:
        """The entry module; by hand, since the import system's own way touches twice as much memory in a fresh fork."""
        path, package = self.modules[self.entry], self.is_package(self.entry)
        spec = importlib.machinery.ModuleSpec(self.entry, self, origin=path, is_package=package)
        module = ModuleType(self.entry)
        vars(module).update(__file__=path, __loader__=self, __spec__=spec, __package__=spec.parent)
        if package:
            module.__path__ = []
        sys.modules[self.entry] = module
        for code in self._code(path):
            exec(code, vars(module))
        return module

    def _code(self, path: str) -> Iterable[CodeType]:
        if not self._compiled:
            return [compile(self.get_source(self.entry), path, "exec", dont_inherit=True)]
        return map(marshal.loads, self._compiled)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Import's question to every finder."""
        if fullname not in self.modules:
            return None
        spec = importlib.util.spec_from_loader(fullname, self, origin=self.modules[fullname])
        assert spec is not None
        spec.has_location = True  # tracebacks and `__file__` name the file
        return spec

    def is_package(self, fullname: str) -> bool:
        """Whether the module is a folder."""
        return self.modules[fullname].endswith("__init__.py")

    def get_filename(self, fullname: str) -> str:
        """The file's path in the program."""
        return self.modules[fullname]

    def get_source(self, fullname: str) -> str:
        """The file's text, also for tracebacks; a folder without `__init__.py` is an empty one."""
        return self._folder.text(self.modules[fullname])

    def _know(self, paths: Iterable[str]) -> None:
        """Files by the names of their modules; a folder is one, too."""
        for path in paths:
            if path.endswith(".py"):
                self.modules[_module_name(path)] = path
        for name in list(self.modules):
            for parent in _parents(name):
                self.modules.setdefault(parent, parent.replace(".", "/") + "/__init__.py")


def _listed(names: Collection[str]) -> str:
    """So many names that they help."""
    first = ", ".join(list(names)[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{first} and {more} more" if more > 0 else first or "none"


def _module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _prepare(program: LoadedProgram, name: str, windows: Sequence[Any], by_signal: bool) -> None:
    """A timed call, of nothing where it has no name."""
    program.timing.prepare(program.function(name) if name else None, windows, by_signal)


def _share(program: LoadedProgram, size: int, file: int) -> None:
    program.timing.share(size, file)


def _native(program: LoadedProgram, library: str, size: int, file: int) -> None:
    program._folder.write(modules=True)
    program.timing.enter(library, size, file)


_CHORES: Mapping[str, Callable[..., Any]] = {
    "run": LoadedProgram.run,
    "keep": LoadedProgram.keep,
    "place": LoadedProgram.place,
    "timed": _prepare,
    "share": _share,
    "native": _native,
}
"""What needs no answer of the program's; of its Python nothing runs, but for its import where a call of it is prepared."""
