"""The back end of C and C++: objects that passed the gate, in native sessions of two processes that share one piece of memory.

The system's compiler is used with the evaluator's own flags; a program decides none. What is linked is the object that was looked through, the evaluator's glue and the engine's loop; both sides find the
same bytes at the same places of the same physical memory before each call.

Ceilings of the machine, the bytes that one core reads in a second and the operations that it computes, are measured by code of the evaluator's own. A kernel cannot be faster than both allow, so one that
seems to be was timed wrongly, or has not done its work. Source: the roofline model (Williams, Waterman and Patterson 2009, https://doi.org/10.1145/1498765.1498785)."""

import functools
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from evolve import NATIVE_BLOCK, Candidate, Segment, SessionFailed, Timed, native_source
from evolve.types import Task, TaskError
from evolve_kernel import gate
from evolve_kernel.backend import OUTSIDE, Built, Called, Layout, Question, RefusedProgram, Side, find_source
from evolve_kernel.problem import C_TYPES, Argument
from evolve_kernel.settings import KernelSettings

COMMANDS = {"c": "cc", "c++": "c++"}
LISTER = "objdump"
"""The command that lists the instructions of an object."""
STANDARDS = {"c": ["-std=c11"], "c++": ["-std=c++17", "-fno-exceptions", "-fno-rtti"]}
FLAGS = (
    "-O3",
    "-march=native",
    "-fPIC",
    "-fno-lto",
    # Only what changes no result that a program may rely on: errno is nobody's, and nobody looks at exceptions.
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fopenmp-simd",
    "-fno-common",
    "-fno-stack-protector",
    "-fcf-protection=none",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    "-U_FORTIFY_SOURCE",
)
"""Of a program's object."""
OWN = ("-std=gnu11", "-O2", "-fPIC", "-fno-lto", "-Wall", "-Werror", "-fvisibility=hidden")
"""Of the evaluator's own parts."""
LINK = (
    "-shared",
    "-fno-lto",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,noexecstack",
    "-Wl,-z,defs",
    # No code is filled in when the library is loaded.
    "-Wl,-z,text",
    "-Wl,-z,separate-code",
    "-Wl,-Bsymbolic",
)
_X86_ONLY = "-fcf-protection=none"


@dataclass(frozen=True, slots=True)
class Compiler:
    """`command` is on the path."""

    command: str
    language: str
    x86: bool

    def compile_command(self, source: str, flags: Sequence[str]) -> list[str]:
        """Returns the command that makes `stem.o` and `stem.s` of a source."""
        fixed = [flag for flag in FLAGS if self.x86 or flag != _X86_ONLY]
        made = f"{source.rpartition('.')[0]}.o"
        return [
            self.command,
            *STANDARDS[self.language],
            *fixed,
            *flags,
            "-save-temps=obj",
            "-c",
            "-o",
            made,
            source,
        ]

    def own_command(self, flags: Sequence[str] = ()) -> list[str]:
        """Returns the command that compiles the evaluator's own parts; their names follow."""
        return [COMMANDS["c"], *OWN, *flags]

    def link_command(self, library: str, objects: Sequence[str]) -> list[str]:
        """Returns the command that links objects."""
        return [self.command, *LINK, "-o", library, *objects, "-lm"]


@functools.cache
def compiler(language: str) -> Compiler:
    """Returns that of a language on this machine; raises `TaskError` where it has none."""
    for command in (COMMANDS["c"], COMMANDS[language]):
        if shutil.which(command) is None:
            raise TaskError(
                f"a kernel in {language.upper()} is compiled by {command!r}, and this machine has no such command. "
                "Try: install a C and C++ compiler, such as gcc and g++"
            )
    command = COMMANDS[language]
    if shutil.which(LISTER) is None:
        raise TaskError(
            f"what a compiler makes is listed by {LISTER!r}, and this machine has no such command. Try: install binutils"
        )
    machine = subprocess.run([command, "-dumpmachine"], capture_output=True, text=True, check=False, timeout=60).stdout
    return Compiler(command, language, machine.startswith("x86_64"))


_INSTRUCTION = re.compile(r"^\t([a-z][a-z0-9.]*)(?:\t(.*))?$", re.MULTILINE)
_WIDE = re.compile(r"%[xyz]mm|\bv\d+\.\d*[bhsdq]")
_SCALAR = re.compile(r"(?:ss|sd|sh)$|^v?(?:movd|movq|cvtt?s[sdi]2|comis|ucomis)")


def simd_share(assembler: str) -> float:
    """Returns the share of instructions of a compiler's assembler that work on several numbers at once."""
    instructions = [(name, operands) for name, operands in _INSTRUCTION.findall(assembler) if not name.startswith(".")]
    packed = sum(bool(_WIDE.search(operands)) and not _SCALAR.search(name) for name, operands in instructions)
    return packed / len(instructions) if instructions else 0.0


# --- programs in processes of their own

LIBRARY = "kernel.so"
LISTING = "listing.txt"
LISTED = ("sh", "-c", f"exec {LISTER} -d --no-show-raw-insn kernel.o > {LISTING}")
_GLUE, _LOOP = "evolve_glue", "evolve_loop"
_BUILD_FAILED = "build_failed"
_NOTHINGS = 9
"""Calls of nothing, whose median is subtracted."""
_MORE_THAN_WALL, _AT_ONCE = 1.25, 2e-3
"""A single thread's processor time is at most the wall time around it; clocks are read one after the other, so there is some room."""
_OUTSIDE = 0.25
"""What a process may do beside its calls, as a share of them; there is nothing for it to do."""
NOTHING, CALL, TOUCH = range(3)
"""What the first number of a call asks for: nothing, so that the cost of it can be measured; the program's function; a look at each page of so much memory, so that it is in the process's reach."""
_GLUE_SOURCE = Path(__file__).with_name("glue.c")


def format_call(function: str, arguments: Sequence[Argument]) -> str:
    """Returns the call of a kernel in C: made from the task alone, so that no other code of the evaluator's runs in a kernel's process while it is timed."""
    passed, pointers, numbers = [], 0, 1
    for one in arguments:
        if one.kind == "number":
            passed.append(f"numbers[{numbers}]")
            numbers += 1
        else:
            constant = "const " if one.kind == "in" else ""
            passed.append(f"({constant}{C_TYPES[one.dtype]} *)pointers[{pointers}]")
            pointers += 1
    return f"{function}({', '.join(passed)})"


class Native(Protocol):
    """Part of a native session that is used here."""

    def call(self, pointers: Sequence[int] = (), numbers: Sequence[int] = (), *, seconds: float | None = None) -> Timed:
        """Returns one timed call."""
        ...


class CompiledBackend:
    """Back end of one task. Raises `TaskError` where there is no compiler, or the task has no source or header."""

    shortest = 1e-4

    def __init__(self, task: Task, settings: KernelSettings, signature: tuple[Argument, ...]) -> None:
        self._settings = settings
        self._compiler = compiler(settings.language)
        self._source = find_source(task, settings.language)
        if settings.header not in task.context:
            raise TaskError(
                f"evaluator.header: {settings.header!r} is no file of program.context. Try: name it there, so that no program changes it"
            )
        self._call = format_call(settings.function, signature)
        self._own: Mapping[str, bytes] | None = None
        self._ceilings = Ceilings(self._compiler)

    def build(self, candidate: Candidate, calls: Sequence[tuple[Argument, ...]]) -> Built:
        """Compiles, checks and links a program; for any calls."""
        stem = self._source.rpartition(".")[0]
        made, assembler = f"{stem}.o", f"{stem}.s"
        kept = candidate.build(self._compiler.compile_command(self._source, self._settings.flags), [made, assembler])
        try:
            found = gate.check_object(
                kept[made],
                self._settings.function,
                self._settings.functions,
                mangled=self._settings.language == "c++",
            )
            if found.suspects:
                listed = candidate.build(list(LISTED), [LISTING], files={"kernel.o": kept[made]})[LISTING]
                gate.check_listing(listed.decode("utf-8", "replace"), kept[assembler].decode("utf-8", "replace"))
        except gate.Forbidden as forbidden:
            raise RefusedProgram(f"The compiled program cannot be timed: {forbidden}.") from None
        parts = {"kernel.o": kept[made], **self._own_parts(candidate)}
        linked = candidate.build(self._compiler.link_command(LIBRARY, list(parts)), [LIBRARY], files=parts)
        facts = {"log2_code": math.log2(found.size), "simd": simd_share(kept[assembler].decode("utf-8", "replace"))}
        return Built(candidate, linked[LIBRARY], facts)

    @contextmanager
    def open_side(self, program: Built, segment: Segment) -> Iterator[Side]:
        """Opens a native session in which the cost of a call of nothing was measured."""
        with program.candidate.session(files={LIBRARY: program.loaded}, timed=True) as session:
            native = session.native(LIBRARY, segment)
            native.call((NATIVE_BLOCK,), (TOUCH, segment.size - NATIVE_BLOCK))
            nothing = median(native.call((), (NOTHING,)).cpu for _ in range(_NOTHINGS))
            yield CompiledSide(native, segment, nothing, self._settings.seconds)

    def least_seconds(self, anchor: Candidate, moved: int, operations: int, *, again: bool = False) -> float:
        """Returns a bound by the fastest reading of so many bytes, and the fastest arithmetic, that the evaluator's own code reaches on this machine."""
        return self._ceilings.least_seconds(anchor, moved, operations, again=again)

    def _own_parts(self, candidate: Candidate) -> Mapping[str, bytes]:
        """Returns the evaluator's own objects, compiled once; the header that the glue includes is the task's, whatever the program brings."""
        if self._own is None:
            loop = self._compile_own(candidate, _LOOP, native_source().encode())
            glue = [f'-DHEADER="{self._settings.header}"', f"-DFUNCTION_CALL={self._call}"]
            try:
                self._own = {**self._compile_own(candidate, _GLUE, _GLUE_SOURCE.read_bytes(), glue), **loop}
            except SessionFailed as failure:
                if failure.status != _BUILD_FAILED:
                    raise
                raise TaskError(
                    f"{self._settings.header} does not declare {self._settings.function} with the parameters that arguments() gives. Try: correct one of both. {failure}"
                ) from failure
        return self._own

    def _compile_own(
        self, candidate: Candidate, name: str, source: bytes, flags: Sequence[str] = ()
    ) -> Mapping[str, bytes]:
        made = f"{name}.o"
        command = [*self._compiler.own_command(flags), "-c", "-o", made, f"{name}.c"]
        return candidate.build(command, [made], files={f"{name}.c": source})


@dataclass(frozen=True, slots=True)
class CompiledSide:
    """A native session as a side. `nothing` is the processor time of a call of nothing."""

    native: Native
    segment: Any
    nothing: float
    seconds: float

    def call(self, question: Question, poison: int) -> Called:
        """Returns one call; see `Side.call`."""
        layout = Layout.of(self.segment, question.arguments, question.draw)
        layout.seal()
        # Twice: whoever is called first, after the evaluator has computed something else, would find less of it in the caches than who follows.
        layout.prepare(question.inputs, poison)
        layout.prepare(question.inputs, poison)
        timed = self.native.call(layout.places, (CALL, *layout.numbers), seconds=self.seconds)
        tag = layout.violation(question.inputs) or ("" if layout.is_sealed else OUTSIDE) or _clocks(timed)
        return Called(layout.outputs(), timed.cpu - self.nothing, tag)


def _clocks(timed: Timed) -> str:
    """Returns what the clocks say against each other; empty where they agree. Wall time may be anything longer: the machine may do something else. Where that
    is a virtual one that stands still after a call is done, and before the program is stopped, the kernel counts it as the program's."""
    if timed.cpu > _MORE_THAN_WALL * timed.span + _AT_ONCE:
        return "more processor time than wall time"
    if timed.outside > _OUTSIDE * timed.cpu + _AT_ONCE:
        return "work outside of the timed call"
    return ""


# --- the fastest that this machine can be


CEILINGS = "ceilings.so"
_CEILING_SOURCE = Path(__file__).with_name("ceilings.c")
_CEILING_FLAGS = ("-O3", "-march=native", "-ffp-contract=fast")
_READING = 1
_ARITHMETIC = {2: 8, 3: 16}
"""Kinds of arithmetic, and how many numbers a register of it has."""
_CHAINS, _OPERATIONS = 10, 2
_SMALLEST, _LARGEST = 1 << 16, 1 << 26
_TRIES = 5
_LEAST = 2e-3
"""Seconds of processor time that a measurement takes at least."""
_RESULT, _DATA = NATIVE_BLOCK, NATIVE_BLOCK + 512


class Ceilings:
    """Ceilings of one machine; measured when first asked for."""

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._library = b""
        self._reading: dict[int, float] = {}
        self._arithmetic = 0.0

    def least_seconds(self, anchor: Candidate, moved: int, operations: int, *, again: bool = False) -> float:
        """Returns the longer of reading so many bytes from where memory of that size lies when it has just been used, and of so many operations in single precision. `anchor` is a program that the evaluator
        trusts, in whose place its own code runs. `again`: measured once more, for something may have slowed the first measurement down."""
        size = _measured_size(moved)
        if again or size not in self._reading or not self._arithmetic:
            self._measure(anchor, size)
        return max(moved / self._reading[size], operations / self._arithmetic)

    def _measure(self, anchor: Candidate, size: int) -> None:
        with (
            Segment(_DATA + size) as segment,
            anchor.session(files={CEILINGS: self._build(anchor)}, timed=True) as session,
        ):
            segment.view(_RESULT, (1,), "float32")[:] = 0.5
            segment.view(_DATA, (size,), "uint8")[:] = 1
            native = session.native(CEILINGS, segment)
            nothing = median(native.call((_RESULT, _DATA), (0, 0, size)).cpu for _ in range(_TRIES))

            def seconds(kind: int, times: int) -> float:
                return float(native.call((_RESULT, _DATA), (kind, times, size)).cpu - nothing)

            # The fastest of all measurements counts, for whatever else ran meanwhile only makes slower.
            reading = fastest_rate(functools.partial(seconds, _READING), size)
            self._reading[size] = max(self._reading.get(size, 0.0), reading)
            for kind, width in _ARITHMETIC.items():
                rate = fastest_rate(functools.partial(seconds, kind), _CHAINS * _OPERATIONS * width)
                self._arithmetic = max(self._arithmetic, rate)

    def _build(self, anchor: Candidate) -> bytes:
        if not self._library:
            files = {"ceilings.c": _CEILING_SOURCE.read_bytes(), "loop.c": native_source().encode()}
            command = [*self._compiler.own_command(_CEILING_FLAGS), *LINK, "-o", CEILINGS, *files]
            self._library = anchor.build(command, [CEILINGS], files=files)[CEILINGS]
        return self._library


def _measured_size(size: int) -> int:
    """Returns the power of two at which a size is measured: not larger than it, so that no slower memory is needed."""
    return min(max(_SMALLEST, 1 << (size.bit_length() - 1)), _LARGEST)


def fastest_rate(seconds: Callable[[int], float], amount: int) -> float:
    """Returns how much of `amount` each time is done in a second: the best of some tries that each take long enough."""
    times = 1
    while (taken := seconds(times)) < _LEAST:
        times *= 2 if taken <= 0 else min(16, max(2, int(1.5 * _LEAST / taken) + 1))
    return max(times * amount / max(seconds(times), 1e-9) for _ in range(_TRIES))
