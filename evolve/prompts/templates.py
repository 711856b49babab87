"""Templates of prompts: Markdown files with `{{placeholders}}`, of which a task or a campaign may bring its own.

A template that passes `check` can be filled; what is filled in is never read as a template."""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evolve.types import ConfigError
from evolve.types.errors import did_you_mean

KINDS = ("diff", "rewrite", "crossover", "fix", "sample", "reflect")
"""Kinds of requests: each is a template with the layout of one."""
ITEMS = (
    "rules",
    "context",
    "state",
    "lessons",
    "lineage",
    "ideas",
    "others",
    "partners",
    "feedback",
)
"""Sections that are lists of `{{items}}`, of which those that do not fit are left out."""
FORMS = ("edits", "files")
"""Sections about the form of an answer."""
_STABLE = ("task", "rules", "context", "sections")
_TOLD = (*ITEMS[2:], "parent", *FORMS)
SECTIONS = frozenset({*_STABLE, *_TOLD})
"""Placeholders that stand for a whole section: each on a line of its own."""
_WORDS = ("number", "inside", "path", "others_names", "advice", "most")
PLACES: Mapping[str, frozenset[str]] = {
    "system": frozenset(_STABLE),
    **{kind: frozenset({*_TOLD, *_WORDS}) for kind in KINDS},
    "task": frozenset({"name", "brief"}),
    **{name: frozenset({"items", "number"}) for name in ITEMS},
    **{name: frozenset({"number", "inside", "path"}) for name in FORMS},
    "parent": frozenset({"number", "status", "changeable", "program"}),
    "repair": frozenset({"reason"}),
}
"""Every template, with the placeholders that it may have."""
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "system": ("task",),
    **dict.fromkeys(KINDS, ("feedback", "parent")),
    "crossover": ("feedback", "parent", "partners"),
    "reflect": ("ideas",),
    "task": ("brief",),
    **dict.fromkeys(ITEMS, ("items",)),
    **dict.fromkeys(FORMS, ()),
    "parent": ("program",),
    "repair": ("reason",),
}
_PLACE = re.compile(r"\{\{[ \t]*([^{}\n]*?)[ \t]*\}\}")
_FOLDER = Path(__file__).resolve().parents[1] / "prompts"
_REMEDY = "docs/operators.md tells what each template may say"


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A text with places in it: `literals` before, between and after the places that `names` name."""

    literals: tuple[str, ...]
    names: tuple[str, ...]

    def fill(self, values: Mapping[str, str]) -> str:
        """Returns the text with a value in each place."""
        found = [self.literals[0]]
        for name, literal in zip(self.names, self.literals[1:], strict=True):
            found += (values[name], literal)
        return "".join(found)


@functools.cache
def list_bundled() -> Mapping[str, str]:
    """Returns the engine's own templates by name."""
    return {path.stem: path.read_text("utf-8") for path in sorted(_FOLDER.glob("*.md"))}


def find_template(name: str, templates: Mapping[str, str]) -> PromptTemplate:
    """Returns the template of a name: that of `templates`, else the engine's; raises `ConfigError` where there is none."""
    if name not in templates and name not in PLACES:
        raise ConfigError(
            f"no prompt is called {name!r}.{did_you_mean(name, KINDS)} Try: name one of {', '.join(KINDS)}"
        )
    return _parse_checked(name, templates[name]) if name in templates else parse_template(list_bundled()[name])


@functools.lru_cache(maxsize=256)
def _parse_checked(name: str, text: str) -> PromptTemplate:
    check({name: text})
    return parse_template(text)


@functools.lru_cache(maxsize=256)
def parse_template(text: str) -> PromptTemplate:
    """Returns a text as a template."""
    pieces = _PLACE.split(text.strip())
    return PromptTemplate(tuple(pieces[0::2]), tuple(pieces[1::2]))


@functools.lru_cache(maxsize=256)
def split_layout(template: PromptTemplate) -> tuple[str | PromptTemplate, ...]:
    """Returns a layout's parts in their order: the names of sections, and the texts between them."""
    found: list[str | PromptTemplate] = []
    literals, names = [template.literals[0]], list[str]()
    for name, literal in zip(template.names, template.literals[1:], strict=True):
        if name in SECTIONS:
            found += (_cut_between(literals, names), name)
            literals, names = [literal], []
        else:
            names.append(name)
            literals.append(literal)
    found.append(_cut_between(literals, names))
    return tuple(part for part in found if isinstance(part, str) or part.names or part.literals[0])


def _cut_between(literals: list[str], names: list[str]) -> PromptTemplate:
    """Returns the template between two sections, without the empty lines around it."""
    whole = [*literals]
    whole[0], whole[-1] = whole[0].lstrip(), whole[-1].rstrip() if len(whole) > 1 else whole[-1].strip()
    return PromptTemplate(tuple(whole), tuple(names))


def check(templates: Mapping[str, str]) -> None:
    """Raises `ConfigError` for a name that no template has, and for a template that lacks a place or has one that nothing fills."""
    for name, text in templates.items():
        if name not in PLACES:
            raise ConfigError(
                f"no prompt template is called {name!r}.{did_you_mean(name, PLACES)} Try: name the file so; {_REMEDY}"
            )
        _check_places(name, parse_template(text))
        _check_lines(name, text)


def _check_places(name: str, template: PromptTemplate) -> None:
    for place in template.names:
        if place not in PLACES[name]:
            raise ConfigError(
                f"the prompt template {name!r} has the placeholder '{{{{{place}}}}}', which nothing fills."
                f"{did_you_mean(place, PLACES[name])} Try: correct it; {_REMEDY}"
            )
    for place in _NEEDED[name]:
        if place not in template.names:
            raise ConfigError(
                f"the prompt template {name!r} has no '{{{{{place}}}}}', which a model must read. Try: write it where that shall stand; {_REMEDY}"
            )


def _check_lines(name: str, text: str) -> None:
    for line in text.splitlines():
        places = _PLACE.findall(line)
        if SECTIONS & PLACES[name] & set(places) and not _PLACE.fullmatch(line.strip()):
            raise ConfigError(
                f"the prompt template {name!r} has a section among other words: {line.strip()[:80]!r}. Try: give its placeholder a line of its own"
            )


def from_folder(folder: Path) -> Mapping[str, str]:
    """Returns the templates that a folder holds, by the names of its files; raises `ConfigError` for a folder that cannot be read, for one that
    has none, and for what `check` refuses."""
    try:
        found = {path.stem: path.read_text("utf-8") for path in _list_files(folder)}
    except OSError as error:
        raise ConfigError(
            f"{folder}: the prompt templates cannot be read: {error.strerror}. Try: check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{folder}: a prompt template is no text in UTF-8: {error}. Try: save it as UTF-8") from error
    if not found:
        raise ConfigError(f"{folder}: there is no prompt template. Try: write one, such as diff.md; {_REMEDY}")
    try:
        check(found)
    except ConfigError as error:
        raise ConfigError(f"{folder}: {error}") from error
    return found


def _list_files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix == ".md" and path.stem != "README")
