"""Island: its cells with their elites, the ranking of all of them, and everybody who ever belonged to a cell.

A program holds at most one place; each cell and the ranking are sorted by rank, the earlier program first among
equals; every elite is a member of its cell."""

from array import array
from bisect import bisect_left, insort
from typing import Any

Rank = tuple[float, float]
"""How far the constraints are missed, and minus the value: the smaller one is the better program."""
Ranked = tuple[Rank, int]


class Island:
    """Programs are numbers of the evidence. `ranking` and `cells` hold (rank, program); `waiting` the one challenger of a
    cell; `members` are append-only, for the day when an elite is taken
    out; `settled` counts proposals."""

    def __init__(self) -> None:
        self.cells: dict[int, list[Ranked]] = {}
        self.ranking: list[Ranked] = []
        self.places: dict[int, Ranked] = {}
        self.waiting: dict[int, int] = {}
        self.members: dict[int, array[int]] = {}
        self.settled = 0
        self.since = 0

    def __contains__(self, program: int) -> bool:
        return program in self.places

    def join(self, program: int, cell: int) -> None:
        """Makes a program a member of its cell, which gives it no place yet."""
        members = self.members.get(cell)
        if members is None:
            members = self.members[cell] = array("i")
        members.append(program)

    def put(self, program: int, cell: int, rank: Rank) -> None:
        """Gives a program a place."""
        entry = (rank, program)
        self.places[program] = entry
        insort(self.cells.setdefault(cell, []), entry)
        insort(self.ranking, entry)

    def take(self, program: int, cell: int) -> Rank:
        """Takes a program's place away; returns the rank that it had there."""
        entry = self.places.pop(program)
        holders = self.cells[cell]
        holders.remove(entry)
        if not holders:
            del self.cells[cell]
        del self.ranking[bisect_left(self.ranking, entry)]
        return entry[0]

    def weakest(self, cell: int) -> int:
        """Returns the last elite of an occupied cell."""
        return self.cells[cell][-1][1]

    def best(self) -> int | None:
        """Returns the first of the ranking."""
        return self.ranking[0][1] if self.ranking else None

    def clear(self, *, since: int) -> None:
        """Nobody belongs here any more; programs from number `since` on may."""
        self.since = since
        for column in (self.cells, self.ranking, self.places, self.waiting, self.members):
            column.clear()

    def state(self) -> dict[str, Any]:
        """Returns everything as plain data."""
        return {
            "cells": [[cell, [program for _, program in holders]] for cell, holders in sorted(self.cells.items())],
            "waiting": sorted(self.waiting.items()),
            "members": [[cell, list(programs)] for cell, programs in sorted(self.members.items())],
            "settled": self.settled,
            "since": self.since,
        }
