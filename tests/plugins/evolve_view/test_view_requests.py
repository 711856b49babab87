"""Forms are small, and names of files are harmless."""

import asyncio

import pytest
from starlette.requests import Request

from evolve.types import ConfigError
from evolve_view.requests import FORM_BYTES, attachment, read_form


def read(body: bytes) -> dict[str, str]:
    """The fields of a form that comes in two parts."""
    parts = [
        {"type": "http.request", "body": body[:10], "more_body": True},
        {"type": "http.request", "body": body[10:], "more_body": False},
    ]

    async def receive():
        return parts.pop(0)

    return asyncio.run(read_form(Request({"type": "http", "method": "POST", "headers": []}, receive)))


def test_fields_are_texts_by_their_names():
    assert read(b"text=try+seven%21&star=&text=8") == {"text": "8", "star": ""}
    assert read(b"") == {}


def test_what_is_no_utf_8_is_marked():
    assert read(b"text=%ff%fe") == {"text": "\ufffd\ufffd"}


@pytest.mark.parametrize("body", [b"text=" + b"x" * FORM_BYTES, b"&".join(b"a=1" for _ in range(20))])
def test_a_large_form_is_refused(body):
    with pytest.raises(ConfigError, match="a form has at most"):
        read(body)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("seed.py", "seed.py"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ('a"b\r\nset-cookie: x', "a_b__set-cookie__x"),
        (".bashrc", "bashrc"),
        ("größe.csv", "gr__e.csv"),
        ("...", "file"),
        ("x" * 200 + ".py", "x" * 97 + ".py"),
        ("x." + "y" * 200, "x." + "y" * 98),
    ],
)
def test_a_name_is_harmless_whoever_chose_it(name, safe):
    assert attachment(name) == {"content-disposition": f'attachment; filename="{safe}"'}
