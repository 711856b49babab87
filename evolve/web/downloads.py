"""What a browser is told of a file that it is to save.

Invariant: the name means nothing to a shell, a header or a folder, whoever chose it."""

_MOST = 100
"""Characters of a name."""


def attachment(name: str) -> dict[str, str]:
    """The header that makes a browser save an answer, under what is harmless of a name."""
    safe = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in name)
    stem, dot, ending = safe.rpartition(".")
    short = f"{stem[: _MOST - len(ending) - 1]}{dot}{ending}" if len(ending) < _MOST else safe[:_MOST]
    return {"content-disposition": f'attachment; filename="{short.lstrip(".") or "file"}"'}
