"""Files of several kinds, each drawn from a law.

A law yields pieces of a file for ever; `file` cuts them at the wanted size. Words, names and units are drawn for each file, so that no program knows them by heart."""

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import count
from operator import xor
from random import Random

from evolve import EvolveError

Pieces = Iterator[bytes]
Law = Callable[[Random], Pieces]
SYLLABLES = [first + vowel for first in (*"bcdfgklmnprstv", "st", "tr", "pl") for vowel in "aeiou"]


def file(kind: str, size: int, rng: Random) -> bytes:
    """Returns a file of `size` bytes; raises `EvolveError` for a kind that there is not."""
    if kind not in LAWS:
        raise EvolveError(f"there is no kind of files {kind!r}. Try: --set task.kinds='{' '.join(LAWS)}'")
    found = bytearray()
    for piece in LAWS[kind](rng):
        found += piece
        if len(found) >= size:
            return bytes(found[:size])
    raise AssertionError("a law never ends")


def words(rng: Random, wanted: int) -> list[str]:
    """Returns so many words of two to four syllables."""
    return [
        "".join(rng.choices(SYLLABLES, k=rng.choice((2, 2, 3, 3, 4)))) + rng.choice("  nrsx").strip()
        for _ in range(wanted)
    ]


def pick(rng: Random, choices: Sequence[str]) -> str:
    """Returns one of them, the first ones most often."""
    return choices[int(len(choices) * rng.random() ** 2.2)]


def clock(milliseconds: int) -> str:
    """Returns a time of the day."""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"


def log(rng: Random) -> Pieces:
    """Lines of a service's log: a rising time, a thread, and messages about requests that begin, go on, and end."""
    parts, users, paths = words(rng, 6), words(rng, 30), words(rng, 12)
    hosts = [f"10.{rng.randrange(256)}.{rng.randrange(4)}.{rng.randrange(256)}" for _ in range(12)]
    now, number, open_requests = rng.randrange(40_000_000), rng.randrange(10_000, 60_000), dict[int, tuple[int, str]]()
    while True:
        now += int(rng.expovariate(1 / 80.0))
        head = f"2026-03-{1 + now // 86_400_000:02} {clock(now)} [{pick(rng, parts)}-{rng.randrange(4)}]"
        if rng.random() < 0.4 or not open_requests:
            number += 1
            open_requests[number] = now, pick(rng, users)
            verb = rng.choices(("GET", "POST", "DELETE"), (6, 3, 1))[0]
            yield f"{head} INFO  request {number} from {pick(rng, hosts)}: {verb} /{pick(rng, paths)}/{pick(rng, paths)}?user={open_requests[number][1]}\n".encode()
        elif rng.random() < 0.5:
            yield f"{head} DEBUG request {rng.choice(list(open_requests))}: {rng.randrange(1, 60)} rows of table {pick(rng, paths)} in {rng.expovariate(0.5):.2f} ms\n".encode()
        else:
            ended = rng.choice(list(open_requests))
            began, user = open_requests.pop(ended)
            level, status = rng.choices((("INFO ", 200), ("WARN ", 404), ("ERROR", 500)), (20, 3, 1))[0]
            yield f"{head} {level} request {ended} of {user} done: status {status}, {now - began} ms\n".encode()


def csv(rng: Random) -> Pieces:
    """A table of measurements at even times: a trend, a daily course, a sum of two columns, a place, and a column that says what changed."""
    places = words(rng, 4)
    yield b"time,place,level,temperature,inflow,outflow,net,state\n"
    level, noise, minute, states = 500.0 * rng.random(), 0.0, rng.randrange(1000), ["idle", "open", "closed", "fault"]
    state = states[0]
    for row in count():
        minute += 15
        noise = 0.9 * noise + rng.gauss(0.0, 0.15)
        temperature = 14 + 6 * math.sin(minute * 2 * math.pi / 1440) + noise
        inflow, outflow = round(abs(rng.gauss(40, 6)), 1), round(abs(rng.gauss(39, 3)), 1)
        level += (inflow - outflow) / 10
        state = rng.choice(states) if rng.random() < 0.06 else state
        day, of_day = divmod(minute, 1440)
        stamp = f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}T{of_day // 60:02}:{of_day % 60:02}"
        yield f"{stamp},{places[row % 4]},{level:.2f},{temperature:.2f},{inflow:.1f},{outflow:.1f},{inflow - outflow:.1f},{state}\n".encode()


def source(rng: Random) -> Pieces:
    """Functions of an invented program, with names that come again near where they were used."""
    modules, functions = words(rng, 5), words(rng, 25)
    for name in modules:
        yield f"import {name}\n".encode()
    while True:
        names = words(rng, rng.randrange(3, 7))
        yield f"\n\ndef {rng.choice(functions)}({', '.join(names[:2])}):\n".encode()
        yield f'    """{" ".join(pick(rng, functions) for _ in range(rng.randrange(3, 8))).capitalize()}."""\n'.encode()
        yield from _block(rng, modules, functions, names, 1)
        yield f"    return {_expression(rng, modules, functions, names, 2)}\n".encode()


def _block(rng: Random, modules: list[str], functions: list[str], names: list[str], depth: int) -> Pieces:
    """Yields the lines of a block."""
    indent = "    " * depth
    for _ in range(rng.randrange(1, 5)):
        shape = rng.random()
        if depth < 4 and shape < 0.2:
            yield f"{indent}for {rng.choice(names)} in range({_expression(rng, modules, functions, names, 1)}):\n".encode()
            yield from _block(rng, modules, functions, names, depth + 1)
        elif depth < 4 and shape < 0.4:
            compared = rng.choice(("<", ">", "==", "!=", "is not"))
            yield f"{indent}if {rng.choice(names)} {compared} {_expression(rng, modules, functions, names, 0)}:\n".encode()
            yield from _block(rng, modules, functions, names, depth + 1)
        else:
            assigned = rng.choice(("=", "=", "=", "+=", "-="))
            yield f"{indent}{rng.choice(names)} {assigned} {_expression(rng, modules, functions, names, 2)}\n".encode()


def _expression(rng: Random, modules: list[str], functions: list[str], names: list[str], depth: int) -> str:
    """Returns an expression of calls, sums and names."""
    shape = rng.random() if depth else 1.0
    if shape < 0.3:
        inner = ", ".join(_expression(rng, modules, functions, names, depth - 1) for _ in range(rng.randrange(1, 3)))
        return f"{pick(rng, modules)}.{pick(rng, functions)}({inner})"
    if shape < 0.6:
        left, right = (_expression(rng, modules, functions, names, depth - 1) for _ in "lr")
        return f"{left} {rng.choice('+-*')} {right}"
    return rng.choice(names) if rng.random() < 0.8 else str(rng.choice((0, 1, 1, 2, 10, 100)))


def json(rng: Random) -> Pieces:
    """An array of records with the same keys: numbers that rise, names out of a few, some fields that depend on others."""
    cities, givens, tags = words(rng, 10), words(rng, 40), words(rng, 8)
    lands = [rng.choice(("AT", "DE", "FR", "IT")) for _ in cities]
    key, now = rng.randrange(100_000), rng.randrange(1_750_000_000, 1_760_000_000)
    yield b"[\n"
    while True:
        key += rng.choice((1, 1, 1, 2, 3))
        now += int(rng.expovariate(1 / 300.0))
        city = int(len(cities) * rng.random() ** 1.7)
        name, units, cents = pick(rng, givens), rng.randrange(1, 9), rng.randrange(100, 9000)
        marks = ", ".join(f'"{tag}"' for tag in sorted(rng.sample(tags, rng.randrange(3))))
        note = f', "note": "{" ".join(pick(rng, tags) for _ in range(4))}"' if rng.random() < 0.2 else ""
        yield (
            f'  {{"id": {key}, "created": {now}, "customer": {{"name": "{name}", "mail": "{name}@{cities[city]}.example", "city": "{cities[city]}", "country": "{lands[city]}"}}, '
            f'"units": {units}, "price": {cents / 100:.2f}, "total": {units * cents / 100:.2f}, "paid": {"true" if rng.random() < 0.9 else "false"}, "tags": [{marks}]{note}}},\n'
        ).encode()


def binary(rng: Random) -> Pieces:
    """Records of 24 bytes: a mark, a kind, a counter, a time, slow values, a payload that depends on the kind, and a check byte."""
    mark, device = rng.randrange(1 << 16), rng.randrange(1 << 8)
    number, now, heat, volts = rng.randrange(1 << 20), rng.randrange(1 << 31), 2000, 31_000.0
    while True:
        kind = rng.choices(range(4), (8, 3, 2, 1))[0]
        number += 1
        now += 1000 + int(rng.gauss(0, 6))
        heat += rng.choice((-1, 0, 0, 0, 1))
        volts += rng.gauss(0, 4) - 0.02 * (volts - 31_000)
        payload = (
            struct.pack("<HHI", heat, round(volts), 0),
            struct.pack("<If", number * 3 & 0xFFFFFFFF, heat / 8),
            bytes(rng.choice(b"\x00\x00\x00\x01\xff") for _ in range(8)),
            rng.randbytes(4) + bytes(4),
        )[kind]
        body = (
            struct.pack("<HBBIIhB", mark, device, kind, number, now, round(volts) - 31_000, rng.choice((0, 0, 0, 4)))
            + payload
        )
        yield body + bytes([reduce(xor, body)])


def samples(rng: Random) -> Pieces:
    """Two channels of int16: tones that fade and return, noise, and the second channel an echo of the first."""
    tones = [
        (rng.uniform(0.01, 0.35), rng.uniform(500, 4000), rng.uniform(0, 7), rng.uniform(0.0002, 0.002))
        for _ in range(4)
    ]
    delay, share = rng.randrange(2, 9), rng.uniform(0.4, 0.9)
    past, coloured = [0.0] * delay, 0.0
    for step in count():
        coloured = 0.8 * coloured + rng.gauss(0, 14)
        value = coloured + sum(
            size * math.sin(step * speed + start) * (1 + math.sin(step * fading)) / 2
            for speed, size, start, fading in tones
        )
        past.append(value)
        yield struct.pack("<hh", round(value), round(share * past[-1 - delay] + rng.gauss(0, 6)))


def image(rng: Random) -> Pieces:
    """Rows of 100 grey pixels: smooth hills with edges and noise."""
    hills = [(rng.uniform(0, 100), rng.uniform(0, 150), rng.uniform(10, 40), rng.uniform(-90, 90)) for _ in range(8)]
    for row in count():
        pixels = [
            128
            + sum(
                size * math.exp(-((column - x) ** 2 + (row % 150 - y) ** 2) / width**2) for x, y, width, size in hills
            )
            for column in range(100)
        ]
        yield bytes(
            min(255, max(0, round(pixel + rng.gauss(0, 1.5) + (40 if (row // 30 + column // 25) % 2 else 0))))
            for column, pixel in enumerate(pixels)
        )


def settings(rng: Random) -> Pieces:
    """Sections of settings with the same keys, most of them with the same values."""
    keys, values = words(rng, 12), words(rng, 12)
    usual = [rng.choice((rng.choice(values), str(rng.randrange(100)), "on", "off")) for _ in keys]
    for number in count(1):
        yield f"[{rng.choice(values)}.{number}]\n".encode()
        for key, value in zip(keys, usual, strict=True):
            if rng.random() < 0.85:
                yield f"{key} = {value if rng.random() < 0.8 else rng.choice(values)}\n".encode()
        yield b"\n"


def floats(rng: Random) -> Pieces:
    """Four columns of float32: rising, a course, a walk, and the first three together."""
    walk, rising = 0.0, 0.0
    for step in count():
        rising += rng.choice((0.5, 0.5, 0.75))
        walk += rng.gauss(0, 0.02)
        course = round(math.sin(step / 30), 3)
        yield struct.pack("<ffff", rising, course, round(walk, 2), rising + course + round(walk, 2))


def table(rng: Random) -> Pieces:
    """A table in fixed columns with ranks, names and numbers that fall."""
    names, groups, points = words(rng, 80), words(rng, 5), 99_999.0
    for rank in count(1):
        points *= 1 - rng.expovariate(150)
        yield f"{rank:>5} | {rng.choice(names):<14} | {pick(rng, groups):<12} | {points:>10.1f} | {points / max(1, rank):>10.2f}\n".encode()


LAWS: dict[str, Law] = {
    "log": log,
    "csv": csv,
    "source": source,
    "json": json,
    "binary": binary,
    "samples": samples,
    "image": image,
    "settings": settings,
    "floats": floats,
    "table": table,
}
