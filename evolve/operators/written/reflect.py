"""`reflect`: a model reads what was proposed of late, and writes lessons for the prompts to come.

Invariant: a lesson is one line that no earlier lesson says; the step makes no program."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import Field

from evolve.operators.written.room import room
from evolve.operators.written.settings import AskingSettings
from evolve.prompts import build
from evolve.protocols import Context
from evolve.types import Child, Selection

REFLECT = "reflect"
_LONGEST = 500
_BULLET = re.compile(r"\s{0,3}(?:[-*•]|\d{1,2}[.)])\s+(?=\S)")


class ReflectSettings(AskingSettings):
    """Settings of `reflect`."""

    most: int = Field(default=5, ge=1, le=50)
    """Lessons of one reply, at most."""


class Reflect:
    """Lessons from the last proposals, by one call."""

    def __init__(self, settings: ReflectSettings) -> None:
        self._settings = settings

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """One child without a program, with the lessons; raises `ModelError` where there is no answer."""
        settings, caller = self._settings, context.model(REFLECT)
        space = room(settings, caller, context.prompt_tokens)
        prompt = replace(
            build(REFLECT, selection, context, tokens=space.prompt, values={"most": str(settings.most)}),
            temperature=settings.temperature,
            effort=settings.effort,
            max_tokens=space.answer,
        )
        found = lessons(caller.complete(prompt)[0].text, [lesson.text for lesson in context.lessons])[: settings.most]
        thought = f"it wrote {len(found)} lesson{'s' * (len(found) != 1)}" if found else "its reply has no new lesson"
        return [Child(None, thought, tuple(found))]


def lessons(reply: str, known: Sequence[str]) -> list[str]:
    """The items of the reply's list, each once and on one line, without those that are known."""
    found, seen = list[str](), {_plain(text) for text in known}
    for item in _items(reply):
        text = " ".join(item.split())
        text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
        if text and _plain(text) not in seen:
            seen.add(_plain(text))
            found.append(text)
    return found


def _items(reply: str) -> Iterator[str]:
    """What stands behind each bullet or number, with the lines that go on with it."""
    item: list[str] = []
    for line in [*reply.splitlines(), ""]:
        bullet = _BULLET.match(line)
        if item and (bullet or not line.strip()):
            yield " ".join(item)
            item = []
        if bullet:
            item = [line[bullet.end() :]]
        elif item:
            item.append(line)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
