"""Where the nodes of a lineage tree stand on a page, and the same tree as a list that can be read aloud.

Invariant: pure; a list is nested as deep as the logarithm of the number of nodes, however long a line of descent is."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evolve.report import Node
from evolve.types import RecordId

WIDTH, HEIGHT, MARGIN = 1000.0, 560.0, 24.0
_LOWEST, _FEW = 0.25, 20
"""The share of the fitness values that lie below the axis, where they are drawn at its end: of the worst nobody looks for the best. With fewer values than so many, none."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From a fitness, in the user's direction, to a share of the way from `low` to `high`, which is the better end."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """0 to 1; what is beyond an end is at it."""
        if self.high == self.low:
            return 1.0
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a node stands: right and down from the upper left corner."""

    x: float
    y: float


@dataclass(slots=True)
class Strand:
    """A line of descent, from the first node that no longer strand has: each is the first parent of the next. `branches` leave it."""

    nodes: list[Node]
    branches: "list[Strand]" = field(default_factory=list)


def scale(nodes: Sequence[Node], direction: str) -> Scale | None:
    """The scale of a tree's fitness values; None where no node has one."""
    values = sorted(node.fitness for node in nodes if node.fitness is not None)
    if not values:
        return None
    cut = int(len(values) * _LOWEST) if len(values) >= _FEW else 0
    return Scale(values[cut], values[-1]) if direction == "max" else Scale(values[-1 - cut], values[0])


def by_progress(nodes: Sequence[Node], found: Scale | None) -> dict[RecordId, Spot]:
    """From left to right as they were made, the fitter the higher; who has no fitness lies below."""
    last = max((node.record for node in nodes), default=1)
    return {node.record: Spot(_across((node.record - 1) / max(1, last - 1)), _height(node, found)) for node in nodes}


def _height(node: Node, found: Scale | None) -> float:
    if node.fitness is None or found is None:
        return HEIGHT - MARGIN / 2
    return MARGIN + (HEIGHT - 3 * MARGIN) * (1.0 - found.share(node.fitness))


def _across(share: float) -> float:
    return MARGIN + (WIDTH - 2 * MARGIN) * share


def by_generation(nodes: Sequence[Node]) -> dict[RecordId, Spot]:
    """From left to right by generations, brothers below one another, and a parent beside its first child."""
    depths: dict[RecordId, int] = {}
    children = _children(nodes)
    for node in nodes:
        depths[node.record] = depths[node.parent] + 1 if node.parent else 0
    rows = _rows(children)
    deepest, lowest = max(depths.values(), default=1) or 1, max(rows.values(), default=1) or 1
    return {
        record: Spot(_across(depth / deepest), MARGIN + (HEIGHT - 2 * MARGIN) * rows[record] / lowest)
        for record, depth in depths.items()
    }


def _children(nodes: Sequence[Node]) -> Mapping[RecordId, list[RecordId]]:
    """Of each record; those of 0 are the roots."""
    children: dict[RecordId, list[RecordId]] = defaultdict(list)
    for node in nodes:
        children[node.parent].append(node.record)
    return children


def _rows(children: Mapping[RecordId, list[RecordId]]) -> dict[RecordId, int]:
    """Each strand has a row of its own; walked without recursion, for lines are thousands of generations long."""
    rows: dict[RecordId, int] = {}
    waiting, row = list(reversed(children.get(0, []))), 0
    while waiting:
        record = waiting.pop()
        while True:
            rows[record] = row
            own = children.get(record, [])
            if not own:
                break
            waiting += reversed(own[1:])
            record = own[0]
        row += 1
    return rows


def best_line(nodes: Sequence[Node]) -> tuple[RecordId, ...]:
    """The best and its ancestors, from the root; empty where it is no node."""
    known = {node.record: node for node in nodes}
    at = next((node.record for node in nodes if node.best), 0)
    line = []
    while at:
        line.append(at)
        at = known[at].parent
    return tuple(reversed(line))


def strands(nodes: Sequence[Node]) -> tuple[Strand, ...]:
    """The tree as lines: each goes on with the child that the most descend from, and the others branch off."""
    sizes = {node.record: 1 for node in nodes}
    for node in reversed(nodes):
        if node.parent:
            sizes[node.parent] += sizes[node.record]
    heirs = {
        parent: max(own, key=lambda record: (sizes[record], -record))
        for parent, own in _children(nodes).items()
        if parent
    }
    roots: list[Strand] = []
    member: dict[RecordId, Strand] = {}
    for node in nodes:
        if node.parent and heirs[node.parent] == node.record:
            strand = member[node.parent]
            strand.nodes.append(node)
        else:
            strand = Strand([node])
            (member[node.parent].branches if node.parent else roots).append(strand)
        member[node.record] = strand
    return tuple(roots)
