"""What of C is arithmetic: looked for in the very text that is compiled, and in the assembler that the compiler makes of it.

Invariant: what is refused is named; what passes has no assembler, no built-in function and no switch of the compiler in it."""

import re

ALLOWED = {b"_Bool", b"_Generic", b"_Static_assert"}
"""Words of C's own that begin like those of the compiler."""
_PLACE = re.compile(rb'^# \d+ "[\w./<>-]*"(?: [1-4])*$', re.MULTILINE)
"""How the preprocessor says from which line of which file the next ones are; it means nothing else."""
_WORD = re.compile(rb"\b(?:asm\b|__\w*|_[A-Z]\w*)")
_DIRECTIVE = re.compile(rb"(?:#|%:|\\)[^\n]{0,60}")
_FUNCTION = re.compile(rb"^\s+(f(?:sin|cos|sincos|ptan|patan|2xm1|yl2x|yl2xp1|scale))\b", re.MULTILINE)
"""The x87 instructions that are functions of mathematics."""
_ADDRESS = re.compile(
    rb"^\s+(?:(?:notrack\s+)?(?:call|j)\w*\s+(?![\w.$]+(?:@PLT)?\s*$)|blr\s|br\s|bl?\s+\S*\+)", re.MULTILINE
)
"""A call or a jump to anything but a name, on x86 and on ARM: what stands in a number may be an instruction, too."""


def refused_text(expanded: bytes) -> str:
    """What stands in a preprocessed text that is no arithmetic; empty where there is nothing such."""
    text = _PLACE.sub(b"", expanded)
    found = next((word for word in _WORD.findall(text) if word not in ALLOWED), None) or next(
        iter(_DIRECTIVE.findall(text)), b""
    )
    return found.decode(errors="replace").strip()


def refused_instruction(assembler: bytes) -> str:
    """What the compiler made of it that is no arithmetic: a function of the processor's, or a call of a computed address."""
    function = _FUNCTION.search(assembler)
    if function:
        return f"the instruction {function[1].decode()}"
    return "a call or a jump to a computed address" if _ADDRESS.search(assembler) else ""
