"""Names of files to save are harmless."""

import pytest

from evolve_view.requests import attachment


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
