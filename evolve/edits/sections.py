"""What a reply says around its edits: where one candidate ends and the next begins, the hypothesis, and whether the model refuses.

Invariant: every pattern is anchored and looks at one short line, or at the beginning of the reply."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evolve.edits.answer import Item, Prose

LONGEST_THOUGHT = 500
_LONGEST_TITLE = 200

_TITLE = re.compile(
    r"(?P<mark>#{1,6} *|\*\*|<|=+ *|\[)?(?:candidate|option|solution|variant|version|alternative|"
    r"proposal|approach|program)[ _#]*(?P<which>\d{1,2}|[A-H])\b"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_HYPOTHESIS = re.compile(
    r"[#*_ >-]*(?:hypothesis|thought|idea|rationale|motivation|insight)[*_ ]*(?:[:\u2014][*_ ]*(?P<said>.*)|)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:sure|certainly|of course|okay|ok|great|absolutely|here(?:'s| is| are)|below (?:is|are)|hope|feel free|looking at|let me|let us|"
    r"i(?:'ll| will| have|'ve)|the following)\b.{0,140}",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\W*(?:(?:i'?m|i am) (?:really |very |so )?(?:sorry|afraid|unable|not able)|sorry\b|"
    r"i apologi[sz]e|(?:unfortunately,? )?i (?:can(?:'t|not)|won'?t|will not|must decline|am not able)|as an ai\b|my apologies)",
    re.IGNORECASE,
)


@dataclass
class Section:
    """One candidate of a reply, or the part before the first: its title's own words, and what is in it; `last`: the reply
    ends in it."""

    title: str = ""
    last: bool = False
    items: list[Item] = field(default_factory=list)


def sections(items: Sequence[Item]) -> tuple[Section, ...]:
    """The parts of a reply that hold something else than prose, split where a line says that another candidate begins."""
    found = [Section()]
    for item in items:
        title = _title(item.text) if isinstance(item, Prose) else None
        if title is not None:
            found.append(Section(title))
        else:
            found[-1].items.append(item)
    found[-1].last = True
    return tuple(section for section in found if any(not isinstance(item, Prose) for item in section.items))


def preamble(items: Sequence[Item]) -> tuple[Item, ...]:
    """The words before the first candidate."""
    end = next((n for n, item in enumerate(items) if not isinstance(item, Prose) or _title(item.text) is not None), 0)
    return tuple(items[:end])


def thought(section: Section, before: Sequence[Item]) -> str:
    """The hypothesis that a section states, else its title, else the hypothesis that is stated in `before` it, else the first paragraph in
    it that says something."""
    texts = [item.text for item in section.items if isinstance(item, Prose)]
    general = [item.text for item in before if isinstance(item, Prose)]
    stated = _stated(texts) or section.title or _stated(general) or _paragraph(section.items)
    return _one_line(stated)


def refuses(reply: str) -> bool:
    """Whether a reply without any edit says that the model will not make one."""
    start = reply[:3000].replace("\u2019", "'").lstrip()
    return bool(_REFUSAL.match(start)) or any(_REFUSAL.match(part.strip()) for part in re.split(r"[.!\n]", start[:400]))


def _title(line: str) -> str | None:
    """What a line that begins a candidate says beyond its number; None where it begins none."""
    if len(line) > _LONGEST_TITLE:
        return None
    found = _TITLE.fullmatch(line.strip())
    if not found:
        return None
    rest = found["rest"].strip(" *#:=>]-\u2014\u2013.")
    bare = found["rest"][:1] in ("", ":", "*", ".", ")") or found["rest"].lstrip()[:1] in (
        "-",
        "\u2014",
        "\u2013",
        ":",
        "(",
    )
    return rest if bare or found["mark"] else None


def _stated(texts: Sequence[str]) -> str:
    """The first hypothesis in tags, or behind its word."""
    whole = "\n".join(texts)
    for tag in ("hypothesis", "thought"):
        _, opened, rest = whole.partition(f"<{tag}>")
        if opened:
            return rest.partition(f"</{tag}>")[0]
    for index, text in enumerate(texts):
        found = _HYPOTHESIS.fullmatch(text.strip()) if len(text) < 4_000 else None
        if found:
            said = (found["said"] or "").strip(" *_")
            return " ".join([said, *_until_blank(texts[index + 1 :], skip=not said)])
    return ""


def _until_blank(texts: Sequence[str], *, skip: bool) -> Iterator[str]:
    """The lines of a paragraph; `skip`: blank ones may come before it."""
    for text in texts[:40]:
        if not text.strip():
            if skip:
                continue
            return
        skip = False
        yield text


def _paragraph(items: Sequence[Item]) -> str:
    """The first paragraph that says more than that an edit follows."""
    texts = [item.text if isinstance(item, Prose) else "" for item in items]
    paragraph: list[str] = []
    for text in [*texts, ""]:
        if text.strip():
            paragraph.append(text.strip())
        elif paragraph:
            said = " ".join(paragraph)
            if (
                not _GREETING.fullmatch(said)
                and not said.endswith(":")
                and any(character.isalpha() for character in said)
            ):
                return said
            paragraph = []
    return ""


def _one_line(text: str) -> str:
    said = " ".join(text[: 4 * LONGEST_THOUGHT].split()).strip("*_ ")
    return said if len(said) <= LONGEST_THOUGHT else f"{said[: LONGEST_THOUGHT - 4]} ..."
