"""Programs of the classic Berkeley Packet Filter that answer system calls: what `seccomp(2)` takes.

Facts: https://docs.kernel.org/userspace-api/seccomp_filter.html and the kernel's include/uapi/linux/filter.h. Standard library only, for it lives in the
template. The answer to a call depends on its number and the low halves of its arguments alone: what a pointer points to, a filter
cannot see. All arguments that are compared here are of 32 bits, and the kernel ignores their high halves as well."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ALLOW = 0x7FFF0000
KILL = 0x80000000
"""Ends the whole process, as by the signal SIGSYS."""
ALL_BITS = 0xFFFFFFFF
_ERRNO = 0x00050000
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP, _IF_EQUAL, _IF_AT_LEAST = 0x05, 0x15, 0x35
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_FAR = 255
"""The farthest that a conditional jump goes."""
_MOST = 4096
"""Instructions that the kernel takes."""


def fail(number: int) -> int:
    """The call is not made, and fails with this `errno`."""
    return _ERRNO | number


SUCCEED = _ERRNO
"""The call is not made, and returns 0."""


@dataclass(frozen=True, slots=True)
class When:
    """A question about the low half of an argument (0 to 5): whether its bits under `mask` are among `values`."""

    argument: int
    values: tuple[int, ...]
    then: "Verdict"
    otherwise: "Verdict"
    mask: int = ALL_BITS


Verdict = int | When
"""`ALLOW`, `KILL`, `fail(errno)`, `SUCCEED`, or what depends on an argument."""


@dataclass(frozen=True, slots=True)
class _Instruction:
    code: int
    value: int = 0
    when_true: int = 0
    when_false: int = 0


def assemble(machine: int, verdicts: Mapping[int, Verdict], unknown: Verdict, end: int) -> bytes:
    """The program: kills a call that was not made as on `machine`, or whose number is `end` or more; a number without a verdict
    gets `unknown`.

    Numbers are searched by halves, so that a common call passes about ten instructions. The kernel decides most of them once, when the program
    is entered, and that too is fast only with few instructions on each way."""
    ranges = _ranges(verdicts, unknown, end)
    blocks = list(dict.fromkeys(verdict for _, verdict in ranges if isinstance(verdict, When)))
    asked = {block: _tree(block) for block in blocks}
    head = [
        _Instruction(_LOAD, _MACHINE_AT),
        # The same number is another call for another architecture, which a process may switch to.
        _Instruction(_IF_EQUAL, machine, when_true=1),
        _Instruction(_RETURN, KILL),
        _Instruction(_LOAD, _NUMBER_AT),
    ]
    search = _search(ranges)
    starts, place = {}, len(search)
    for block, code in asked.items():
        starts[block] = place
        place += len(code)
    body: list[_Instruction] = [
        _Instruction(_JUMP, starts[found] - here - 1) if isinstance(found, When) else found
        for here, found in enumerate(search)
    ]
    program = [*head, *body, *(each for code in asked.values() for each in code)]
    assert len(program) <= _MOST
    return b"".join(struct.pack("=HBBI", each.code, each.when_true, each.when_false, each.value) for each in program)


def _ranges(verdicts: Mapping[int, Verdict], unknown: Verdict, end: int) -> list[tuple[int, Verdict]]:
    """The first number of each run of equal verdicts."""
    found: list[tuple[int, Verdict]] = []
    last = max(verdicts) + 1
    for number in (*range(last + 1), end):
        verdict = KILL if number == end else verdicts.get(number, unknown)
        if not found or found[-1][1] != verdict:
            found.append((number, verdict))
    return found


def _search(ranges: Sequence[tuple[int, Verdict]]) -> list[_Instruction | When]:
    """Instructions that find the range of a number; a question stands for a jump to its block."""
    if len(ranges) == 1:
        verdict = ranges[0][1]
        return [verdict if isinstance(verdict, When) else _Instruction(_RETURN, verdict)]
    middle = len(ranges) // 2
    below, above = _search(ranges[:middle]), _search(ranges[middle:])
    first = ranges[middle][0]
    if len(below) <= _FAR:
        return [_Instruction(_IF_AT_LEAST, first, when_true=len(below)), *below, *above]
    return [_Instruction(_IF_AT_LEAST, first, when_false=1), _Instruction(_JUMP, len(below)), *below, *above]


def _tree(verdict: Verdict) -> list[_Instruction]:
    """Instructions that ask and return."""
    if not isinstance(verdict, When):
        return [_Instruction(_RETURN, verdict)]
    otherwise, then = _tree(verdict.otherwise), _tree(verdict.then)
    count = len(verdict.values)
    loaded = [_Instruction(_LOAD, _ARGUMENTS_AT + 8 * verdict.argument)]
    if verdict.mask != ALL_BITS:
        loaded.append(_Instruction(_AND, verdict.mask))
    compared = [
        _Instruction(_IF_EQUAL, value, when_true=count - 1 - index + len(otherwise))
        for index, value in enumerate(verdict.values)
    ]
    assert count + len(otherwise) <= _FAR
    return [*loaded, *compared, *otherwise, *then]
