"""Life of a candidate's process: it imports the program from memory, calls its functions, runs commands, answers.

Standard library and siblings only, for it lives in the template. Nothing here is trusted once the candidate's first line has run: its answers are
claims, which the worker parses strictly, and its only protections are the worker's clock and the kernel. Nothing of a program runs before its first call
was asked for.

The standard streams of a command are files without a name, so that nobody has to read while it runs and no process that it leaves behind can hold up
the end; however much it prints, a bounded part is held here, and the kernel's limit on one file bounds the rest."""

import ctypes
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import math
import mmap
import os
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType, ModuleType, TracebackType
from typing import Any

from evolve.sandbox.inner.folder import Missing, ProgramFolder, read_files
from evolve.sandbox.status import Status
from evolve.sandbox.wire import (
    INLINE,
    REQUEST,
    TICKET,
    Piece,
    ReceivedRequest,
    WireError,
    decode,
    encode,
    pack_program,
    pieces,
    receive,
    reply,
    unpack_program,
)

_STREAM = ".evolve-stream"
_MARKED = ".evolve-marked"
_LOOP = "evolve_loop"
Awaited = Callable[[int, int], None]
"""What is to be done with the descriptors of requests and replies before the next request is read."""
_TRACE_SHOWN = 8000
_NAMES_SHOWN = 20
_NOT_THEIRS = (str(Path(__file__).parent), "<frozen importlib", str(Path(importlib.__file__).parent))
_NOWHERE = "no_module_has_this_name"
"""Looked for in every folder on the path."""
_REHEARSALS = 20
"""Enough for the interpreter to have specialised the code that every session runs."""


def run_command(argv: Sequence[str], text: str, most: int, log: int) -> list[Any]:
    """`[exit code, output, errors, bytes of output, processor seconds]` of a command that has ended: the first `most` bytes of its
    output, the last `log` bytes of its errors. A negative code is the signal that ended it."""
    streams = [_open_unnamed_file() for _ in range(3)]
    try:
        os.write(streams[0], text.encode())
        os.lseek(streams[0], 0, os.SEEK_SET)
        code, seconds = _await_end(_start(argv, streams))
        size = os.fstat(streams[2]).st_size
        output, errors = os.pread(streams[1], most, 0), os.pread(streams[2], log, max(0, size - log))
        return [code, _text(output), _text(errors), os.fstat(streams[1]).st_size, seconds]
    finally:
        for number in streams:
            os.close(number)


def _open_unnamed_file() -> int:
    number = os.open(_STREAM, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    Path(_STREAM).unlink()
    return number


def _start(argv: Sequence[str], streams: Sequence[int]) -> int:
    try:
        return _spawn(argv, streams)
    except PermissionError as error:
        if not _mark_executable(argv[0]):
            raise _not_started(argv[0], error) from None
    except OSError as error:
        raise _not_started(argv[0], error) from None
    return _start(argv, streams)


def _spawn(argv: Sequence[str], streams: Sequence[int]) -> int:
    copies = [(os.POSIX_SPAWN_DUP2, here, there) for there, here in enumerate(streams)]
    # Python ignores these two for itself; a command is to be ended by them.
    ended_by = [signal.SIGPIPE, signal.SIGXFSZ]
    return os.posix_spawnp(argv[0], list(argv), os.environ, file_actions=copies, setsigdef=ended_by)


def _not_started(name: str, error: OSError) -> Missing:
    return Missing(f"the command {name!r} cannot be started: {error.strerror}")


def _mark_executable(name: str) -> bool:
    """Marks a file of the program's as executable where it is not; returns whether it did. Where the box makes no change of modes (see `seccomp.Filter`), a linker
    cannot mark what it wrote; but a file is made with the mark that it is to have."""
    path = Path(name)
    if "/" not in name or not path.is_file() or os.access(path, os.X_OK):
        return False
    marked = path.with_name(_MARKED)
    try:
        with open(os.open(marked, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "wb") as copy, path.open("rb") as file:
            shutil.copyfileobj(file, copy)
        marked.replace(path)
    except OSError:
        marked.unlink(missing_ok=True)
        return False
    return True


def _await_end(pid: int) -> tuple[int, float]:
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def _text(found: bytes) -> str:
    return found.decode("utf-8", "replace")


class Timing:
    """State of one timed session: the segments that are shared with it, in the order in which they came, and the function that it was told to call."""

    def __init__(self) -> None:
        self.awaits: Awaited | None = None
        self._segments: list[mmap.mmap] = []
        self._prepared: tuple[Callable[..., Any], dict[int, Any]] = (_nothing, {})

    def share(self, size: int, file: int) -> None:
        """One more segment."""
        self._segments.append(_map_memory(size, file))

    def prepare(self, function: Callable[..., Any], windows: Sequence[Any], by_signal: bool) -> None:
        """Prepares the next call. Windows are `[position, segment, offset, shape, type]`: arrays that take the places of arguments.
        `by_signal`: there are no others, and one byte says go."""
        arrays = {
            position: _array(self._segments[segment], offset, shape, dtype)
            for position, segment, offset, shape, dtype in windows
        }
        self._prepared = (function, arrays)
        self.awaits = self._call if by_signal else None

    def work(self, *arguments: Any) -> Any:
        """Returns what the prepared function returns, or has returned at a signal; raises what it raises."""
        (function, arrays), self._prepared = self._prepared, (_nothing, {})
        return function(*[arrays.get(place, argument) for place, argument in enumerate(arguments)])

    def _call(self, requests: int, replies: int) -> None:
        """Works between two bytes, between which nothing else happens."""
        function, arrays = self._prepared
        mark = os.read(requests, 1)
        value, error = None, None
        try:
            value = function(*arrays.values())
        except BaseException as raised:  # noqa: BLE001 a candidate may raise anything; `work` raises it again
            error = raised
        os.write(replies, mark)
        self._prepared = (partial(_outcome, value, error), {})

    def enter(self, library: str, size: int, file: int) -> None:
        """Has this process become the loop of a library of the working folder, over a segment, when it has said that it can."""
        loaded = ctypes.CDLL(os.path.join(".", library))
        if not hasattr(loaded, _LOOP):
            raise Missing(f"{library} has no function {_LOOP!r}: it was not built with the loop's source")
        loop = loaded[_LOOP]
        loop.argtypes, loop.restype = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p), ctypes.c_int
        self._segments.append(_map_memory(size, file))
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._segments[-1]))
        self.awaits = lambda requests, replies: os._exit(loop(requests, replies, address))


def _nothing() -> None:
    return None


def _outcome(value: Any, error: BaseException | None) -> Any:
    if error is not None:
        raise error
    return value


def _map_memory(size: int, file: int) -> mmap.mmap:
    try:
        return mmap.mmap(file, size)
    finally:
        os.close(file)


def _array(memory: mmap.mmap, offset: int, shape: Sequence[int], dtype: str) -> Any:
    try:
        numpy = importlib.import_module("numpy")
    except ModuleNotFoundError:
        raise Missing("an array in shared memory is an argument, and this Python has no numpy") from None
    return numpy.frombuffer(memory, dtype, math.prod(shape), offset).reshape(shape)


def perform(requests: int, replies: int) -> None:
    """The first request is the program, which `pack_program` makes, and is not answered; then each asks for something,
    until the end of the requests."""
    _forget_closed_folders()
    # The plain one: what it lacks is not needed.
    sock = socket.SocketType(socket.AF_UNIX, socket.SOCK_STREAM, 0, requests)
    try:
        first = receive(sock)
        if first is None:
            return
        entry, files, context = unpack_program(first.payload)
        first.close()
        program = LoadedProgram(files, entry, context)
        while (request := receive(sock)) is not None:
            reply(replies, request.ticket, answer(program, request))
            if program.timing.awaits is not None:
                awaited, program.timing.awaits = program.timing.awaits, None
                awaited(requests, replies)
    finally:
        sock.detach()


def answer(program: "LoadedProgram", request: ReceivedRequest) -> list[Piece]:
    """The pieces of the reply to `["call", function, arguments, keywords]`, `["map", function, calls]`, `["run", argv, input, most, log]`,
    `["keep", names, most, absent_ok]`, `["place", {name: bytes}]`, `["timed", function, windows, by_signal]`, `["answer", "", arguments, {}]`, `["share", size]` or
    `["native", library, size]`: `["ok", value]`, or another status with its message."""
    status = Status.NO_ENTRY
    try:
        kind, what, *told = decode(request.payload)
        request.close()
        if kind in _CHORES:
            told += [request.file] if request.file >= 0 else []
            return pieces([Status.OK, _CHORES[kind](program, what, *told)])
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
        message = format_error(error)
    # Only here, with the error gone and what its frames held, is there memory again for an answer.
    return pieces([status, message])


def rehearse() -> None:
    """Plays sessions in the template: what the interpreter makes when it is first needed is then made once, and shared by all forks."""
    program = pack_program("rehearsal", {"rehearsal.py": "def echo(value):\n    return value\n"}, {})
    call = encode(["call", "echo", [[0, 0.5, "", None]], {}])
    # Folders on the module path were listed where more could be seen than here.
    sys.path_importer_cache.clear()
    importlib.util.find_spec(_NOWHERE)
    for _ in range(_REHEARSALS):
        (worker, own), (heard, replies) = socket.socketpair(), os.pipe()
        for payload in (program, call):
            worker.sendall(REQUEST.pack(bytes(TICKET), len(payload), INLINE) + payload)
        worker.close()
        requests = own.detach()
        perform(requests, replies)
        for number in (requests, heard, replies):
            os.close(number)
        del sys.meta_path[0], sys.modules["rehearsal"]


def _forget_closed_folders() -> None:
    """Has the interpreter forget the names in folders on the module path that are closed to this process."""
    for place in [place for place, finder in sys.path_importer_cache.items() if finder is not None]:
        try:
            os.close(os.open(place, os.O_RDONLY))
        except OSError:
            del sys.path_importer_cache[place]


def _flush() -> None:
    """Flushes the output, so that it reaches the log before the answer reaches the worker, who then ends this process."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def format_error(error: BaseException) -> str:
    """The error as the program's author wants to see it: its traceback from their code on, a library's files named as one imports them; ours
    as one line. Where this machine keeps its libraries is nobody's business, least of all that of a model elsewhere."""
    if isinstance(error, WireError | Missing):
        return str(error)
    lines = traceback.format_exception(type(error), error, _skip_own_frames(error.__traceback__))
    text = "".join(lines).strip()
    for folder in sorted(filter(os.path.isabs, sys.path), key=len, reverse=True):
        text = text.replace(f'File "{folder}/', 'File "')
    return text[-_TRACE_SHOWN:].encode("utf-8", "backslashreplace").decode()


def _skip_own_frames(place: TracebackType | None) -> TracebackType | None:
    while place is not None and place.tb_frame.f_code.co_filename.startswith(_NOT_THEIRS):
        place = place.tb_next
    return place


class LoadedProgram(importlib.abc.ExecutionLoader, importlib.abc.MetaPathFinder):
    """The Python files of a program and its context as modules, from memory; its other files lie in the working folder once it is
    first called, and all of them when a command runs."""

    def __init__(self, files: Mapping[str, str], entry: str, context: Mapping[str, str] = MappingProxyType({})) -> None:
        self.entry = entry
        self.timing = Timing()
        self.modules: dict[str, str] = {}
        self._folder = ProgramFolder(files, context)
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
        raise Missing(f"{self.entry}.py has no function {name!r}; it has {_format_names(known)}")

    def run(self, argv: Sequence[str], text: str, most: int, log: int) -> list[Any]:
        """Runs a command in the folder with all files, see `run_command`."""
        self._folder.write(modules=True)
        return run_command(argv, text, most, log)

    def keep(self, names: Sequence[str], most: int, absent_ok: bool = False) -> dict[str, bytes]:
        """Returns the content of files of the folder, `most` bytes together; raises `Missing`."""
        return read_files(names, most, absent_ok=absent_ok)

    def place(self, files: Mapping[str, bytes]) -> None:
        """More files, before any other request: they go before the program's own and the context's."""
        self._folder.place(files)
        self._know(files)

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
        return self._execute()

    def _execute(self) -> ModuleType:
        """The entry module; by hand, since the import system's own way touches twice as much memory in a fresh fork."""
        path, package = self.modules[self.entry], self.is_package(self.entry)
        spec = importlib.machinery.ModuleSpec(self.entry, self, origin=path, is_package=package)
        module = ModuleType(self.entry)
        vars(module).update(__file__=path, __loader__=self, __spec__=spec, __package__=spec.parent)
        if package:
            module.__path__ = []
        sys.modules[self.entry] = module
        exec(compile(self.get_source(self.entry), path, "exec", dont_inherit=True), vars(module))
        return module

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
        """Returns whether the module is a folder."""
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


def _format_names(names: Collection[str]) -> str:
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
    program.timing.prepare(program.function(name), windows, by_signal)


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
