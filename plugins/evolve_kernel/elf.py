"""A strict reader of relocatable object files (ELF, 64 bits, little-endian), as a compiler leaves them.

Source: System V ABI, chapter 4, https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html. Every offset, size and index is looked at before it is used; whatever a file holds, the result is
an `ObjectFile` or `Malformed`, in a time that the file's size bounds."""

import struct
from dataclasses import dataclass

X86_64, AARCH64 = 62, 183
"""Machines."""
PROGBITS, SYMTAB, STRTAB, RELA, NOBITS, REL = 1, 2, 3, 4, 8, 9
"""Kinds of sections."""
WRITE, ALLOC, EXECUTE, TLS = 0x1, 0x2, 0x4, 0x400
"""Flags of sections."""
UNDEFINED, ABSOLUTE, COMMON = 0, 0xFFF1, 0xFFF2
"""Places of symbols that are no section."""
LOCAL, GLOBAL, WEAK = 0, 1, 2
"""Bindings."""
NOTYPE, OBJECT, FUNCTION, SECTION, FILE = 0, 1, 2, 3, 4
"""Kinds of symbols."""
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_IDENTITY = b"\x7fELF\x02\x01\x01"
_RELOCATABLE = 1
_MOST_SECTIONS = 4096


class Malformed(ValueError):
    """A file that is no relocatable object of this form."""


@dataclass(frozen=True, slots=True)
class ElfSection:
    """`content` is empty where the file holds none (`NOBITS`); `size` counts all the same."""

    name: str
    kind: int
    flags: int
    size: int
    link: int
    info: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Symbol:
    """`section` is an index, or `UNDEFINED`, `ABSOLUTE`, `COMMON`."""

    name: str
    binding: int
    kind: int
    section: int
    value: int
    size: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """A place at `offset` in the section `section` that the linker fills with a symbol's address, in a way that `kind` tells."""

    section: int
    offset: int
    kind: int
    symbol: Symbol


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """Contents of an object file."""

    machine: int
    sections: tuple[ElfSection, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]


def read(content: bytes) -> ObjectFile:
    """Returns the object in these bytes; raises `Malformed`."""
    if len(content) < _HEADER.size or not content.startswith(_IDENTITY):
        raise Malformed("it does not begin as an ELF file of 64 bits, little-endian")
    _, kind, machine, *_, section_size, count, names = _HEADER.unpack_from(content)
    start = _HEADER.unpack_from(content)[6]
    if kind != _RELOCATABLE or section_size != _SECTION.size or not 0 < count <= _MOST_SECTIONS or names >= count:
        raise Malformed("it is no relocatable object with sections")
    heads = [_SECTION.unpack(_slice(content, start + index * _SECTION.size, _SECTION.size)) for index in range(count)]
    titles = _content(content, heads[names])
    sections = tuple(
        ElfSection(_text(titles, head[0]), head[1], head[2], head[5], head[6], head[7], _content(content, head))
        for head in heads
    )
    symbols = _symbols(sections)
    return ObjectFile(machine, sections, symbols, _relocations(sections, symbols))


def _slice(content: bytes, start: int, size: int) -> bytes:
    if start > len(content) or size > len(content) - start:
        raise Malformed(f"{size} bytes at {start} are beyond its end")
    return content[start : start + size]


def _content(content: bytes, head: tuple[int, ...]) -> bytes:
    return b"" if head[1] in (0, NOBITS) else _slice(content, head[4], head[5])


def _text(titles: bytes, start: int) -> str:
    end = titles.find(b"\0", start)
    if start > len(titles) or end < 0:
        raise Malformed("a name does not end")
    return titles[start:end].decode("utf-8", "backslashreplace")


def _symbols(sections: tuple[ElfSection, ...]) -> tuple[Symbol, ...]:
    """Returns the symbols of the one table that there may be."""
    tables = [section for section in sections if section.kind == SYMTAB]
    if len(tables) != 1:
        raise Malformed(f"it has {len(tables)} tables of symbols")
    (table,) = tables
    if table.link >= len(sections) or sections[table.link].kind != STRTAB or table.size % _SYMBOL.size:
        raise Malformed("its table of symbols has no names, or is cut off")
    titles = sections[table.link].content
    found = tuple(
        Symbol(_text(titles, name), info >> 4, info & 15, place, value, size)
        for name, info, _, place, value, size in _SYMBOL.iter_unpack(table.content)
    )
    for symbol in found:
        if symbol.section >= len(sections) and symbol.section not in (ABSOLUTE, COMMON):
            raise Malformed(f"the symbol {symbol.name!r} is in no section")
    return found


def _relocations(sections: tuple[ElfSection, ...], symbols: tuple[Symbol, ...]) -> tuple[Relocation, ...]:
    found = []
    for section in sections:
        if section.kind == REL:
            raise Malformed("it has relocations without addends")
        if section.kind != RELA:
            continue
        if section.info >= len(sections) or section.size % _RELOCATION.size:
            raise Malformed("its relocations are of no section, or cut off")
        for offset, info, _ in _RELOCATION.iter_unpack(section.content):
            if info >> 32 >= len(symbols) or offset >= sections[section.info].size:
                raise Malformed("a relocation is of no symbol, or of no place")
            found.append(Relocation(section.info, offset, info & 0xFFFFFFFF, symbols[info >> 32]))
    return tuple(found)
