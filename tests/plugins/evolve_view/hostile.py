"""A campaign in which everything that can be a text is written to become part of a page, and what must be true of the pages that show it."""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from evolve.campaign import Campaign
from evolve.campaign.inbox import PERSON
from evolve.types import (
    Anchor,
    Axis,
    Call,
    Case,
    Constraint,
    Evaluation,
    Fitness,
    Lesson,
    LessonWritten,
    MachineMeasured,
    Objective,
    Origin,
    Outcome,
    Part,
    Program,
    Ruled,
)
from tests.written import Written, number_task

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>{{ 7 * 7 }}{% raw %}]]>-->&lt;&#0;\x1b[31m\u202e"
"""Breaks out of an attribute, an element, a comment, a CDATA section, a template, a terminal; `&lt;` must be read as five signs."""
FILE = f"a{EVIL.replace('/', '|')}.py"
LOCAL = ("/", "#", "?")
"""How an address begins that leads to a page of the same server."""
_LINKS = frozenset({"src", "href", "action", "formaction", "data", "poster", "srcset", "hx-get", "hx-post"})
_FORBIDDEN = frozenset({"style", "iframe", "object", "embed", "base", "frame", "foreignobject"})


def hostile_campaign(home: Path, name: str = "hostile") -> Campaign:
    """Nine records: the seed, two that passed, failures with feedback, one that is quarantined, a certificate; calls of models,
    lessons of a model and of a person."""
    task = number_task(
        name=f"task {EVIL}",
        brief=f"Find {EVIL}",
        fitness=Fitness(f"fitness {EVIL}", "max", 6),
        axes=(Axis(f"size {EVIL}", 0, 10, 5), Axis(f"depth {EVIL}", 0, 10, 5)),
        anchors=(Anchor(8.0, f"by {EVIL}", 2025, f"javascript:alert(4)//{EVIL}"), Anchor(3.0, f"early {EVIL}")),
        objectives=(Objective(f"length {EVIL}"), Objective("seconds", "min")),
        constraints=(Constraint(f"memory {EVIL}", at_most=200.0),),
        held_out=(Case(f"case {EVIL}"),),
    )
    written = _Hostile(home, task, name)
    written.machine()
    written.seed(5.0, **_fields(5.0))
    written.evaluated(6.0)
    written.evaluated(7.0)
    for outcome in (Outcome.CRASHED, Outcome.INVALID, Outcome.WRONG, Outcome.SCREENED):
        written.failed(outcome)
    written.evaluated(9.0, tag=f"late {EVIL}")
    written.certificate(3, 7.0)
    written.said()
    return written.campaign


def _fields(value: float) -> dict[str, object]:
    return {
        "descriptors": {f"size {EVIL}": value, f"depth {EVIL}": value / 2},
        "objectives": {f"length {EVIL}": value, "seconds": -value},
        "metrics": {f"memory {EVIL}": 1.0, f"metric {EVIL}": value},
        "isolation": f"reduced: {EVIL}",
        "device": f"device {EVIL}",
    }


class _Hostile(Written):
    def machine(self) -> None:
        """The machine's name is hostile, too."""
        with self.campaign.log.transaction():
            self.campaign.write(MachineMeasured(f"core {EVIL}", 0.0, f"reduced: {EVIL}"))

    def evaluated(self, value: float, **fields: object) -> None:
        """A child whose program, thought, feedback and artifacts are hostile, made by a model of such a name."""
        self.called(self._call(), operator=f"diff {EVIL}")
        with self.campaign.log.transaction():
            feedback = self.campaign.log.put_text(f"feedback {EVIL}")
            artifact = self.campaign.log.put_text(f'"artifact {EVIL}"')
        found = self._ok(value, **_fields(value), feedback=feedback, artifacts={f"artifact {EVIL}": artifact})
        self._record(Program({"seed.py": f"# {value} {EVIL}\n", FILE: f"{EVIL}\ud800"}), replace(found, **fields))

    def failed(self, outcome: Outcome) -> None:
        """A child that failed with hostile feedback."""
        with self.campaign.log.transaction():
            feedback = self.campaign.log.put_text(f"{outcome} {EVIL}\nand more {EVIL}")
        program = None if outcome is Outcome.SCREENED else Program({"seed.py": f"# {outcome} {EVIL}\n"})
        self._record(program, Evaluation.failed(outcome, feedback, isolation=f"reduced: {EVIL}"))

    def said(self) -> None:
        """Lessons, and a ruling by a person."""
        quarantined = self.campaign.log.settled(8).record.program
        with self.campaign.log.transaction():
            self.campaign.write(LessonWritten(Lesson(f"lesson {EVIL}", "reflect", 2)))
            self.campaign.write(LessonWritten(Lesson(f"hint {EVIL}", PERSON)))
            self.campaign.write(Ruled("quarantine", quarantined, PERSON, f"why {EVIL}"))

    def _record(self, program: Program | None, evaluation: Evaluation) -> None:
        best = self.next - 1 if self.next < 4 else 2
        origin = Origin("proposal", self.next, operator=f"diff {EVIL}", model=f"model {EVIL}", parents=(best,))
        self._settle(origin, program, evaluation, f"thought {EVIL}")

    def _call(self) -> Call:
        with self.campaign.log.transaction():
            put = self.campaign.log.put_text
            return Call(
                f"model {EVIL}",
                purpose="propose",
                revision=f"revision {EVIL}",
                prompt=(
                    Part("system", f"role {EVIL}", put(f"system {EVIL}")),
                    Part("user", "task", put(f"ask {EVIL}")),
                ),
                request=f"{self.next:064x}",
                reply=put(f"reply {EVIL}"),
                thinking=put(f"thinking {EVIL}"),
                prompt_tokens=100,
                completion_tokens=50,
                seconds=1.0,
                cost=0.01,
            )


class _Reader(HTMLParser):
    """Finds in a page what only a broken escape could have put there, or what its policy forbids."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.text: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _FORBIDDEN:
            self.wrong.append(f"<{tag}>")
        if tag == "script":
            self._script = True
            if not values.get("src", "").startswith("/static/"):
                self.wrong.append("a script that is in the page")
        for name, value in values.items():
            if name.startswith(("on", "hx-on")) or name == "style":
                self.wrong.append(f"the attribute {name} of <{tag}>")
            if name in _LINKS and not self._is_local(tag, name, value):
                self.wrong.append(f"{name}={value!r} of <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self._script = self._script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._script and data.strip():
            self.wrong.append("a script's text")
        self.text.append(data)
        if any(sign in data for sign in "\x1b\u202e\0"):
            self.wrong.append(f"what nobody sees, in {data[:60]!r}")

    @staticmethod
    def _is_local(tag: str, name: str, value: str) -> bool:
        picture = tag == "img" and name == "src" and value.startswith("data:image/svg+xml;base64,")
        return picture or value == "" or (value.startswith(LOCAL) and not value.startswith(("//", "/\\")))


def wrong_in(page: str) -> list[str]:
    """What is wrong in a page of HTML; nothing where every text of the campaign is escaped."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.wrong


def text_of(page: str) -> str:
    """What a person reads in a page, with a space between elements."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return " ".join(reader.text)
