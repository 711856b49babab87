"""Plain data as bytes, between a worker and a candidate that may lie, and the frames in which it crosses. Numpy is imported when an array arrives.

A payload is the length of a JSON text (4 bytes, big-endian), the text, and the bytes of its arrays in the order in which they stand in
it. An array is written `{"$array": [type, shape]}`; a key of a caller's own mapping that begins with `$` is sent with one more, so that
no mapping can pass for an array; nor for bytes, written `{"$bytes": length}`.

A request is a header (a ticket of 8 bytes, the payload's length, and whether the payload lies in a file that comes with the header, or a file comes
along that is shared) and, where it lies in no file, the payload. The first request is the program, which `pack_program` makes; it is not answered. An
answer is the ticket of its request, its length, and the payload. Numbers are big-endian. Where a request has told the candidate to wait for a signal,
one byte is that, and the same byte is the answer to it.

Standard library only, for it lives in the template. `decode` gives plain data or raises `WireError`, whatever the bytes; nothing that arrives is ever
executed. A ticket is drawn at random when its request is sent, so an answer that bears it was written by a process that has read the request: none can
be prepared before, and an old one is none."""

import importlib
import json
import marshal
import math
import mmap
import os
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

DEPTH = 64
"""How many lists and mappings may stand inside one another."""
ARRAY_TYPES = {
    "bool": 1,
    **{f"{kind}{8 * size}": size for kind in ("int", "uint") for size in (1, 2, 4, 8)},
    **{f"float{8 * size}": size for size in (2, 4, 8)},
}
"""The element types that may cross, with their sizes in bytes."""
ALLOWED = "None, bool, int, float, str, bytes, list, dict with text keys, numpy arrays of numbers"
MOST_BYTES = 1 << 26
"""Bytes of all `bytes` objects of one message together, 64 MiB; an answer is bounded by `sandbox.result` as well."""
_TEXT = struct.Struct(">I")
_ARRAY = "$array"
_BYTES = "$bytes"
_SCALARS = frozenset({type(None), bool, int, float, str})
_MOST_DIMENSIONS = 32
_LONGEST = 1 << 40
_EMPTY_ROWS = 1 << 20
"""An array without elements may still have so many rows, for each of which a reader may make a list."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":"))
TICKET = 8
REQUEST = struct.Struct(">8sQB")
INLINE, IN_A_FILE, WITH_A_FILE = 0, 1, 2
"""Where the payload lies; with the last, inline, and a file that is not the payload comes along."""
ANSWER = struct.Struct(">8sQ")
_CHUNK = 1 << 20
_FORMAT = 4
"""Of `marshal`, which every Python from 3.4 on reads."""
_ONE_WRITE = 1 << 17
_DESCRIPTOR = struct.Struct("=i")
_ONE_DESCRIPTOR = socket.CMSG_LEN(_DESCRIPTOR.size)
_MAPPING = mmap.MAP_PRIVATE | getattr(
    mmap, "MAP_POPULATE", 0
)  # a shared mapping of a sealed file is refused before Linux 6.7


class WireError(ValueError):
    """Data that may not cross, or bytes that are none."""


Piece: TypeAlias = bytes | memoryview


def encode(value: Any) -> bytes:
    """`value` as a payload: its `pieces` in one."""
    return b"".join(pieces(value))


def pieces(value: Any) -> list[Piece]:
    """`value` as the pieces of a payload, of which large arrays are not copied: to be sent before they are changed. Tuples become lists;
    subclasses of numbers and texts and numpy's scalars become plain ones.

    Raises `WireError` for anything else, for numbers that are not finite and for what is nested too deeply."""
    outgoing = _Outgoing()
    try:
        text = _ENCODER.encode(outgoing.plain(value, DEPTH)).encode()
    except UnicodeEncodeError as error:
        raise WireError("a text holds half of a surrogate pair, which UTF-8 cannot say") from error
    except WireError:
        raise
    except ValueError as error:  # JSON's own two: a float out of range, an integer with too many digits
        raise WireError("a number is not a finite number" if "digits" not in str(error) else str(error)) from error
    return [_TEXT.pack(len(text)) + text, *outgoing.blobs]


class _Outgoing:
    """A value on its way to JSON; `blobs` are the bytes that follow the text."""

    def __init__(self) -> None:
        self.blobs: list[Piece] = []
        self._bytes = 0

    def plain(self, value: Any, depth: int) -> Any:
        """Returns what stands for `value` in the text."""
        if type(value) in _SCALARS:
            return value
        if isinstance(value, list | tuple | dict) and depth == 0:
            raise WireError(f"nested deeper than {DEPTH} levels")
        if isinstance(value, list | tuple):
            if _SCALARS.issuperset(map(type, value)):
                return list(value)
            return [self.plain(item, depth - 1) for item in value]
        if isinstance(value, dict):
            return {_outgoing_key(key): self.plain(item, depth - 1) for key, item in value.items()}
        if isinstance(value, bytes | bytearray):
            self._bytes += len(value)
            if self._bytes > MOST_BYTES:
                raise WireError(f"bytes objects hold more than {MOST_BYTES:,} bytes together")
            self.blobs.append(bytes(value))
            return {_BYTES: len(value)}
        return self._relative(value)

    def _relative(self, value: Any) -> Any:
        """A subclass of a plain type, or something of numpy's, which only exists where numpy is loaded."""
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.ndarray):
            return self._array(numpy.asarray(value))
        for plain in (str, int, float):
            if isinstance(value, plain):
                return plain(value)
        if numpy is not None:
            for theirs, ours in ((numpy.bool_, bool), (numpy.integer, int), (numpy.floating, float)):
                if isinstance(value, theirs):
                    return ours(value)
        raise WireError(f"a value is of type {type(value).__name__}; allowed are {ALLOWED}")

    def _array(self, array: Any) -> dict[str, list[Any]]:
        name = array.dtype.name
        if name not in ARRAY_TYPES:
            raise WireError(f"an array is of type {name}; allowed are {', '.join(ARRAY_TYPES)}")
        # Flat, in the usual order of rows and in this machine's order of bytes; a copy only where it was not so.
        self.blobs.append(array.astype(name, copy=False).ravel().view("uint8").data)
        return {_ARRAY: [name, list(array.shape)]}


def _outgoing_key(key: Any) -> str:
    if not isinstance(key, str):
        raise WireError(f"a mapping has a key of type {type(key).__name__}; allowed are texts")
    return "$" + key if key.startswith("$") else str.__str__(key)


def decode(payload: bytes | bytearray | memoryview | mmap.mmap) -> Any:
    """The plain data of a payload; arrays are writable copies. Raises `WireError` for anything that `encode` would not have sent."""
    with memoryview(payload) as view:
        return _decode(view)


def _decode(payload: memoryview) -> Any:
    if len(payload) < _TEXT.size:
        raise WireError("the message is shorter than its header")
    end = _TEXT.size + _TEXT.unpack_from(payload)[0]
    if end > len(payload):
        raise WireError("the message is shorter than its header says")
    blobs = _Blobs(payload, end)
    try:
        text = str(payload[_TEXT.size : end], "utf-8")
        value = (_WITHOUT_KEYS if _has_no_key(text) else blobs.decoder()).decode(text)
    except RecursionError as error:
        raise WireError(f"nested deeper than {DEPTH} levels") from error
    except ValueError as error:
        raise WireError(str(error)) from error
    # Bytes that nobody reads would be a place for words that no check has seen.
    if blobs.offset != len(payload):
        raise WireError("the message has bytes that belong to no array")
    _check(value)
    return value


def _has_no_key(text: str) -> bool:
    """Returns whether all mappings in a JSON text are empty, so that nothing has to be found out about their keys: so are most requests and answers."""
    return text.count("{") == text.count("{}")


def _not_finite(name: str) -> NoReturn:
    raise WireError(f"{name} is not a finite number")


_WITHOUT_KEYS = json.JSONDecoder(parse_constant=_not_finite)


class _Blobs:
    """The bytes behind the JSON text, taken array by array while the text is read."""

    def __init__(self, payload: memoryview, offset: int) -> None:
        self.payload = payload
        self.offset = offset

    def decoder(self) -> json.JSONDecoder:
        """Reads a text of which these are the blobs."""
        return json.JSONDecoder(object_pairs_hook=self.mapping, parse_constant=_not_finite)

    def mapping(self, pairs: list[tuple[str, Any]]) -> Any:
        """A JSON object as the mapping or array that it stands for."""
        if len(pairs) == 1 and pairs[0][0] == _ARRAY:
            return self._array(pairs[0][1])
        if len(pairs) == 1 and pairs[0][0] == _BYTES:
            return self._bytes(pairs[0][1])
        found = dict(pairs)
        if len(found) != len(pairs):
            raise WireError("a mapping has the same key twice")
        if any(key.startswith("$") for key in found):
            return {_incoming_key(key): value for key, value in pairs}
        return found

    def _array(self, description: Any) -> Any:
        if type(description) is not list or len(description) != 2:
            raise WireError("an array is not described by its type and shape")
        name, shape = description
        if type(name) is not str or name not in ARRAY_TYPES:
            raise WireError("an array is of no type that is allowed")
        if not _is_shape(shape) or (0 in shape and math.prod(filter(None, shape)) > _EMPTY_ROWS):
            raise WireError("an array has an impossible shape")
        content = self._next(ARRAY_TYPES[name] * math.prod(shape))
        # numpy takes any byte for a truth value, and then compares it with others as the byte that it is.
        if name == "bool" and content.strip(b"\0\1"):
            raise WireError("an array of truth values holds something else")
        try:
            numpy = sys.modules.get("numpy") or importlib.import_module("numpy")
        except ModuleNotFoundError:
            raise WireError("an array has arrived, and this Python has no numpy") from None
        return numpy.frombuffer(content, dtype=name).reshape(shape)

    def _bytes(self, length: Any) -> bytes:
        if type(length) is not int or not 0 <= length <= MOST_BYTES:
            raise WireError("bytes have an impossible length")
        return bytes(self._next(length))

    def _next(self, size: int) -> bytearray:
        """A copy of the next bytes."""
        start = self.offset
        if size > len(self.payload) - start:
            raise WireError("an array is larger than the bytes that came with it")
        self.offset = start + size
        return bytearray(self.payload[start : self.offset])


def _is_shape(shape: Any) -> bool:
    if type(shape) is not list or len(shape) > _MOST_DIMENSIONS:
        return False
    return all(type(length) is int and 0 <= length < _LONGEST for length in shape)


def _incoming_key(key: str) -> str:
    if not key.startswith("$"):
        return key
    if not key.startswith("$$"):
        raise WireError("a mapping has a key that begins with a single $")
    return key[1:]


def _check(value: Any) -> None:
    """Level by level, so that no depth of nesting can exhaust the stack: finite numbers, sound texts, and not too deep."""
    level = [value]
    for _ in range(DEPTH + 1):
        inner: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is list:
                inner.extend(item)
            elif kind is dict:
                inner.extend(item)
                inner.extend(item.values())
            else:
                _check_scalar(kind, item)
        if not inner:
            return
        level = inner
    raise WireError(f"nested deeper than {DEPTH} levels")


def _check_scalar(kind: type, item: Any) -> None:
    if kind is float and not math.isfinite(item):
        raise WireError("a number is not a finite number")
    if kind is str and not item.isascii():
        try:
            item.encode()
        except UnicodeEncodeError as error:
            raise WireError("a text holds half of a surrogate pair, which UTF-8 cannot say") from error


@dataclass(slots=True)  # not frozen, which makes it twice as slow to make
class ReceivedRequest:
    """Request as it arrived. A payload in a file is mapped, its descriptor closed with the mapping: `close` it once it is decoded. `file`: what came
    along, -1 for nothing; whoever takes it closes it."""

    ticket: bytes
    payload: bytes | mmap.mmap
    file: int = -1

    def close(self) -> None:
        """Gives back what holds the payload."""
        if isinstance(self.payload, mmap.mmap):
            self.payload.close()


def pack_program(entry: str, files: Mapping[str, str], context: Mapping[str, str]) -> bytes:
    """Returns a program as its candidate's process is told of it. Marshalled: that says half surrogates too,
    which are for the compiler to refuse, and it is read without a line of Python. It goes from the worker to the candidate alone; what comes back is
    never read so."""
    return marshal.dumps((entry, dict(files), dict(context)), _FORMAT)


def unpack_program(payload: bytes | mmap.mmap) -> tuple[str, dict[str, str], dict[str, str]]:
    """Returns entry, files and context, in the candidate's process."""
    entry, files, context = marshal.loads(payload)  # made by the worker alone
    return entry, files, context


def receive(requests: socket.SocketType) -> ReceivedRequest | None:
    """The next request; None at the end. Raises `OSError` where this process has no descriptor left for a file that was sent."""
    header, files = b"", b""
    while len(header) < REQUEST.size:
        data, passed, _, _ = requests.recvmsg(REQUEST.size - len(header), _ONE_DESCRIPTOR)
        if not data:
            return None
        header += data
        files += b"".join(content for _, _, content in passed)
    ticket, length, place = REQUEST.unpack(header)
    if place == INLINE:
        payload = _read(requests, length)
        return None if payload is None else ReceivedRequest(ticket, payload)
    if not files:
        raise OSError("a request came without its file: too many are open")
    (file,) = _DESCRIPTOR.unpack(files)
    if place == IN_A_FILE:
        return ReceivedRequest(ticket, _map(file, length))
    payload = _read(requests, length)
    return None if payload is None else ReceivedRequest(ticket, payload, file)


def _map(file: int, length: int) -> mmap.mmap:
    try:
        return mmap.mmap(file, length, flags=_MAPPING, prot=mmap.PROT_READ)
    finally:
        os.close(file)


def _read(requests: socket.SocketType, size: int) -> bytes | None:
    found = requests.recv(min(size, _CHUNK)) if size else b""
    if len(found) == size:
        return found
    rest = bytearray(found)
    while chunk := requests.recv(min(size - len(rest), _CHUNK)):
        rest += chunk
        if len(rest) == size:
            return bytes(rest)
    return None


def reply(replies: int, ticket: bytes, pieces: Sequence[bytes | memoryview]) -> None:
    """Writes an answer; a short one at once."""
    size = sum(map(len, pieces))
    header = ANSWER.pack(ticket, size)
    for data in [b"".join((header, *pieces))] if size <= _ONE_WRITE else [header, *pieces]:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(replies, rest) :]
