"""Control tokens of chat templates: texts such as `<|im_end|>`, which a server that looks for them in what it is sent takes for the end of a turn.

Invariant: a text whose tokens are broken has none, breaking it again changes nothing, and nothing in it is left out."""

import re

_WORDS = (
    "s|bos|eos|pad|unk|mask|sop|eop|think|thinking|reasoning|tool_call|tool_calls|tool_response|tool_responses|tools"
    "|(?:start|end)_of_(?:turn|image|text|role)|im_start|im_end|eot|endoftext"
)
_CAPITALS = r"B_INST|E_INST|INST|[A-Z_]*TOOL[A-Z_]*|SYSTEM_PROMPT|THINK|PREFIX|MIDDLE|SUFFIX|IMG|gMASK|sMASK"
_TOKEN = re.compile(
    r"<[|\uff5c][^\s<>|\uff5c]{1,64}(?:[|\uff5c]>|>)"  # <|im_end|> and those of most, <|turn>
    r"|<[^\s<>|\uff5c]{1,64}[|\uff5c]>"  # <turn|>
    r"|\[\|[^\s\[\]|]{1,64}\|\]"  # [|endofturn|]
    rf"|</?(?:{_WORDS})>"
    r"|<</?SYS>>"
    rf"|\[/?(?:{_CAPITALS})\]",
)


def broken(text: str) -> str:
    """`text` with a space behind the first character of each control token, so that no tokenizer finds one, and everybody sees it."""
    if "<" not in text and "[" not in text:
        return text
    while (apart := _TOKEN.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)) != text:  # one may hold another
        text = apart
    return text


def tokens(text: str) -> tuple[str, ...]:
    """The control tokens in a text, each once, in their order."""
    if "<" not in text and "[" not in text:
        return ()
    return tuple(dict.fromkeys(found[0] for found in _TOKEN.finditer(text)))
