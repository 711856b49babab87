"""Numbers in a program's text."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve.operators.literals import LARGEST_FLOAT, LARGEST_INTEGER, find, template
from evolve.types import Program


def values(text: str, path: str = "a.py") -> list[int | float]:
    """The tunable values of one file."""
    return [one.value for one in find(text, path)]


def filled(text: str, *numbers: float, path: str = "a.py") -> str:
    """The text with other values."""
    return template(Program({path: text})).fill(numbers).files[path]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 0.35", [0.35]),
        ("x = .5 + 3.", [0.5, 3.0]),
        ("x = 1_000", [1000]),
        ("x = 1e-3 + 2E+4", [1e-3, 2e4]),
        ("x = 1.0 - 0.0", [1.0, 0.0]),
        ("x1 = y2z3", []),
        ("x = a.b2", []),
        ("x = 0 + 1 - 1", []),
        ("x = 0b11 + 0o17 + 017", []),
        ("x = 0x1F - 0XfF_ff * y[0x3] + 0x1 + 0xFFFF_FFFF_FFFF_FFFF", [31, 65535]),
        ("x = '3.5' + \"2.5\" + f'{y:4.2f}'", []),
        ('"""doc 2.5\n3.5"""\nx = 4.5', [4.5]),
        ("x = 2.5  # 3.5\ny = 7", [2.5, 7]),
        ("x = 7 // 2.5", [7, 2.5]),
        ("x = y[3] + y[-2] + f(x)[5] + y[2:9] + [7]", [2, 9, 7]),
        ("version = 1.2.3", []),
        ("day = 2024-01-02", []),
        ("x = 3j", [3]),
        ("limit = 1e30 + 1e999 + 9007199254740992", []),
    ],
)
def test_literals_of_python(text: str, expected: list[float]) -> None:
    """Decimal numbers that stand in code are found; structure is left alone."""
    assert values(text) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.cu", "float x = 1.5f; // 2.5f", [1.5]),
        ("a.c", "enum { BLOCK = 1 << 4, COUNT = 8 }; float x = 0x1.8p23f - 0x1p-3 * 0x7fUL;", [4, 8, 127]),
        ("a.cu", "#pragma unroll 8\n__launch_bounds__(256) f<16, 32>(x);", [8, 256, 16, 32]),
        ("a.cpp", "auto x = 10UL + 1'000'000 + '7';", [10, 1000000]),
        ("a.c", '#include <a2.5.h>\n#define N 16\n#if N > 12\n/* 3.5 */ x = "4.5" "\\" 5.5"', [16]),
        ("a.cpp", 'R"(2.5)" + R"x(3.5 )" 4.5)x" + 6.5', [6.5]),
        ("a.rs", "fn f<'a>(x: &'a f64) { for i in 5..10 { t.7 + 2.5f64 + 3f32 + '9' } } // 5.5", [5, 10, 2.5, 3.0]),
        ("a.rs", '#[repr(align(16))] r#"2.5 " 3.5"# 4.5', [4.5]),
        ("a.js", "x = `2.5 ${y}` + 3.5", [3.5]),
        ("a.lua", "x = 2.5 -- 3.5", [2.5]),
        ("a.toml", '[box.2]\nsize = 2.5 # 3.5\nname = "4.5"', [2.5]),
        ("README.md", "about 2.5 metres", []),
    ],
)
def test_literals_of_other_languages(path: str, text: str, expected: list[float]) -> None:
    """Comments, strings, suffixes and directives are those of the file's language."""
    assert values(text, path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = -0.5", [-0.5]),
        ("f(-0.5, -7)", [-0.5, -7]),
        ("-0.5", [-0.5]),
        ("return -0.5", [-0.5]),
        ("x - 0.5", [0.5]),
        ("x -0.5", [0.5]),
        ("x-0.5", [0.5]),
        ("x - -0.5", [-0.5]),
        ("x * -0.5", [-0.5]),
        ("x[2] -0.5", [0.5]),
        ("(x\n -0.5)", [0.5]),
        ("i-- -0.5", [0.5]),
        ("x = - 0.5", [0.5]),
    ],
)
def test_a_minus_belongs_to_the_literal_where_an_operand_begins(text: str, expected: list[float]) -> None:
    """A minus that subtracts is no sign."""
    assert values(text, "a.c") == expected


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("x = 0.5", 0.25, "x = 0.25"),
        ("x = a - 0.5", -0.25, "x = a - -0.25"),
        ("x = a -0.5", -0.25, "x = a - -0.25"),
        ("x = a-0.5", -0.25, "x = a- -0.25"),
        ("return-0.5", 0.25, "return 0.25"),
        ("x = 0.5f", -2.0, "x = -2.0f"),
        ("x = 10UL", 12.7, "x = 13UL"),
        ("x = 10", -5.0, "x = 2"),
        ("x = -10", 5.0, "x = -2"),
        ("x = 10", 1e300, f"x = {LARGEST_INTEGER}"),
        ("x = 0.5", -1e300, f"x = {-LARGEST_FLOAT!r}"),
        ("x = 1e3", 2000.0, "x = 2000.0"),
        ("x = -0X1FUL", 300.2, "x = -0X12cUL"),
        ("x = 0xff", -7.0, "x = 0x2"),
    ],
)
def test_a_value_is_written_so_that_it_is_read_again(text: str, number: float, expected: str) -> None:
    """Integers stay integers with their sign, suffixes stay, two minuses never touch."""
    assert filled(text, number, path="a.c") == expected


def test_only_evolve_blocks_are_tuned_where_there_are_any() -> None:
    """Outside the blocks, and in files without one, numbers are left alone."""
    text = "a = 2.5\n# EVOLVE-BLOCK-START\nb = 3.5\n# EVOLVE-BLOCK-END\nc = 4.5\n"
    assert template(Program({"a.py": text, "b.py": "d = 5.5"})).values == (3.5,)


def test_a_template_holds_all_files_in_the_order_of_their_paths() -> None:
    """Values of several files follow each other."""
    program = Program({"b.py": "x = 3.5", "a.py": "x = 2.5"})
    found = template(program)
    assert found.values == (2.5, 3.5)
    assert dict(found.fill((4.5, 5.5)).files) == {"a.py": "x = 4.5", "b.py": "x = 5.5"}


def test_a_wrong_number_of_values_is_an_error() -> None:
    """Neither too few nor too many."""
    with pytest.raises(ValueError, match="zip"):
        template(Program({"a.py": "x = 2.5"})).fill((1.0, 2.0))


def test_a_skeleton_is_the_text_without_its_values() -> None:
    """Other values and signs, one skeleton; another word or structural number, another."""
    texts = ["x = a -0.5", "x = a - -0.7", "x = a -0.5 ", "y = a -0.5", "x = a -1"]
    first, same, *others = [template(Program({"a.py": text})).skeleton for text in texts]
    assert same == first
    assert first not in others


def test_scales() -> None:
    """A list's spread, else a tenth of the magnitude; an integer's is at least 1; a zero's is its last digit."""
    text = "p = [[0.0, 1.0], [0.0, 1.0]]\nq = 3.0\nn = 4\nm = 500\nz = 0.00\nsame = [2.0, 2.0, 2.0, 2.0]\n"
    expected = [0.05, 0.05, 0.05, 0.05, 0.3, 1.0, 50.0, 0.01, 0.2, 0.2, 0.2, 0.2]
    assert template(Program({"a.py": text})).scales == pytest.approx(expected)


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: abs(x) <= LARGEST_FLOAT),
    st.integers(2, LARGEST_INTEGER),
    st.integers(-LARGEST_INTEGER, -2),
)
BEFORE = st.sampled_from(
    ["x = ", "x = a -", "x = a - ", "return ", "f(", "[1, ", "a *", "x=", "// 3.5\n = ", "{2.5f, "]
)
WRITTEN = NUMBERS.map(repr) | st.integers(2, LARGEST_INTEGER).map(hex)
AFTER = st.sampled_from([";", "-1", "+ 1", ")", "", " - 1;", "]", "\n", " /* 2 */ "])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(BEFORE, WRITTEN, AFTER), min_size=1, max_size=8), st.data())
def test_what_is_tunable_stays_tunable(parts: list[tuple[str, str, str]], data: st.DataObject) -> None:
    """Whatever a program is filled with, its template has the same skeleton and exactly the values that were written."""
    program = Program({"a.c": "\n".join(f"{before}{number}{after}" for before, number, after in parts)})
    before = template(program)
    wanted = [data.draw(st.floats(-1e40, 1e40)) for _ in before.values]
    after = template(before.fill(wanted))
    assert after.skeleton == before.skeleton
    assert after.values == before.nearest(wanted)
    assert before.fill(before.values) == after.fill(before.values) or "-" in f"{before.values} {after.values}"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["a.py", "a.c", "a.rs", "a.lua"]))
def test_any_text_can_be_read(text: str, path: str) -> None:
    """No text is an error, and filling a template with its own values keeps its skeleton."""
    found = template(Program({path: text}))
    assert all(math.isfinite(scale) and scale > 0 for scale in found.scales)
    assert template(found.fill(found.values)).skeleton == found.skeleton


def test_escaped_quotes_outside_of_strings_are_stepped_over() -> None:
    """Were each of them tried as the beginning of a string, this would not end."""
    assert [one.value for one in find('\\"' * 100_000 + "\nx = 2.5\n", "a.py")] == [2.5]
