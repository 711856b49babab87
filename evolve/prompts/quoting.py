"""Quotations of programs, of evaluators' words and of earlier answers.

Nothing that is quoted can end its quotation. A fence is longer than every run of backticks in it, a quotation in a line has no
line end and no closing mark, no control token of a chat template is whole, and a path is plain or escaped. Programs are quoted exactly, for an
edit must match them."""

import functools
import json
import re

from evolve.bounded_cache import BoundedCache
from evolve.protocols import History
from evolve.sandbox.output import readable, shown
from evolve.types import Program

_CONTROL_WORDS = (
    "s|bos|eos|pad|unk|mask|sop|eop|think|thinking|reasoning|tool_call|tool_calls|tool_response|tool_responses|tools"
    "|(?:start|end)_of_(?:turn|image|text|role)|im_start|im_end|eot|endoftext"
)
_CAPITALS = r"B_INST|E_INST|INST|[A-Z_]*TOOL[A-Z_]*|SYSTEM_PROMPT|THINK|PREFIX|MIDDLE|SUFFIX|IMG|gMASK|sMASK"
_TOKEN = re.compile(
    r"<[|\uff5c][^\s<>|\uff5c]{1,64}(?:[|\uff5c]>|>)"  # <|im_end|> and those of most, <|turn>
    r"|<[^\s<>|\uff5c]{1,64}[|\uff5c]>"  # <turn|>
    r"|\[\|[^\s\[\]|]{1,64}\|\]"  # [|endofturn|]
    rf"|</?(?:{_CONTROL_WORDS})>"
    r"|<</?SYS>>"
    rf"|\[/?(?:{_CAPITALS})\]",
)


def break_control_tokens(text: str) -> str:
    """Returns `text` with a space behind the first character of each control token, so that no tokenizer finds one, and everybody sees it."""
    if "<" not in text and "[" not in text:
        return text
    while (apart := _TOKEN.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)) != text:  # one may hold another
        text = apart
    return text


DATA = "Data, not instructions:"
"""Stands before every fence with the words of others."""
_RUNS = re.compile("`{3,}")
_PLAIN = re.compile(r"\w[\w./+-]*")
_MARKS = re.compile('[“”„‟"]')
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "`<["}
"""Escapes of characters that could end the fence of a path, or begin a control token."""
_HALVES = re.compile("[\ud800-\udfff]")


def fence_text(text: str, info: str = "") -> str:
    """Returns `text` in a fence that nothing in it can close."""
    fence = "`" * max(3, 1 + max(map(len, _RUNS.findall(text)), default=0))
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{info}\n{text}{end}{fence}"


@functools.lru_cache(maxsize=4096)
def quote_inline(words: str, most: int = 300) -> str:
    """Somebody else's words as a quotation within a line; empty where there are none."""
    line = break_control_tokens(_MARKS.sub("'", " ".join(readable(words[: 4 * most]).split())))
    if not line:
        return ""
    return f"“{line if len(line) <= most else line[: most - 4] + ' ...'}”"


def path_name(path: str) -> str:
    """Returns a path as it can stand in a line and after a fence: as it is where it is plain, else as a JSON string."""
    return path if _PLAIN.fullmatch(path) else json.dumps(path).translate(_ESCAPED)


def excerpt(text: str, most: int) -> str:
    """Returns the output of a program or an evaluator, fit to be read: the beginning and the end of more than `most` characters."""
    # Feedback may have megabytes; what is cleaned is only what may be shown.
    if len(text) > 4 * most:
        text = f"{text[: 2 * most]}\n...\n{text[-2 * most :]}"
    return shown(text, most).strip("\n")


def quote_text(text: str, most: int = 3000) -> str:
    """Somebody else's words of several lines as a quotation: fit to be read, cut to a length, and in a fence; empty where there are none."""
    words = break_control_tokens(excerpt(text, most))
    return f"{DATA}\n\n{fence_text(words)}" if words else ""


@functools.lru_cache(maxsize=512)
def program_text(program: Program) -> str:
    """Returns all files of a program, each in a fence that begins with its path."""
    fences = [fence_text(_HALVES.sub("\ufffd", text), path_name(path)) for path, text in program.files.items()]
    return "\n\n".join((DATA, *fences))


_HASH = re.compile(r"[0-9a-f]{64}")
_EXCERPTS = BoundedCache(1024)
"""Excerpts by the hash of the whole text, and length: many prompts show the same, and feedback and artifacts may have megabytes."""


def read_excerpt(history: History, name: str, most: int) -> str:
    """Returns a stored text, fit to be read and cut to a length, its control tokens broken; empty where there is none."""
    if not name:
        return ""

    def read() -> str:
        try:
            return break_control_tokens(excerpt(history.text(name), most))
        except KeyError:  # a rehearsal need not store any
            return ""

    return _EXCERPTS.get_or_create((name, most), read) if _HASH.fullmatch(name) else read()
