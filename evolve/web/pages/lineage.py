"""Who descends from whom, as a picture to look around in and as a list.

Invariant: at most `MOST` programs are drawn, and how many are left out is said."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report, wording
from evolve.report import Node
from evolve.types import ConfigError, Fitness, RecordId
from evolve.web import addresses, branches
from evolve.web.branches import Scale, Spot
from evolve.web.rendering import page

MOST = 2000
_LAYOUTS = {"progress": "fitness over time", "generations": "generations"}
_COLOURS = ("fitness", "operator", "outcome")
_SHADES = 9
"""Steps of the colours of a fitness."""
_HUES = 8
"""Different colours of names; later names share the last one."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A program where it is drawn: a path of SVG, in classes of the style sheet, and what it is in words."""

    record: RecordId
    path: str
    look: str
    words: str


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the legend."""

    colour: str
    label: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The tree as it is drawn: `edges` and `halo` are paths of SVG."""

    dots: tuple[Dot, ...]
    edges: str
    best: str
    halo: str
    legend: tuple[Key, ...]


def lineage(request: Request) -> Response:
    """The tree of a campaign, or of the descendants of one record."""
    name = request.path_params["name"]
    layout, colour = _chosen(request, "layout", tuple(_LAYOUTS)), _chosen(request, "colour", _COLOURS)
    root = addresses.asked(request, "root", 0)
    with request.app.state.shelf.campaign(name) as campaign:
        if root:
            addresses.known(campaign, root)
        found, fitness = report.tree(campaign, MOST, root or None), campaign.task.fitness
    scale = branches.scale(found.nodes, fitness.direction)
    spots = branches.by_generation(found.nodes) if layout == "generations" else branches.by_progress(found.nodes, scale)
    return page(
        request,
        "lineage.html",
        tree=found,
        picture=_picture(found.nodes, spots, _colours(found.nodes, colour, scale), fitness),
        scale=scale,
        strands=branches.strands(found.nodes),
        fitness=fitness,
        ancestor=root,
        layout=layout,
        layouts=_LAYOUTS,
        colour=colour,
        colours=_COLOURS,
        size=(int(branches.WIDTH), int(branches.HEIGHT)),
        link=lambda **changes: addresses.with_query(
            request.url.path, {"layout": layout, "colour": colour, "root": root or "", **changes}
        ),
    )


def _chosen(request: Request, key: str, known: Sequence[str]) -> str:
    """A word of the query, the first of the known ones where it is not said; raises `ConfigError`."""
    word = request.query_params.get(key) or known[0]
    if word not in known:
        raise ConfigError(f"{key} is one of {', '.join(known)}, got {word[:40]!r}. Do: name one of them")
    return word


@dataclass(frozen=True, slots=True)
class Colours:
    """A class of the style sheet for each node, and what the classes mean where that is no scale."""

    of: Mapping[RecordId, str]
    legend: tuple[Key, ...]


def _colours(nodes: Sequence[Node], by: str, scale: Scale | None) -> Colours:
    if by == "fitness":
        return Colours({node.record: _shade(node, scale) for node in nodes}, ())
    words = {node.record: (node.operator or "no operator") if by == "operator" else node.outcome for node in nodes}
    ranked = [word for word, _ in Counter(words.values()).most_common()]
    hues = {word: f"hue{min(place, _HUES - 1)}" for place, word in enumerate(ranked)}
    return Colours(
        {record: hues[word] for record, word in words.items()}, tuple(Key(hues[word], word) for word in ranked)
    )


def _picture(nodes: Sequence[Node], spots: Mapping[RecordId, Spot], colours: Colours, fitness: Fitness) -> Picture:
    line = branches.best_line(nodes)
    return Picture(
        dots=tuple(_dot(node, spots[node.record], colours.of[node.record], fitness) for node in nodes),
        edges="".join(_edge(spots[node.parent], spots[node.record]) for node in nodes if node.parent),
        best="".join(_edge(spots[one], spots[two]) for one, two in pairwise(line)),
        halo="".join(f"M{at.x:.1f} {at.y:.1f}h0" for at in spots.values()),
        legend=colours.legend,
    )


def _dot(node: Node, at: Spot, colour: str, fitness: Fitness) -> Dot:
    value = node.outcome if node.fitness is None else f"{fitness.name} {wording.number(node.fitness, fitness)}"
    roles = ["holds a place"] * node.elite + ["the best"] * node.best
    words = ", ".join([f"{node.record}: {value}", *([node.operator] if node.operator else []), *roles])
    look = f"dot {colour}{' elite' if node.elite else ''}{' best' if node.best else ''}"
    return Dot(node.record, f"M{at.x:.1f} {at.y:.1f}h0", look, words)


def _shade(node: Node, scale: Scale | None) -> str:
    if node.fitness is None or scale is None:
        return "failed"
    return f"shade{min(_SHADES - 1, int(scale.share(node.fitness) * _SHADES))}"


def _edge(one: Spot, two: Spot) -> str:
    return f"M{one.x:.1f} {one.y:.1f}L{two.x:.1f} {two.y:.1f}"


ROUTES = (Route("/c/{name}/lineage", lineage),)
