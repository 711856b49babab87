"""The system's compiler and the evaluator's own flags.

A program decides no flag; what the evaluator compiles for itself is compiled with the same compiler."""

import functools
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from evolve.types import TaskError

COMMANDS = {"c": "cc", "c++": "c++"}
LISTER = "objdump"
"""The command that lists the instructions of an object."""
SUFFIXES = {"c": (".c",), "c++": (".cc", ".cpp", ".cxx")}
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
