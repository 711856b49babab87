"""Page of the lineage: who descends from whom, as a picture to look around in and as a list.

At most `MOST` programs are drawn, and how many are left out is said. A list is nested as deep as the logarithm of the number of nodes, however long a line
of descent is."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report, wording
from evolve.report import Node
from evolve.types import Fitness, RecordId
from evolve_view.requests import find_record, query_choice, query_number, render_page, with_query

MOST = 2000
_LAYOUTS = {"progress": "fitness over time", "generations": "generations"}
_COLOURS = ("fitness", "operator", "outcome")
_SHADES = 9
"""Steps of the colours of a fitness."""
_HUES = 8
"""Different colours of names; later names share the last one."""
WIDTH, HEIGHT, MARGIN = 1000.0, 560.0, 24.0
_WORST, _FEW = 0.25, 20
"""The share of the fitness values that lie below the axis, where they are drawn at its end: of the worst nobody looks for the best. With fewer values than so many, none."""


@dataclass(frozen=True, slots=True)
class FitnessScale:
    """Scale of a fitness, in the user's direction, from `low` to `high`, which is the better end."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Returns 0 to 1; what is beyond an end is at it."""
        if self.high == self.low:
            return 1.0
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Place of a node: right and down from the upper left corner."""

    x: float
    y: float


@dataclass(slots=True)
class Strand:
    """A line of descent, from the first node that no longer strand has: each is the first parent of the next. `branches` leave it."""

    nodes: list[Node]
    branches: "list[Strand]" = field(default_factory=list)


def find_scale(nodes: Sequence[Node], direction: str) -> FitnessScale | None:
    """Returns the scale of a tree's fitness values; None where no node has one."""
    values = sorted(node.fitness for node in nodes if node.fitness is not None)
    if not values:
        return None
    cut = int(len(values) * _WORST) if len(values) >= _FEW else 0
    return FitnessScale(values[cut], values[-1]) if direction == "max" else FitnessScale(values[-1 - cut], values[0])


def place_by_progress(nodes: Sequence[Node], found: FitnessScale | None) -> dict[RecordId, NodePlace]:
    """Places nodes from left to right as they were made, the fitter the higher; one without a fitness lies below."""
    last = max((node.record for node in nodes), default=1)
    return {
        node.record: NodePlace(_across((node.record - 1) / max(1, last - 1)), _height(node, found)) for node in nodes
    }


def _height(node: Node, found: FitnessScale | None) -> float:
    if node.fitness is None or found is None:
        return HEIGHT - MARGIN / 2
    return MARGIN + (HEIGHT - 3 * MARGIN) * (1.0 - found.share(node.fitness))


def _across(share: float) -> float:
    return MARGIN + (WIDTH - 2 * MARGIN) * share


def place_by_generation(nodes: Sequence[Node]) -> dict[RecordId, NodePlace]:
    """Places nodes from left to right by generations, brothers below one another, and a parent beside its first child."""
    depths: dict[RecordId, int] = {}
    children = _children(nodes)
    for node in nodes:
        depths[node.record] = depths[node.parent] + 1 if node.parent else 0
    rows = _rows(children)
    deepest, lowest = max(depths.values(), default=1) or 1, max(rows.values(), default=1) or 1
    return {
        record: NodePlace(_across(depth / deepest), MARGIN + (HEIGHT - 2 * MARGIN) * rows[record] / lowest)
        for record, depth in depths.items()
    }


def _children(nodes: Sequence[Node]) -> Mapping[RecordId, list[RecordId]]:
    """Returns the children of each record; those of 0 are the roots."""
    children: dict[RecordId, list[RecordId]] = defaultdict(list)
    for node in nodes:
        children[node.parent].append(node.record)
    return children


def _rows(children: Mapping[RecordId, list[RecordId]]) -> dict[RecordId, int]:
    """Gives each strand a row of its own; walked without recursion, for lines are thousands of generations long."""
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


def find_best_line(nodes: Sequence[Node]) -> tuple[RecordId, ...]:
    """Returns the best and its ancestors, from the root; empty where the best is no node."""
    known = {node.record: node for node in nodes}
    at = next((node.record for node in nodes if node.best), 0)
    line = []
    while at:
        line.append(at)
        at = known[at].parent
    return tuple(reversed(line))


def find_strands(nodes: Sequence[Node]) -> tuple[Strand, ...]:
    """Returns the tree as lines: each goes on with the child that the most descend from, and the others branch off."""
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


@dataclass(frozen=True, slots=True)
class NodeDot:
    """A program where it is drawn: a path of SVG, in classes of the style sheet, and what it is in words."""

    record: RecordId
    path: str
    look: str
    words: str


@dataclass(frozen=True, slots=True)
class LegendKey:
    """A line of the legend."""

    colour: str
    label: str


@dataclass(frozen=True, slots=True)
class TreePicture:
    """The tree as it is drawn: `edges` and `halo` are paths of SVG."""

    dots: tuple[NodeDot, ...]
    edges: str
    best: str
    halo: str
    legend: tuple[LegendKey, ...]


def show_lineage(request: Request) -> Response:
    """Answers with the tree of a campaign, or of the descendants of one record."""
    name = request.path_params["name"]
    layout, colour = query_choice(request, "layout", tuple(_LAYOUTS)), query_choice(request, "colour", _COLOURS)
    root = query_number(request, "root") or 0
    with request.app.state.campaigns.campaign(name) as campaign:
        if root:
            find_record(campaign, root)
        found, fitness = report.tree(campaign, MOST, root or None), campaign.task.fitness
    scale = find_scale(found.nodes, fitness.direction)
    spots = place_by_generation(found.nodes) if layout == "generations" else place_by_progress(found.nodes, scale)
    return render_page(
        request,
        "lineage.html",
        tree=found,
        picture=_draw_tree(found.nodes, spots, _colour_nodes(found.nodes, colour, scale), fitness),
        scale=scale,
        strands=find_strands(found.nodes),
        fitness=fitness,
        ancestor=root,
        layout=layout,
        layouts=_LAYOUTS,
        colour=colour,
        colours=_COLOURS,
        size=(int(WIDTH), int(HEIGHT)),
        link=lambda **changes: with_query(
            request.url.path, {"layout": layout, "colour": colour, "root": root or "", **changes}
        ),
    )


@dataclass(frozen=True, slots=True)
class NodeColours:
    """A class of the style sheet for each node, and what the classes mean where that is no scale."""

    of: Mapping[RecordId, str]
    legend: tuple[LegendKey, ...]


def _colour_nodes(nodes: Sequence[Node], by: str, scale: FitnessScale | None) -> NodeColours:
    if by == "fitness":
        return NodeColours({node.record: _shade(node, scale) for node in nodes}, ())
    words = {node.record: (node.operator or "no operator") if by == "operator" else node.outcome for node in nodes}
    ranked = [word for word, _ in Counter(words.values()).most_common()]
    hues = {word: f"hue{min(place, _HUES - 1)}" for place, word in enumerate(ranked)}
    return NodeColours(
        {record: hues[word] for record, word in words.items()}, tuple(LegendKey(hues[word], word) for word in ranked)
    )


def _draw_tree(
    nodes: Sequence[Node], spots: Mapping[RecordId, NodePlace], colours: NodeColours, fitness: Fitness
) -> TreePicture:
    line = find_best_line(nodes)
    return TreePicture(
        dots=tuple(_draw_node(node, spots[node.record], colours.of[node.record], fitness) for node in nodes),
        edges="".join(_draw_edge(spots[node.parent], spots[node.record]) for node in nodes if node.parent),
        best="".join(_draw_edge(spots[one], spots[two]) for one, two in pairwise(line)),
        halo="".join(f"M{at.x:.1f} {at.y:.1f}h0" for at in spots.values()),
        legend=colours.legend,
    )


def _draw_node(node: Node, at: NodePlace, colour: str, fitness: Fitness) -> NodeDot:
    value = node.outcome if node.fitness is None else f"{fitness.name} {wording.number(node.fitness, fitness)}"
    roles = ["holds a place"] * node.elite + ["the best"] * node.best
    words = ", ".join([f"{node.record}: {value}", *([node.operator] if node.operator else []), *roles])
    look = f"dot {colour}{' elite' if node.elite else ''}{' best' if node.best else ''}"
    return NodeDot(node.record, f"M{at.x:.1f} {at.y:.1f}h0", look, words)


def _shade(node: Node, scale: FitnessScale | None) -> str:
    if node.fitness is None or scale is None:
        return "failed"
    return f"shade{min(_SHADES - 1, int(scale.share(node.fitness) * _SHADES))}"


def _draw_edge(one: NodePlace, two: NodePlace) -> str:
    return f"M{one.x:.1f} {one.y:.1f}L{two.x:.1f} {two.y:.1f}"


ROUTES = (Route("/c/{name}/lineage", show_lineage),)
