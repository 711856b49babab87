"""New text that stands for other text: `...`, `# rest of the code unchanged`. Programs with such a line in them are never made.

Invariant: a line that the program has already is none; every pattern is anchored at both ends of a short line."""

import re
from collections.abc import Callable, Collection, Sequence

_LONGEST = 160
_CODE = (
    r"(?:codes?|functions?|methods?|class|classes|implementations?|program|file|logic|body|lines?|blocks?|helpers?|imports?|"
    r"definitions?|section|parts?|contents?|loop|\w+\([\w, .]*\))"
)
_REST = r"(?:the |all |any |your |of |this |that |from |above |below |and |in |for |my )*"
_LEFT = r"(?:rest|remainder|remaining|existing|unchanged|omitted)"
_OTHER = r"(?:other|others|previous|original|same|old|preceding|following|current|initial)"
_OF = rf"(?: (?:of|in) {_REST}\w+)?[ ,.:;-]*"
_STAYS = (
    r"(?:\(?(?:is|are|was|remains?|stays?|goes|kept|left|continues?|stay|keep|be|here|exactly|completely|the|same|"
    r"unchanged|untouched|identical|unmodified|omitted|elided|truncated|not shown|as|before|above|below|is|it|in|for|brevity|original|to|version|previous|from|of|file|code|now|etc|parent|program|this|line)[ ,.;]*)"
)
_WORDS = re.compile(
    rf"(?:keep |insert |include |see |with |and |use |add )*{_REST}(?:"
    rf"{_LEFT} {_REST}(?:{_OTHER} )?(?:\w+ )?{_CODE}{_OF}{_STAYS}{{0,8}}"
    rf"|{_OTHER} {_REST}(?:{_LEFT} )?(?:\w+ )?{_CODE}{_OF}{_STAYS}{{1,8}}"
    rf"|(?:helper )?{_CODE} {_STAYS}{{1,8}}"
    rf"|(?:{_LEFT}|others) (?:as|of|is|remains|stays|unchanged|omitted|goes)[ ]?{_STAYS}{{0,6}}"
    rf"|(?:everything|all) (?:else|below|above) {_STAYS}{{1,8}}"
    rf"|(?:no changes?|snip|unchanged|not changed|omitted|not shown|same as|as before|as above|etc)[ .,:]*{_STAYS}{{0,6}}"
    rf"|(?:code|implementation|body|logic) (?:goes |comes )?here[ .]*"
    r")",
    re.IGNORECASE,
)
_TELLING = re.compile(r"\b(?:rest|remain\w*|existing|unchanged|omitted|elided|truncated|snip)\b", re.IGNORECASE)
_TELLING_BETWEEN = re.compile(r"\b(?:previous|other|original|same|before|here|above|below|code|keep)\b", re.IGNORECASE)
"""Said between dots, or in brackets."""
_COMMENT = re.compile(r"(?:#+|//+|--+|/\*+|<!--|;+|%+|\[|\(|<)[ \t]*(?P<said>.*?)[ \t]*(?:\*+/|-->|\]|\)|>)?")
_DOTS = re.compile(r"(?:\.{3,}|…)")
_EMPTY = re.compile(
    rf"(?:pass|raise NotImplementedError(?:\(.*\))?)\s*#+\s*{_REST}(?:{_LEFT}|{_OTHER}) {_REST}(?:\w+ )?{_CODE}\b.*",
    re.IGNORECASE,
)
"""A body that does nothing, with the word that something was there."""
_DEFINES = re.compile(r"(?:async )?(?:def|class) (\w+)")
_STUB = re.compile(r"(?:async )?(?:def|class) (?P<name>\w+)\b.*:[ \t]*(?:\.\.\.|…)[ \t]*(?:#.*)?")


def elision(lines: Sequence[str], kept: Callable[[], Collection[str]]) -> str:
    """The first line that stands for what it leaves out; empty where none does. `kept` gives the lines of the program as it is, without
    the blanks around them; it is asked where a line looks like one."""
    for line in lines:
        text = line.strip()
        if text and len(text) <= _LONGEST and _may_leave_out(text) and _leaves_out(text, kept()):
            return text
    return ""


def _leaves_out(text: str, kept: Collection[str]) -> bool:
    """Whether a line that looks like it does: not where the program has it already, and a stub only of what the program defines."""
    stub = _STUB.fullmatch(text)
    if stub:
        return text not in kept and stub["name"] in {found[1] for line in kept if (found := _DEFINES.match(line))}
    return text not in kept


def _may_leave_out(text: str) -> bool:
    """Whether a short line looks as if it did."""
    if _DOTS.fullmatch(text) or _STUB.fullmatch(text) or _EMPTY.fullmatch(text):
        return True
    comment = _COMMENT.fullmatch(text)
    if comment:
        return _stands_for_code(comment["said"])
    return bool(_DOTS.match(text)) and _stands_for_code(text)


def _stands_for_code(said: str) -> bool:
    """`... existing code ...`, `rest of the code unchanged`."""
    words = _DOTS.sub(" ", said).strip(" .-\u2013\u2014()[]{}:*")
    if not words:
        return bool(_DOTS.search(said))
    if _WORDS.fullmatch(words):
        return True
    bracketed = said[:1] in ("[", "<")
    begins, ends = bool(_DOTS.match(said)) or bracketed, said.endswith(("...", "\u2026")) or bracketed
    told = _TELLING.search(words) or (ends and _TELLING_BETWEEN.search(words))
    return begins and bool(told) and len(words.split()) <= 12
