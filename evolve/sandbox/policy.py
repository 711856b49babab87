"""Policy that makes one jail of what a task may use and what a machine offers.

Worker's side. Whatever a task grants and an environment names, the engine, its tasks and what is named as hidden, such as logs, stay
hidden, but for an interpreter that lies there and folders in it that the task grants; where these means cannot do that, there is no jail."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import reduce
from pathlib import Path

from evolve.sandbox.jail import Jail
from evolve.sandbox.machine.visible import (
    Visible,
    is_below,
    paths_of,
    private_paths_of,
    with_links,
)
from evolve.sandbox.means import Means
from evolve.types import Grants, Limits, SandboxError

# The whole GPU profile, here and in `walls`, is written after what others report that drivers need. It was not verified on any device yet.
_GPU_NODES = {
    "nvidia[0-9]*": ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps/*"),
    "dxg": ("dxg",),
}
"""Below /dev: by the node that tells of NVIDIA's, or of a Linux within Windows, what its driver needs. The libraries of the last lie in
/usr/lib/wsl, which is visible as all of /usr."""
_GPU_READABLE = ("/sys", "/proc/driver/nvidia", "/proc/driver/nvidia-uvm", "/run/nvidia-persistenced")
_OWN = os.fspath(Path(__file__).resolve().parent)
"""The candidate's side of the wire, which an interpreter that is started in the box has to import."""
_NETWORKLESS = (
    "its network is the machine's: a loopback of its own needs namespaces. Try: run where level strict is reached"
)


@dataclass(frozen=True, slots=True)
class Devices:
    """`environment` are variables by which drivers are told which devices a process sees, and `closed` the device files that are somebody else's."""

    environment: Mapping[str, str] = field(default_factory=dict)
    closed: tuple[str, ...] = ()


EVERY = Devices()
"""Whatever the worker may use."""


def jail_for(
    home: str,
    limits: Limits,
    python: str,
    means: Means,
    user: int,
    hidden: Sequence[str] = (),
    devices: Devices = EVERY,
) -> Jail:
    """The jail of a template that runs `python` in its own folder `home`, whose candidates become `user` (-1: nobody else) and never see what is
    `hidden`, such as their task's folder. Raises `SandboxError` for what these means cannot give, or cannot hide."""
    grants, boxed = limits.grants, means.seccomp
    if boxed and not means.namespaces:
        _check_without_namespaces(grants)
    private = grants.private and means.namespaces
    needed = private_paths_of(python, limits.preload) if private else paths_of(python) if boxed else Visible((), ())
    found = reduce(Visible.closing, hidden, needed)
    open_places, listed = (found.visible, ()) if means.namespaces else found.pieces()
    readable = _readable(grants, means)
    # A plain box hides nothing and says so in its line; only one that promises to hide may fail to.
    if boxed:
        _check_hidden(hidden, found, readable, means)
    return Jail(
        home=home,
        **asdict(means),
        user=user,
        visible=open_places,
        listed=listed,
        hidden=found.hidden,
        readable=readable,
        shown=() if grants.template else (_OWN,),
        nodes=tuple(node for node in gpu_nodes() if node not in devices.closed) if grants.gpu else (),
        preload=limits.preload,
        memory=limits.memory,
        file_size=limits.file_size,
        descriptors=limits.descriptors,
        tasks=limits.tasks,
        scratch=limits.scratch,
        inodes=limits.inodes,
        shm=grants.shm,
        threads=grants.threads,
        execute=grants.execute,
        memfd=grants.memfd,
        gpu=bool(grants.gpu),
        loopback=grants.network == "loopback",
        template=grants.template,
        private=private,
    )


def _check_without_namespaces(grants: Grants) -> None:
    """Refuses grants that need a slot's own network and file tree."""
    if grants.network == "loopback":
        raise SandboxError(f"a program is granted the network `loopback`, and here {_NETWORKLESS}")
    if grants.shm != Grants().shm:
        raise SandboxError(
            "the task grants its candidates shared memory (`shm`), and here the machine's own /dev/shm is closed to them. "
            "Try: run where level strict is reached"
        )


def _readable(grants: Grants, means: Means) -> tuple[str, ...]:
    """Returns what may be read, also where it lies in what is hidden: a task that comes with the engine has its data there."""
    places = with_links(grants.read) if means.seccomp else grants.read
    if not means.namespaces:  # there, a rule about a link is one about all that it leads to
        places = tuple(place for place in places if not Path(place).is_symlink())
    return (*places, *(_GPU_READABLE if grants.gpu else ()))


def _check_hidden(hidden: Sequence[str], found: Visible, readable: Sequence[str], means: Means) -> None:
    """A box without namespaces cannot cover a part of what may be read, and one with them covers only what is there."""
    later = [place for place in map(os.path.realpath, hidden) if not Path(place).exists()]
    uncovered = later if means.namespaces else found.hidden
    opened = frozenset(map(Path, (*found.visible, *readable) if means.namespaces else readable))
    for place in uncovered:
        if is_below(Path(place), opened):
            mend = "make it first, with `mkdir -p`" if means.namespaces else "grant a folder that does not hold it"
            raise SandboxError(
                f"candidates would see {place}, for it lies in a folder that is open to them. Try: {mend}"
            )


def gpu_nodes(devices: Path = Path("/dev")) -> tuple[str, ...]:
    """The device files of the kinds of GPU that are there, and none of a kind that is not: a screen's alone is no GPU to compute with."""
    found = [patterns for mark, patterns in _GPU_NODES.items() if any(devices.glob(mark))]
    return tuple(
        sorted(os.fspath(path) for patterns in found for pattern in patterns for path in devices.glob(pattern))
    )
