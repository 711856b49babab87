"""Page of the lineage: the tree that first parents make of programs, drawn from left to right as they were made, the fitter the higher.

It begins with the best's ancestors and what else was tried on each of them; all programs are there on demand. At most `NEAR` or `MOST` programs are drawn, each with all its ancestors,
and the page says how many are left out. Where the best alone has more ancestors than that, the nearest are drawn."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report, wording
from evolve.campaign import Campaign
from evolve.types import Direction, Fitness, ProgramId, RecordId
from evolve_view.dots import COLOURS, NOBODY, find_hues
from evolve_view.requests import query_choice, render_page

MOST, NEAR = 2000, 400
"""Programs that are drawn of all, and of those around the best."""
PARTS = ("best", "all")
"""What is drawn: the best's ancestors with their siblings, or the fittest of all."""
WIDTH, HEIGHT, MARGIN = 1000.0, 560.0, 24.0
_FAR = 3.0
"""Times the height of the others that the best's ancestors may take."""
_WORST, _FEW = 0.25, 20
"""Share of the fitness values that lie below the axis, where they are drawn at its end: of the worst nobody looks for the best. With fewer values than so many, none."""


@dataclass(frozen=True, slots=True)
class Node:
    """A program by its first record, and its first parent, 0 for a root; `fitness` is in the user's direction."""

    record: RecordId
    parent: RecordId
    fitness: float | None
    outcome: str
    operator: str
    is_elite: bool
    is_best: bool


@dataclass(frozen=True, slots=True)
class LineageTree:
    """Nodes in the order of their records, so that a parent is before its children; each node's parent is a node, too. `left_out` counts the programs
    that are no node, `older` the best's ancestors among them."""

    nodes: tuple[Node, ...]
    left_out: int
    older: int = 0


def read_tree(campaign: Campaign, most: int, part: str = "all") -> LineageTree:
    """Returns the tree of one of `PARTS`: of the best programs, the elites first and then whoever is fitter, or of those around the best; each with all its ancestors, until
    there are `most`. Of a best with more ancestors, the nearest take half of the places, and the oldest of these has no parent."""
    programs, first = campaign.state.columns.programs, campaign.state.columns.first_records()
    parents, older = _read_parents(campaign, first), 0
    elites = {elite.program for elite in campaign.state.archive.elites()}
    order = (report.frame(campaign).best_first() + 1).tolist()
    ranked, best = [record for record in order if record in parents], campaign.state.archive.best
    if best is not None and len(line := list(_ascend(first[best.program], parents))) > most:
        parents[line[most // 2]], older = 0, len(line) - most // 2 - 1
    if part == PARTS[0] and best is not None:
        ranked = _rank_family(ranked, parents, first[best.program])
    else:
        ranked.sort(key=lambda record: programs[record - 1] not in elites)
    chosen = _choose(ranked, parents, most)
    nodes = tuple(_make_node(campaign, record, parents[record], elites) for record in sorted(chosen))
    return LineageTree(nodes, len(parents) - len(nodes), older)


def _ascend(
    record: RecordId, parents: Mapping[RecordId, RecordId], until: Set[RecordId] = frozenset()
) -> Iterator[RecordId]:
    """Yields a record, its parent, and so on to the root, or to below the first that is in `until`."""
    while record and record not in until:
        yield record
        record = parents[record]


def _rank_family(ranked: Sequence[RecordId], parents: Mapping[RecordId, RecordId], best: RecordId) -> list[RecordId]:
    """Returns a program, its ancestors, and the other children of all of these: the fittest child of each first, then the second of each."""
    line = dict.fromkeys(_ascend(best, parents))
    counts = defaultdict[RecordId, int](int)
    siblings = []
    for record in ranked:
        parent = parents[record]
        if parent in line and record not in line:
            siblings.append((counts[parent], record))
            counts[parent] += 1
    # A sort that is stable keeps the fitter of equal places before the others.
    return [*line, *(record for _, record in sorted(siblings, key=lambda each: each[0]))]


def _read_parents(campaign: Campaign, first: Mapping[ProgramId, RecordId]) -> dict[RecordId, RecordId]:
    """Returns the first parent of each program, both by their first records."""
    columns = campaign.state.columns
    found = {}
    for record in first.values():
        parents = columns.parents[record - 1]
        # The parent that a step names may be a measurement of the program, which is no node.
        program = columns.programs[parents[0] - 1] if parents else None
        found[record] = first[program] if program else 0
    return found


def _choose(ranked: Sequence[RecordId], parents: Mapping[RecordId, RecordId], most: int) -> set[RecordId]:
    """Returns as many records as there may be; a line of ancestors that has no room is left out as a whole."""
    chosen: set[RecordId] = set()
    for record in ranked:
        if len(chosen) >= most:
            break
        line = set(_ascend(record, parents, until=chosen))
        if len(chosen) + len(line) <= most:
            chosen |= line
    return chosen


def _make_node(campaign: Campaign, record: RecordId, parent: RecordId, elites: set[ProgramId]) -> Node:
    history, best = campaign.state.history, campaign.state.archive.best
    fitness, program = history.fitness(record), history.program_id(record)
    return Node(
        record=record,
        parent=parent,
        fitness=None if fitness is None else campaign.task.fitness.shown(fitness),
        outcome=history.outcome(record).value,
        operator=history.operator(record),
        is_elite=program in elites,
        is_best=best is not None and program == best.program,
    )


@dataclass(frozen=True, slots=True)
class FitnessScale:
    """Scale of a fitness, in the user's direction, from `low` to `high`, which is the better end."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Returns 0 to 1; a value beyond an end is at it."""
        if self.high == self.low:
            return 1.0
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def find_scale(nodes: Sequence[Node], direction: Direction, line: Set[RecordId] = frozenset()) -> FitnessScale | None:
    """Returns the scale of a tree's fitness values; None where no node has one. It reaches as far as the nodes of a `line`, unless these would press the others flat."""
    values = sorted(node.fitness for node in nodes if node.fitness is not None)
    if not values:
        return None
    cut = int(len(values) * _WORST) if len(values) >= _FEW else 0
    best = values[-1] if direction == "max" else values[0]
    low = values[cut] if direction == "max" else values[-1 - cut]
    among = [node.fitness for node in nodes if node.record in line and node.fitness is not None]
    worst = max([low, *among], key=lambda value: abs(best - value))
    return FitnessScale(worst if abs(best - worst) <= _FAR * abs(best - low) else low, best)


def place_nodes(nodes: Sequence[Node], scale: FitnessScale | None) -> dict[RecordId, tuple[float, float]]:
    """Returns where each node is drawn, right and down from the upper left corner; one without a fitness lies below."""
    last = max((node.record for node in nodes), default=1)
    return {
        node.record: (MARGIN + (WIDTH - 2 * MARGIN) * (node.record - 1) / max(1, last - 1), _find_height(node, scale))
        for node in nodes
    }


def _find_height(node: Node, scale: FitnessScale | None) -> float:
    if node.fitness is None or scale is None:
        return HEIGHT - MARGIN / 2
    return MARGIN + (HEIGHT - 3 * MARGIN) * (1.0 - scale.share(node.fitness))


def find_best_line(nodes: Sequence[Node]) -> set[RecordId]:
    """Returns the best and its ancestors; nothing where the best is no node."""
    parents = {node.record: node.parent for node in nodes}
    return set(_ascend(next((node.record for node in nodes if node.is_best), 0), parents))


@dataclass(frozen=True, slots=True)
class NodeDot:
    """A program where it is drawn: a path of SVG, in classes of the style sheet, and its description."""

    record: RecordId
    path: str
    look: str
    words: str


@dataclass(frozen=True, slots=True)
class TreePicture:
    """The tree as it is drawn: `edges`, those of the `best` line, and `halo` are paths of SVG; `legend` names the operator of each colour."""

    dots: tuple[NodeDot, ...]
    edges: str
    best: str
    halo: str
    legend: Mapping[str, str]


def draw_tree(
    nodes: Sequence[Node], scale: FitnessScale | None, fitness: Fitness, hues: Mapping[str, str]
) -> TreePicture:
    """Returns the picture of a tree, its dots coloured by their operators as `hues` says."""
    places, line = place_nodes(nodes, scale), find_best_line(nodes)
    shown = {node.operator or NOBODY["operator"] for node in nodes}
    edges = [(node, _draw_edge(places[node.parent], places[node.record])) for node in nodes if node.parent]
    return TreePicture(
        dots=tuple(
            _draw_node(node, places[node.record], hues[node.operator or NOBODY["operator"]], fitness) for node in nodes
        ),
        edges="".join(path for _, path in edges),
        best="".join(path for node, path in edges if node.record in line),
        halo="".join(_draw_point(place) for place in places.values()),
        legend={operator: hue for operator, hue in hues.items() if operator in shown},
    )


def _draw_point(place: tuple[float, float]) -> str:
    return f"M{place[0]:.1f} {place[1]:.1f}h0"


def _draw_edge(one: tuple[float, float], two: tuple[float, float]) -> str:
    return f"M{one[0]:.1f} {one[1]:.1f}L{two[0]:.1f} {two[1]:.1f}"


def _draw_node(node: Node, place: tuple[float, float], hue: str, fitness: Fitness) -> NodeDot:
    value = node.outcome if node.fitness is None else f"{fitness.name} {wording.number(node.fitness, fitness)}"
    roles = ["holds a place"] * node.is_elite + ["the best"] * node.is_best
    words = ", ".join([f"{node.record}: {value}", *([node.operator] if node.operator else []), *roles])
    look = f"dot {hue}{' elite' if node.is_elite else ''}{' best' if node.is_best else ''}"
    return NodeDot(node.record, _draw_point(place), look, words)


def show_lineage(request: Request) -> Response:
    """Answers with the tree of a campaign: around its best program, or with `?show=all` of all."""
    part = query_choice(request, "show", PARTS)
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        most = MOST if part == PARTS[-1] else min(NEAR, MOST)
        tree, fitness = read_tree(campaign, most, part), campaign.task.fitness
        hues = find_hues(campaign, np.flatnonzero(report.frame(campaign).flag_attempts()), COLOURS[0])
    line = find_best_line(tree.nodes) if part == PARTS[0] else frozenset[RecordId]()
    scale = find_scale(tree.nodes, fitness.direction, line)
    return render_page(
        request,
        "lineage.html",
        tree=tree,
        picture=draw_tree(tree.nodes, scale, fitness, hues),
        scale=scale,
        fitness=fitness,
        size=(int(WIDTH), int(HEIGHT)),
        part=part,
    )


ROUTES = (Route("/c/{name}/lineage", show_lineage),)
