"""Hostile programs that speak to others: the way out for what they have learned, and in to the engine.

Invariant: they send to the test's own listeners, and to nobody else; other sockets are made and closed."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_HELD = frozenset({Status.OK, Status.SIGNAL})

_TCP = """
import socket
from raw import attempt

def sent(port):
    with socket.create_connection(("127.0.0.1", port), 0.5) as connection:
        connection.sendall(b"corpus")
        return True

def attack(told):
    return attempt("speaks to a server by TCP", lambda: sent(told["tcp"]))
"""

_TCP_OTHER_WAYS = """
import socket
from raw import attempt

FAST_OPEN, MULTIPATH = 0x20000000, 262

def sent(family, address, protocol=0, flags=0):
    with socket.socket(family, socket.SOCK_STREAM, protocol) as connection:
        connection.settimeout(0.5)
        if flags:
            return connection.sendto(b"corpus", flags, address)
        connection.connect(address)
        return connection.send(b"corpus")

def listens():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        return True

def attack(told):
    port = told["tcp"]
    achieved = attempt("speaks to a server without connecting", lambda: sent(socket.AF_INET, ("127.0.0.1", port), 0, FAST_OPEN))
    achieved += attempt("speaks to a server by several paths", lambda: sent(socket.AF_INET, ("127.0.0.1", port), MULTIPATH))
    achieved += attempt("speaks to a server by IPv6", lambda: sent(socket.AF_INET6, ("::ffff:127.0.0.1", port)))
    return achieved + attempt("is a server", listens)
"""

_UDP = """
import socket
from raw import attempt

def attack(told):
    return attempt("speaks to a server by UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"corpus", ("127.0.0.1", told["udp"])))
"""

_UNIX = """
def sent(address):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(0.5)
        connection.connect(address)
        return connection.send(b"corpus")
"""

_UNIX_PATH = (
    """
import socket
from raw import attempt

"""
    + _UNIX
    + """
def attack(told):
    return attempt("speaks to a server by its path", lambda: sent(told["unix"]))
"""
)

_UNIX_ABSTRACT = (
    """
import socket
from raw import attempt

"""
    + _UNIX
    + """
def attack(told):
    return attempt("speaks to a server by its name", lambda: sent(b"\\0" + told["abstract"].lstrip("\\0").encode()))
"""
)

_VSOCK = """
import socket
from raw import attempt

VSOCK = 40

def attack(told):
    # The way from a virtual machine to its host, which no network namespace closes.
    kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)
    return [words for kind in kinds for words in attempt("has a socket to the machine's host", lambda: socket.socket(VSOCK, kind).close() is None)]
"""

_NETLINK = """
import socket
from raw import attempt

NETLINK = 16

def attack(told):
    achieved = [words for protocol in range(23) for words in attempt("has a socket to the kernel", lambda: socket.socket(NETLINK, socket.SOCK_RAW, protocol).close() is None)]
    return achieved[:1]
"""

_FAMILIES = """
import socket
from raw import attempt

def attack(told):
    # All but those between processes of one machine; a pair of these is anybody's to have.
    kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)
    return [
        f"has a socket of family {family}"
        for family in range(2, 64)
        if any(attempt("made", lambda: socket.socket(family, kind, 0).close() is None) for kind in kinds)
    ]
"""

_DESCRIPTORS = """
import os
import socket
from raw import attempt, opened

def attack(told):
    # A descriptor that travels to the judge would have it hold, or read, what we choose.
    secret = os.dup(0)
    def travelled(number):
        with socket.socket(fileno=os.dup(number)) as line:
            return socket.send_fds(line, [b"!"], [secret])
    achieved = [words for number in (0, 1, 2, 3) for words in attempt(f"sends a descriptor by descriptor {number}", lambda: travelled(number))]
    # The other direction of what we were given for one.
    for number, flags in ((3, os.O_WRONLY), (4, os.O_RDONLY), (1, os.O_RDONLY)):
        attempt("", lambda: opened(f"/proc/self/fd/{number}", flags))
    return achieved
"""

CASES: tuple[Case, ...] = (
    Case("net.tcp", "speak to a server on this machine", _TCP, harmless=True, ends=_HELD, needs=LINUX, files=RAW),
    Case(
        "net.tcp_other_ways",
        "the same by ways that rules on connections forget",
        _TCP_OTHER_WAYS,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case("net.udp", "send a datagram to this machine", _UDP, harmless=True, ends=_HELD, needs=LINUX, files=RAW),
    Case(
        "net.unix_path",
        "speak to a server by its path, as to a container's engine",
        _UNIX_PATH,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "net.unix_abstract",
        "speak to a server by a name without a path",
        _UNIX_ABSTRACT,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "net.vsock",
        "have a socket to the host of a virtual machine",
        _VSOCK,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "net.netlink",
        "have a socket to the kernel's own services",
        _NETLINK,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case("net.families", "have a socket of any other family", _FAMILIES, ends=_HELD, needs=LINUX, files=RAW),
    Case("net.descriptors", "send a descriptor to the judge", _DESCRIPTORS, needs=LINUX, files=RAW),
)
