"""What a model thinks aloud, parted from what it answers.

Invariant: only what stands before the answer's first fence or edit is looked at, so that a program which speaks of tags is never cut."""

import re

_OPEN = re.compile(r"^[ \t]*<(think|thinking|reasoning)>", re.MULTILINE)
_CLOSE = re.compile(r"</(?:think|thinking|reasoning)>")
_ANSWER = re.compile(r"^[ \t]*(?:```|~~~|<<<<)", re.MULTILINE)


def parted(text: str) -> tuple[str, str]:
    """The thinking and the answer. A block that never ends is all thinking; a closing tag without an opening one ends thinking that
    began with the prompt, as some chat templates have it."""
    thoughts: list[str] = []
    opened = _opening(text)
    if opened is None:
        closed = _CLOSE.search(text)
        if closed is None or _is_quoted(text, closed):
            return "", text
        thoughts, text = [text[: closed.start()]], text[closed.end() :]
        opened = _opening(text)
    while opened is not None:
        before, inside = text[: opened.start()], text[opened.end() :]
        closed = re.search(f"</{opened[1]}>", inside)
        thoughts.append(inside[: closed.start()] if closed else inside)
        text = before + (inside[closed.end() :] if closed else "")
        opened = _opening(text)
    return "\n\n".join(thought.strip() for thought in thoughts if thought.strip()), text.strip()


def _opening(text: str) -> re.Match[str] | None:
    """The tag that opens a block of thoughts, unless the answer has begun before it."""
    opened, answer = _OPEN.search(text), _ANSWER.search(text)
    return None if opened and answer and answer.start() < opened.start() else opened


def _is_quoted(text: str, closed: re.Match[str]) -> bool:
    """The tag stands within a fence, where it belongs to a program; or behind an opening one in the middle of a line."""
    before = text[: closed.start()]
    fences = len(re.findall(r"^[ \t]*(?:```|~~~)", before, re.MULTILINE))
    return fences % 2 == 1 or "<think" in before or "<reasoning>" in before
