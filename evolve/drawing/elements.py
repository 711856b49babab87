"""Elements of SVG and HTML as text.

Invariant: whatever text goes in, what comes out is one well-formed element, and shows every character in the order in which it is stored."""

from html import escape

UNREADABLE = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that nobody sees, that turns the direction of others, or that XML forbids."""


def escaped(text: str) -> str:
    """A text as the content of an element, or the value of an attribute in quotes. Line ends and tabs are spaces."""
    return escape("".join(map(_seen, text)))


def _seen(character: str) -> str:
    if character in "\n\r\t":
        return " "
    return character if character.isprintable() else UNREADABLE


def element(name: str, content: str = "", /, **attributes: str | float | None) -> str:
    """`<name key="value">content</name>`. The content is markup already; attributes are escaped here, those that are None are left out. `class_` is `class`,
    other underscores are hyphens; numbers have at most two decimals."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(_value(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{told}>{content}</{name}>" if content else f"<{name}{told}/>"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return value
    told = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if told == "-0" else told
