"""Somebody else's words in LaTeX and BibTeX, and in blocks of Markdown: names of tasks, models, anchors and their sources.

Invariant: what comes back is one line without control characters, which the reader of the format shows and never obeys."""

from evolve.sandbox.output import harmless, one_line

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "`": "'",
}
"""A bracket or a star at the beginning of a row would belong to the end of the row before."""
_BIBTEX = _LATEX | {"{": r"\textbraceleft{}", "}": r"\textbraceright{}", "@": "{@}"}
"""BibTeX counts braces, escaped ones too."""
_LAST = "\u017f"
"""The last letter that LaTeX knows without another font: Latin with accents ends here."""


def latex(text: str) -> str:
    """As LaTeX shows it; letters that it does not know by themselves are told by their number."""
    return "".join(_LATEX.get(letter, letter) if letter <= _LAST else _number(letter) for letter in one_line(text))


def bibtex(text: str) -> str:
    """As the value of a field between braces."""
    return "".join(_BIBTEX.get(letter, letter) if letter <= _LAST else _number(letter) for letter in one_line(text))


def fenced(text: str) -> str:
    """A block of code without what nobody sees, whose fence is longer than any in the text."""
    text = harmless(text)
    runs = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * max(3, runs + 1)
    return f"{fence}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n"


def _number(letter: str) -> str:
    return f"[U+{ord(letter):04X}]"
