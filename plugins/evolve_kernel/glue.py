"""C that calls a kernel: what stands between the loop of a native session and the program's function.

Invariant: made from the task alone; no other code of the judge's runs in a kernel's process while it is timed."""

from collections.abc import Sequence

from evolve_kernel.arguments import C_TYPES, Argument

NOTHING, CALL, TOUCH = range(3)
"""What the first number of a call asks for: nothing, so that the cost of it can be measured; the program's function; a look at each page of so much memory, so that it is in the process's reach."""
_BODY = """enum {{ CALL = {call}, TOUCH = {touch} }};
#include "{header}"
#if defined(__x86_64__)
#include <xmmintrin.h>
#define DEFAULT_MODES() _mm_setcsr(0x1f80)
#elif defined(__aarch64__)
#define DEFAULT_MODES() __asm__ volatile("msr fpcr, xzr")
#else
#define DEFAULT_MODES() ((void)0)
#endif

void evolve_call(void **pointers, const long *numbers);

void evolve_call(void **pointers, const long *numbers)
{{
    volatile char *memory = pointers[0];
    switch (numbers[0]) {{
    case CALL:
        /* What a program has set of rounding and of the smallest numbers holds for no other call. */
        DEFAULT_MODES();
        {function}({arguments});
        DEFAULT_MODES();
        break;
    case TOUCH:
        for (long i = 0; i < numbers[1]; i += 4096)
            memory[i] = memory[i];
        break;
    }}
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
    return _BODY.format(call=CALL, touch=TOUCH, header=header, function=function, arguments=", ".join(passed))
