"""Confinement of one template and its candidates: the worker decides it, and the template gets it as plain data.

Standard library only, for it lives in the template. Everything that a layer of the box depends on stands here; no layer looks at the
environment, and none decides by itself to do without another."""

import json
from dataclasses import asdict, dataclass
from typing import Any

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs are, for candidates of a worker that was not told."""


@dataclass(frozen=True, slots=True)
class Jail:
    """`home` is the template's own folder on the host. `namespaces`, `landlock` (the version of its interface, 0 for none), `seccomp`,
    `cgroup` ("v1", "v2" or empty) and `limits` are the means, see `Means`. `visible` are the host's folders and files that candidates may
    read and run, `listed` those that they may list and no more, `hidden` what they may not see, `readable` what they may read but not run, `shown` what they may see of the hidden. Sizes in bytes; `nodes` are device
    files that they may use. `private`: of all these files they see copies in memory, where they have a file tree of their own. `user` is who candidates become, -1 for who the worker is (who is not root then, or isolation is
    reduced). The rest are the task's limits and grants."""

    home: str
    namespaces: bool
    landlock: int
    seccomp: bool
    cgroup: str
    limits: bool
    user: int
    visible: tuple[str, ...]
    listed: tuple[str, ...]
    hidden: tuple[str, ...]
    readable: tuple[str, ...]
    shown: tuple[str, ...]
    nodes: tuple[str, ...]
    preload: tuple[str, ...]
    memory: int
    file_size: int
    descriptors: int
    tasks: int
    scratch: int
    inodes: int
    shm: int
    threads: int
    execute: bool
    memfd: bool
    gpu: bool
    loopback: bool
    template: bool
    private: bool

    def to_json(self) -> str:
        """Returns the jail as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Jail":
        """Reads a jail from its JSON."""
        # JSON has no tuples.
        found: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(text).items()
        }
        return cls(**found)
