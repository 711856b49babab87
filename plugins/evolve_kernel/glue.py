"""C that calls a kernel: what stands between the loop of a native session and the program's function.

Invariant: made from the task alone; the first number of a call says whether the function is called at all, so that the cost of a call of nothing can be measured."""

from collections.abc import Sequence

from evolve_kernel.arguments import C_TYPES, Argument

_BODY = """#include "{header}"
#if defined(__x86_64__)
#include <xmmintrin.h>
#define DEFAULT_MODES() _mm_setcsr(0x1f80)
#else
#define DEFAULT_MODES() ((void)0)
#endif

void evolve_call(void **pointers, const long *numbers);

void evolve_call(void **pointers, const long *numbers)
{{
    /* What a program has set of rounding and of the smallest numbers holds for no other call. */
    DEFAULT_MODES();
    if (numbers[0])
        {function}({arguments});
    DEFAULT_MODES();
}}
"""


def source(function: str, header: str, arguments: Sequence[Argument]) -> str:
    """The glue of a function with these arguments."""
    passed, pointers, numbers = [], 0, 1
    for one in arguments:
        if one.kind == "number":
            passed.append(f"numbers[{numbers}]")
            numbers += 1
        else:
            constant = "const " if one.kind == "in" else ""
            passed.append(f"({constant}{C_TYPES[one.dtype]} *)pointers[{pointers}]")
            pointers += 1
    return _BODY.format(header=header, function=function, arguments=", ".join(passed))
