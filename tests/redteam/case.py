"""What one hostile candidate is, and what must happen to it.

Invariant: a case says by itself what it achieved, and the host looks as well; neither alone decides that it was held."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evolve.sandbox.status import Status


@dataclass(frozen=True, slots=True)
class Case:
    """`name` is `group.what`. `tries` says in one line what the program attempts, `must` what must happen. `source` is the program: its
    function `attack(told)` gets what was made for it (`Told`, as a mapping) and returns a list of what it achieved, in words; an empty list
    is an attack that was held. `ends` are the ways in which its session may end.

    `harmless`: it may be run outside any box, to show that it succeeds there. `dangerous`: it could hurt a machine without a box, so it asks
    `guard.boxed(told)` first and otherwise returns `["not boxed"]` without acting. `exempt` are levels at which its success is documented.
    `private`: it attacks a box in which the task grants that. `seconds` is its wall limit, `within` how long the whole evaluation may take at most.

    For the few that need it: `after` is the source of another program, whose `attack` runs when the first has ended and says what it found
    of it; `again` is the length of a text with which its `again(text)` is called after `attack`, in the same session, whose answer counts, too;
    `files` are further files of the first, `after_files` of the other; `answer` is what must arrive where that is no empty list, as JSON; `lasts` are seconds that
    its session takes at least, by the judge's clock; `needs` are programs ("cc"), modules ("numpy") or machines ("x86_64") without which it
    is skipped."""

    name: str
    tries: str
    source: str
    must: str = "refused"
    ends: frozenset[Status] = frozenset({Status.OK})
    harmless: bool = False
    dangerous: bool = False
    exempt: frozenset[str] = frozenset()
    private: bool = False
    seconds: float = 5.0
    within: float = 8.0
    after: str = ""
    again: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    after_files: Mapping[str, str] = field(default_factory=dict)
    answer: str = "[]"
    lasts: float = 0.0
    needs: frozenset[str] = frozenset()

    @property
    def group(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Told:
    """What a program is told of the host that it attacks; all of it was made for the corpus. Paths: `secret`, a file with a key in a folder that
    is the host's alone; `grader`, a file like an evaluator; `folder`, a folder of the host; `unix`, a listening socket. `abstract` is the
    name of an abstract listening socket (without the null in front; empty where the system has none), `tcp` and `udp` are ports on 127.0.0.1,
    `sibling` and `engine` processes of the host, `namespace` the host's pid namespace (the link /proc/self/ns/pid; empty where there is
    none), `uid` the user of the judge, `key` the name of a variable in the judge's environment that holds `word`, and `word` the text that
    none may learn (as its SHA-256 in hexadecimal digits). What a program plants anywhere is called `mark`, so that the host finds it."""

    secret: str
    grader: str
    folder: str
    unix: str
    abstract: str
    tcp: int
    udp: int
    sibling: int
    engine: int
    namespace: str
    uid: int
    key: str
    word: str
    mark: str
