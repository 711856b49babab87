"""Elements of SVG and HTML as text.

Invariant: whatever text goes in, what comes out is one well-formed element, and shows every character in the order in which it is stored."""

from html import escape

UNREADABLE = "\N{REPLACEMENT CHARACTER}"
"""Stands for a character that nobody sees, that turns the direction of others, or that XML forbids."""


def escaped(text: str) -> str:
    """A text as the content of an element, or the value of an attribute in quotes. Line ends, tabs and whatever else is empty room are spaces."""
    return escape("".join(map(_seen, text)))


def _seen(character: str) -> str:
    if character.isspace():
        return " "
    return character if character.isprintable() else UNREADABLE


def element(name: str, content: str = "", /, **given: str | float | None) -> str:
    """`<name key="value">content</name>`, closed at once where there is no content. The content is markup already; attributes are those of `attributes`."""
    told = attributes(**given)
    return f"<{name}{told}>{content}</{name}>" if content else f"<{name}{told}/>"


def attributes(**given: str | float | None) -> str:
    """Attributes with their values, which are escaped here; those that are None are left out. `class_` is `class`, other underscores are
    hyphens; numbers have at most two decimals."""
    return "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(_value(value))}"'
        for key, value in given.items()
        if value is not None
    )


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return value
    told = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if told == "-0" else told
