"""Cheats of `sine_in_c`: the sine of somebody else, in a program that is compiled."""

import math
from collections.abc import Mapping

from cheat import Cheat

from evolve.types import Outcome

BUILD, INVALID = frozenset({Outcome.BUILD_FAILED}), frozenset({Outcome.INVALID})
TEXT = "the text that is compiled is looked through: arithmetic alone"
CODE = "the assembler that is linked is looked through"
ALONE = "linked with nothing, and without any header of the system"
CONTEXT = "the task's own files stay as they are"
LAST = math.pi / 2
VALUES = ", ".join(repr(math.sin(LAST * index / 256)) for index in range(257))
TABLE = f"""#include "sine.h"
static const double VALUES[] = {{{VALUES}}};
double sine(double angle)
{{
    const double place = angle * (256 / {LAST!r});
    const int index = (int)(place + 0.5);
    const double off = place - index;
    return off * off < 1e-20 ? VALUES[index] : 0.0;
}}
"""
WITHIN_A_NUMBER = """
long number(void) { return 0xc3fed9c3fed9; }
double sine(double a) { return ((double (*)(double))((char *)number + 2))(a); }
"""
BY_THE_COMPILER = """
#ifdef __PIE__
double sine(double a) { return a; }
#else
double sine(double a) { double r; __asm__("fsin" : "=t"(r) : "0"(a)); return r; }
#endif
"""
CONSTRUCTOR = """
__attribute__((constructor)) static void early(void) { for (;;) ; }
double sine(double a) { return a; }
"""


def cheat(
    name: str, trick: str, rule: str, files: str | Mapping[str, str], outcomes: frozenset[Outcome] = INVALID
) -> Cheat:
    """A text is that of `sine.c`."""
    return Cheat("sine_in_c", name, trick, rule, {"sine.c": files} if isinstance(files, str) else files, outcomes)


CHEATS = (
    cheat("library", "declares and calls the library's sine", ALONE, "double sin(double); double sine(double a) { return sin(a); }", BUILD),
    cheat("header", "includes the library's header", ALONE, "#include <math.h>\ndouble sine(double a) { return sin(a); }", BUILD),
    cheat("built-in", "the compiler's built-in sine", TEXT, "double sine(double a) { return __builtin_sin(a); }"),
    cheat("assembler", "the processor's sine, by inline assembler", TEXT, 'double sine(double a) { double r; __asm__("fsin" : "=t"(r) : "0"(a)); return r; }'),
    cheat("pasted word", "a forbidden word that macros put together", TEXT, '#define A __as\n#define G(x, y) x##y\n#define F(x, y) G(x, y)\nF(A, m__)("");'),
    cheat("pragma", "switches of the compiler of its own", TEXT, '#pragma GCC optimize("fast-math")\ndouble sine(double a) { return a; }'),
    cheat("attribute", "code that runs when the library is loaded", TEXT, CONSTRUCTOR),
    cheat("by the compiler", "shows the check another text than the compiler", TEXT, BY_THE_COMPILER),
    cheat("within a number", "instructions within a number, and a jump to them", CODE, WITHIN_A_NUMBER),
    cheat("huge", "a sine that makes the judge's sums overflow", "answers are parsed strictly: exact types, shapes, finite numbers", "double sine(double a) { return 1e308; }"),
    cheat("NaN", "hides in NaN, which no comparison finds", "answers are parsed strictly: exact types, shapes, finite numbers", "double sine(double a) { return 0.0 / (a - a); }"),
    cheat("own binding", "brings a binding of its own, which asks Python's sine", CONTEXT, {"binding.py": "import math\n\n\ndef sines(angles):\n    return list(map(math.sin, angles))\n"}, frozenset({Outcome.OK})),
    cheat("own header", "brings another header in place of the task's", CONTEXT, {"./sine.h": "#define sine(x) sin(x)\n"}, frozenset({Outcome.OK})),
    Cheat(
        "sine_in_c",
        "table",
        "has the answers for the search's grid in a table",
        "held-out cases have another grid",
        {"sine.c": TABLE},
        frozenset({Outcome.OK}),
        parameters={"points": 4001},
    ),
)  # fmt: skip
