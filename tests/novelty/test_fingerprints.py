"""Tokens and fingerprints of programs."""

import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.novelty import DEFAULT_AXES, describe, distance, minhash, signature
from evolve.novelty.fingerprints import codes
from evolve.types import Program


def test_numbers_have_one_code_with_or_without_a_sign() -> None:
    """A minus between two operands is none."""
    assert codes(["=", "-", "1.5"]) == codes(["=", ".5"]) == codes(["=", "0"])
    assert codes(["a", "-", "1"]) == codes(["a", "-", "2"]) != codes(["a", "1"])


TEXT = """import math


def area(radius):
    # the area of a circle
    if radius < 0:
        return -1.5
    return math.pi * radius ** 2
"""


def python(text: str) -> Program:
    """A program of one Python file."""
    return Program({"a.py": text})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TEXT, TEXT.replace("    # the area of a circle\n", "")),
        (TEXT, TEXT.replace(" * ", "*").replace("\n\n\n", "\n")),
        (TEXT, TEXT.replace("\n", "  # so\r\n")),
        (TEXT, f"\n\n{TEXT}\n\n"),
        ("f(a,\n    b)", "f(a, b)"),
        ("x = {\n  'a': 1}", "x = {'a': 1}"),
        ("x = 1 + \\\n    2", "x = 1 + 2"),
    ],
)
def test_layout_and_comments_do_not_count(one: str, other: str) -> None:
    """Programs that differ in nothing else have one signature."""
    assert signature(python(one)) == signature(python(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TEXT, TEXT.replace("1.5", "1.25")),
        (TEXT, TEXT.replace("    return math", "        return math")),
        (TEXT, TEXT.replace("area", "size")),
        ("x = 'a b'", "x = 'a  b'"),
        ("x = '# a'", "x = '# b'"),
        ("ab", "a b"),
        ("a\nb", "a b"),
    ],
)
def test_constants_indentation_and_strings_count(one: str, other: str) -> None:
    """What can change what a program does changes its signature."""
    assert signature(python(one)) != signature(python(other))


def test_indentation_does_not_count_in_a_language_with_braces() -> None:
    """C is the same however it is indented; its comments are its own."""
    one, other = "int f() {\n    return 3; // three\n}\n", "int f() {\nreturn 3; /* 3 */\n}\n"
    assert signature(Program({"a.c": one})) == signature(Program({"a.c": other}))
    assert signature(Program({"a.cpp": 'x = R"(a  b)";'})) != signature(Program({"a.cpp": 'x = R"(a b)";'}))


def test_a_path_is_part_of_a_program() -> None:
    """Equal texts in other files are other programs."""
    assert signature(Program({"a.py": TEXT})) != signature(Program({"b.py": TEXT}))


@pytest.mark.integration
def test_equal_in_another_process() -> None:
    """No hash depends on the process."""
    script = (
        "from evolve.novelty import *; from evolve.types import Program; import sys; "
        "p = Program({'a.py': sys.argv[1]}); print(signature(p), minhash(p).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", script, TEXT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{signature(python(TEXT))} {minhash(python(TEXT)).tolist()}"


def test_a_minhash_is_128_unsigned_words_that_cannot_be_changed() -> None:
    """Its form is what the archive may store."""
    found = minhash(python(TEXT))
    assert (found.dtype, found.shape, found.flags.writeable) == (np.dtype(np.uint32), (128,), False)


def test_numbers_do_not_count_for_the_distance() -> None:
    """Another value or sign keeps distance 0 and size; another function does not."""
    other = python(TEXT.replace("-1.5", "2e-7").replace("** 2", "** -3.25"))
    assert distance(minhash(python(TEXT)), minhash(other)) == 0.0
    assert describe(other, minhash(python(TEXT))) == describe(python(TEXT), minhash(python(TEXT)))


def test_the_distance_estimates_that_of_the_sets() -> None:
    """Half of the 5-grams in common is a Jaccard distance of two thirds."""
    names = [f"name{number}" for number in range(600)]
    one, other = python(" ".join(names[:400])), python(" ".join(names[200:]))
    assert distance(minhash(one), minhash(other)) == pytest.approx(2 / 3, abs=0.12)


@pytest.mark.parametrize("text", ["", "x", "((((", "'", '"""', "\x00\ud800"])
def test_any_text_has_a_description(text: str) -> None:
    """Text that no parser takes is described too, within the default axes or below."""
    found = describe(python(text), minhash(python(TEXT)))
    assert set(found) == {axis.name for axis in DEFAULT_AXES}
    assert found["seed_distance"] == 1.0
    assert found["size_log2"] < 4


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300), st.sampled_from(["a.py", "a.c", "a.rs", "a.lua", "a.md"]))
def test_spaces_at_the_ends_of_lines_never_count(text: str, path: str) -> None:
    """Any text can be read; blank lines at its end change nothing, unless they end an open string."""
    plain = (
        text.replace('"', "").replace("'", "").replace("`", "").replace("\\", "").replace("*/", "").replace("--[[", "")
    )
    assert signature(Program({path: plain.replace("/*", "")})) == signature(
        Program({path: plain.replace("/*", "") + "\n \n"})
    )


def test_escaped_quotes_outside_of_strings_are_stepped_over() -> None:
    """Were each of them tried as the beginning of a string, this would not end."""
    assert signature(Program({"a.py": '\\"' * 100_000})) != signature(Program({"a.py": '\\"' * 99_999}))


@pytest.mark.parametrize(
    ("path", "text", "digits", "minima"),
    [
        (
            "a.py",
            'import math\n\n\ndef area(radius):\n    """The area\nof a circle"""\n    if radius < 0:\n        return -1.5e-3\n'
            "    return f(math.pi,\n        -2) - 3  # so\n",
            "cf43e899533e1822e50db73087e237ce",
            4240973962,
        ),
        (
            "a.c",
            '#include <math.h>\nfloat f(float a) { // one\n  const char *s = R"x(a\nb)" )x";\n  return a -\n    2.5f; /* two\nend */\n}\n',
            "e572a02a74db38523a5a7ff7a95f56a1",
            2045024537,
        ),
        (
            "a.rs",
            'fn main<\'a>() {\n  let s = "one\nfor two";\n  return r#"a"\nr"#;\n}\n',
            "ee1ae12fd737c8258e2e9cd73bbb0391",
            2710930528,
        ),
        (
            "a.js",
            "const a = `one\n  return ${b}`;\nfor (x of [1, -2]) {}\n",
            "d2fd5210de6b1553605bda6d79caf9b6",
            1282796956,
        ),
        (
            "a.lua",
            "--[[ one\nend ]]\nfunction f() return -1 end\n",
            "e5f64e3c910c788f14764fab60df6542",
            47372766,
        ),
    ],
)
def test_what_logs_hold_stays_valid(path: str, text: str, digits: str, minima: int) -> None:
    """Signatures and minima are in the logs of campaigns: no version computes others."""
    program = Program({path: text})
    assert (signature(program), zlib.crc32(minhash(program).astype("<u4").tobytes())) == (digits, minima)


@pytest.mark.parametrize(
    ("one", "other", "size"), [("f(x)", "- 5", 6), ("x =", "- 5", 3), ("x = -", "5", 3), ("a -", "5", 3), ("-", "5", 1)]
)
def test_a_minus_may_stand_at_the_end_of_a_file(one: str, other: str, size: int) -> None:
    """It is a sign as if the next file went on."""
    found = describe(Program({"a.py": one, "b.py": other}), minhash(python(TEXT)))
    assert 2 ** found["size_log2"] == pytest.approx(size)
