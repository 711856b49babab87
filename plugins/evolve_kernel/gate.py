"""Gate for objects that are linked and timed: one function, constants, calls of a few functions of the library. Nothing else.

What has no memory of its own between calls cannot keep answers, what runs at no other time than its call cannot work ahead, and what reaches neither the system nor a clock cannot lie about its time.
What is not allowed here by name is refused; a refusal says what was found, in words for whoever wrote the program."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from evolve_kernel import elf
from evolve_kernel.elf import ElfSection, ObjectFile, Symbol

ALWAYS = frozenset({"memcpy", "memmove", "memset"})
"""Functions that a compiler calls of its own accord."""
CODE, CONSTANTS = ".text", ".rodata"
"""Sections with code and with constants are called so, or begin so with another dot behind."""
EMPTY = frozenset({".data", ".bss"})
"""Sections for variables: there, and empty."""
BESIDE = frozenset(
    {
        "",
        ".comment",
        ".note.GNU-stack",
        ".note.gnu.property",
        ".symtab",
        ".strtab",
        ".shstrtab",
        ".group",
        ".llvm_addrsig",
    }
)
"""Sections that say something about the object."""
_CALLS = {elf.X86_64: {4}, elf.AARCH64: {282, 283}}
"""Relocations of a call or a jump to a function (R_X86_64_PLT32; R_AARCH64_JUMP26, R_AARCH64_CALL26): its address is not to be had otherwise."""
_FORBIDDEN = {
    b"\x0f\x05": "syscall",
    b"\x0f\x34": "sysenter",
    b"\xcd\x80": "int",
    b"\x0f\x31": "rdtsc",
    b"\x0f\x33": "rdpmc",
    b"\x0f\x01\xf9": "rdtscp",
    b"\x0f\x01\xef": "wrpkru",
    b"\x0f\xc7\xf8": "rdpid",
}
"""Instructions of x86 by their bytes, which are looked for at every place: code can be jumped into."""
_MANGLED = "_Z"
_AT_LOADING = {14, 15, 16}
"""SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PREINIT_ARRAY."""
_NAMED_AT_LOADING = (".init", ".fini", ".preinit", ".ctors", ".dtors")


@dataclass(frozen=True, slots=True)
class Passed:
    """An object that has nothing in it that no kernel needs: `size` bytes of code and constants. `suspects` are forbidden instructions whose bytes are somewhere in its code, on a machine whose
    instructions have no fixed length: then its listing is looked at, too."""

    size: int
    suspects: tuple[str, ...]


class Forbidden(Exception):
    """An object with something in it that no kernel needs; the text names it."""


def check_object(
    content: bytes, function: str, allowed: Collection[str], *, mangled: bool = False, most: int = 1 << 20
) -> Passed:
    """Returns what is known of an object that may be linked: `function` is the one symbol that others see, and of others it needs `allowed` at most. `mangled`: C++ may leave copies of its
    templates and inline functions. Raises `Forbidden`."""
    try:
        read = elf.read(content)
    except elf.Malformed as error:
        raise Forbidden(f"what the compiler has left is no object file: {error}") from None
    if read.machine not in _CALLS:
        raise Forbidden("it is compiled for a machine that this evaluator does not know; x86-64 and AArch64 it does")
    for section in read.sections:
        _check_section(section)
    _check_symbols(read, function, mangled)
    _check_needs(read, ALWAYS | set(allowed))
    size = sum(section.size for section in read.sections if section.flags & elf.ALLOC)
    if size > most:
        raise Forbidden(f"its code and constants have {size} bytes, and {most} are allowed")
    code = [section.content for section in read.sections if section.flags & elf.EXECUTE]
    suspects = dict.fromkeys(
        name for content in (*code, *_joints(read.machine, code)) for name in _instructions(read.machine, content)
    )
    # Instructions of AArch64 have a fixed length, so that what was found is one; on x86 the bytes may be part of another.
    if suspects and read.machine != elf.X86_64:
        raise Forbidden(f"its code has {next(iter(suspects))}")
    return Passed(size, tuple(suspects))


def _joints(machine: int, code: Sequence[bytes]) -> Iterator[bytes]:
    """Yields bytes where one section of code may end and another begin when both are linked, in whatever order; instructions of AArch64 lie at multiples of their length."""
    if machine == elf.X86_64:
        yield from (one[-2:] + other[:2] for one in code for other in code if one is not other)


def _check_section(section: ElfSection) -> None:
    name, flags = section.name, section.flags
    if section.kind in _AT_LOADING or name.startswith(_NAMED_AT_LOADING):
        raise Forbidden(f"it has code that runs when it is loaded ({name})")
    if flags & elf.TLS:
        raise Forbidden(f"it has variables of its own for each thread ({name})")
    if name in EMPTY or flags & elf.WRITE:
        if section.size:
            raise Forbidden(
                f"it has variables that live longer than a call, or tables of addresses ({name}, {section.size} bytes)"
            )
        return
    if section.kind == elf.RELA:
        return
    if name in BESIDE:
        if flags & elf.EXECUTE or (flags & elf.ALLOC and name != ".note.gnu.property"):
            raise Forbidden(f"its section {name} is one that could be executed or loaded")
        return
    executable = bool(flags & elf.EXECUTE)
    if section.kind != elf.PROGBITS or not flags & elf.ALLOC or not _is_called(name, CODE if executable else CONSTANTS):
        raise Forbidden(f"it has a section {name!r:.60}, and neither code nor constants are called so")


def _is_called(name: str, wanted: str) -> bool:
    return name == wanted or name.startswith(wanted + ".")


def _check_symbols(read: ObjectFile, function: str, mangled: bool) -> None:
    defined = [one for one in read.symbols if one.section != elf.UNDEFINED and one.binding != elf.LOCAL]
    others = sorted({one.name for one in defined if one.binding == elf.GLOBAL})
    if others and function not in (one.name for one in defined):
        remedy = "give it the header's arguments" if others[0].startswith(_MANGLED) else f"name it {function!r}"
        raise Forbidden(
            f"it does not define the function {function!r}, but {', '.join(others)!r:.80}. Try: {remedy}, and make all others static"
        )
    for symbol in defined:
        if symbol.name != function and not (
            mangled and symbol.binding == elf.WEAK and symbol.name.startswith(_MANGLED)
        ):
            raise Forbidden(f"it has a second symbol that others see, {symbol.name!r:.80}. Try: make it static")
    for symbol in read.symbols:
        if symbol.section == elf.COMMON or symbol.kind > elf.FILE:
            raise Forbidden(f"its symbol {symbol.name!r:.80} is neither a function nor a constant")
    if not any(_is_the_function(read, symbol, function) for symbol in defined):
        raise Forbidden(f"it does not define the function {function!r}")


def _is_the_function(read: ObjectFile, symbol: Symbol, function: str) -> bool:
    right = (symbol.name, symbol.binding, symbol.kind) == (function, elf.GLOBAL, elf.FUNCTION)
    if not right or symbol.section >= len(read.sections):
        return False
    section = read.sections[symbol.section]
    return bool(section.flags & elf.EXECUTE) and symbol.value < section.size


def _check_needs(read: ObjectFile, allowed: Collection[str]) -> None:
    """Raises `Forbidden` where it needs more than named functions, or does more than call them."""
    for symbol in read.symbols[1:]:
        if symbol.section == elf.UNDEFINED and symbol.name not in allowed:
            raise Forbidden(
                f"it needs {symbol.name!r:.80}, and of the library it may call {', '.join(sorted(allowed))}"
            )
    for relocation in read.relocations:
        symbol = relocation.symbol
        if symbol.section == elf.UNDEFINED and symbol.name and relocation.kind not in _CALLS[read.machine]:
            raise Forbidden(f"it takes the address of {symbol.name!r}. Try: call it and nothing else")


def _instructions(machine: int, code: bytes) -> Iterator[str]:
    """Yields names of forbidden ones whose bytes are in the code, wherever they begin on x86."""
    if machine == elf.X86_64:
        yield from (name for pattern, name in _FORBIDDEN.items() if pattern in code)
        return
    for place in range(0, len(code) - 3, 4):
        word = int.from_bytes(code[place : place + 4], "little")
        if word >> 24 == 0xD4:  # svc, hvc, smc, brk, hlt
            yield "a call of the system"
        elif word >> 20 == 0xD53 and (word >> 5) & 0xFFFF not in _READABLE:
            yield "a register of the system"


_READABLE = {0xDA20, 0xDA21}
"""On AArch64, the status and control of floating point (FPCR, FPSR)."""


def check_listing(listing: str, assembler: str) -> None:
    """Looks at code as `objdump -d` lists it, where bytes of a forbidden instruction were found: they may be part of a number in another instruction, and are harmless where nothing can jump
    there. Raises `Forbidden` where one stands in the list, or a jump leads to no instruction of the list, or to a computed place, or where the compiler's `assembler` has parts that the program wrote
    itself: those can return to any place."""
    places: set[str] = set()
    targets: set[str] = set()
    for section in listing.split("Disassembly of section ")[1:]:
        name = section.partition(":")[0]
        for place, word, rest in _LISTED.findall(section):
            places.add(f"{name} {place}")
            if word in _LISTED_FORBIDDEN:
                raise Forbidden(f"its code has the instruction {word}, which reaches the system or a clock")
            if word in _JUMPS or word.startswith("j"):
                target = rest.split()[0] if rest else "*"
                if target.startswith("*"):
                    raise Forbidden(
                        "its code has a jump to a computed place, and bytes of an instruction that reaches the system or a clock"
                    )
                targets.add(f"{name} {target}")
    if not places or not targets <= places:
        raise Forbidden("its code has a jump into the middle of an instruction")
    if _OWN_ASSEMBLER.search(assembler):
        raise Forbidden(
            "it has bytes of an instruction that reaches the system or a clock within another one, and inline assembler, which can return to there. Try: leave one of both out"
        )


_LISTED = re.compile(
    r"^ +([0-9a-f]+):\t(?:(?:notrack|bnd|rep|repz|lock|data16|cs) )*([a-z(][\w.)]*) *(.*)$", re.MULTILINE
)
_OWN_ASSEMBLER = re.compile(r"^\s*(?:#|//|@)\s*APP\b", re.MULTILINE)
"""How compilers mark what comes from `asm` in a program."""
_LISTED_FORBIDDEN = {*_FORBIDDEN.values(), "int", "(bad)"}
_JUMPS = {"call", "callq", "jmpq", "xbegin", "loop", "loope", "loopne"}
