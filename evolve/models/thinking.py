"""What a model thinks aloud, parted from what it answers.

Invariant: only what stands before the answer's first fence or edit is looked at, so that a program which speaks of tags is never cut."""

import re

_OPEN = re.compile(r"[ \t]*<(think|thinking|reasoning)>")
_CLOSE = re.compile(r"</(?:think|thinking|reasoning)>")
_ANSWER = re.compile(r"[ \t]*(?:```|~~~|<<<<)")


def parted(text: str) -> tuple[str, str]:
    """The thinking and the answer. A block that never ends is all thinking; a closing tag without an opening one ends thinking that
    began with the prompt, as some chat templates have it. Linear in the text's length."""
    thoughts: list[str] = []
    answer: list[str] = []
    place, begins = 0, _begins(_ANSWER, text, 0)
    if _begins(_OPEN, text, 0) >= begins:
        closed = _CLOSE.search(text)
        if closed is None or _is_quoted(text, closed):
            return "", text
        thoughts, place = [text[: closed.start()]], closed.end()
    while place < len(text):
        if begins < place or _ANSWER.match(text, place):
            begins = _begins(_ANSWER, text, place)
        start = _begins(_OPEN, text, place)
        opened = _OPEN.match(text, start) if start < begins else None
        if opened is None:
            break
        end = text.find(f"</{opened[1]}>", opened.end())
        answer.append(text[place:start])
        thoughts.append(text[opened.end() : end if end >= 0 else len(text)])
        place = end + len(f"</{opened[1]}>") if end >= 0 else len(text)
    answer.append(text[place:])
    return "\n\n".join(thought.strip() for thought in thoughts if thought.strip()), "".join(answer).strip()


def _begins(pattern: re.Pattern[str], text: str, place: int) -> int:
    """Where the first line from `place` on begins that begins so, what is left of the line at `place` being one; behind the text where
    none does."""
    while place <= len(text):
        if pattern.match(text, place):
            return place
        place = text.find("\n", place) + 1 or len(text) + 1
    return len(text) + 1


def _is_quoted(text: str, closed: re.Match[str]) -> bool:
    """The tag stands within a fence, where it belongs to a program; or behind an opening one in the middle of a line."""
    before = text[: closed.start()]
    fences = len(re.findall(r"^[ \t]*(?:```|~~~)", before, re.MULTILINE))
    return fences % 2 == 1 or "<think" in before or "<reasoning>" in before
