"""Which points no other point is better than: the non-dominated ones, kept up to date one by one.

Members lie in blocks of neighbours with the box that holds each block, so that most blocks are ruled out by their box (the idea of an
ND-tree, Jaszkiewicz and Lust 2016, https://arxiv.org/abs/1603.04798, with its leaves alone).

Invariant: no member covers another. A point covers another one where it is no smaller in any objective, and of equal points the earlier
program's covers the later one's. Who is a member follows from the points alone and not from their order."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

BLOCK = 64
"""A block with more members is split in two."""

Points = npt.NDArray[np.float64]


class Block:
    """Some members that lie together: their numbers, and their points, one row each."""

    def __init__(self, numbers: npt.NDArray[np.intp], points: Points) -> None:
        self.numbers = numbers
        self.points = points

    def coverer(self, number: int, point: Points) -> int | None:
        """A member that covers this point of program `number`."""
        for place in np.flatnonzero((self.points >= point).all(axis=1)).tolist():
            other = int(self.numbers[place])
            if other < number or (self.points[place] != point).any():
                return other
        return None

    def kept(self, mask: npt.NDArray[np.bool_]) -> "Block":
        """The members where `mask` is true."""
        return Block(self.numbers[mask], self.points[mask])

    def with_member(self, number: int, point: Points) -> "Block":
        """These members and one more."""
        return Block(np.append(self.numbers, number), np.vstack([self.points, point]))

    def halves(self) -> tuple["Block", "Block"]:
        """Split across the objective in which the members lie farthest apart."""
        widest = int(np.argmax(np.ptp(self.points, axis=0)))
        order = np.argsort(self.points[:, widest], kind="stable")
        low = np.zeros(len(order), dtype=bool)
        low[order[: len(order) // 2]] = True
        return self.kept(low), self.kept(~low)


class Front:
    """Members are program numbers. Larger is better in every objective."""

    def __init__(self, dimensions: int) -> None:
        self._points: dict[int, Points] = {}
        self._blocks: list[Block] = []
        self._lows = np.empty((0, dimensions))
        self._highs = np.empty((0, dimensions))

    def __len__(self) -> int:
        return len(self._points)

    def __contains__(self, program: int) -> bool:
        return program in self._points

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._points))

    def point(self, program: int) -> Points:
        """The point of a member."""
        return self._points[program]

    def offer(self, program: int, values: Sequence[float]) -> int:
        """A program that is no member claims to be one; returns the member that covers it, itself where it became one."""
        point = np.array(values)
        for place in np.flatnonzero((self._highs >= point).all(axis=1)).tolist():
            coverer = self._blocks[place].coverer(program, point)
            if coverer is not None:
                return coverer
        for place in np.flatnonzero((self._lows <= point).all(axis=1)).tolist()[::-1]:
            self._drop(place, np.all(self._blocks[place].points <= point, axis=1))
        self._insert(program, point)
        return program

    def remove(self, program: int) -> Points:
        """A member leaves; returns the point that it had."""
        point = self._points[program]
        for place in np.flatnonzero(((self._lows <= point) & (self._highs >= point)).all(axis=1)).tolist():
            found = self._blocks[place].numbers == program
            if found.any():
                self._drop(place, found)
                break
        assert program not in self._points, "a member lies in the block whose box holds its point"
        return point

    def _drop(self, place: int, gone: npt.NDArray[np.bool_]) -> None:
        if not gone.any():
            return
        block = self._blocks[place]
        for number in block.numbers[gone].tolist():
            del self._points[number]
        if gone.all():
            self._blocks.pop(place)
            self._lows = np.delete(self._lows, place, axis=0)
            self._highs = np.delete(self._highs, place, axis=0)
        else:
            self._put(place, block.kept(~gone))

    def _insert(self, program: int, point: Points) -> None:
        """Into the block whose box grows least."""
        self._points[program] = point
        if not self._blocks:
            self._add(Block(np.array([program]), point[None, :]))
            return
        growth = np.maximum(self._lows - point, 0.0) + np.maximum(point - self._highs, 0.0)
        place = int(np.argmin(growth.sum(axis=1)))
        block = self._blocks[place].with_member(program, point)
        if len(block.numbers) <= BLOCK:
            self._put(place, block)
            return
        first, second = block.halves()
        self._put(place, first)
        self._add(second)

    def _put(self, place: int, block: Block) -> None:
        self._blocks[place] = block
        self._lows[place] = block.points.min(axis=0)
        self._highs[place] = block.points.max(axis=0)

    def _add(self, block: Block) -> None:
        self._blocks.append(block)
        self._lows = np.vstack([self._lows, block.points.min(axis=0)])
        self._highs = np.vstack([self._highs, block.points.max(axis=0)])
