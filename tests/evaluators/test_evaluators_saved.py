"""Facts about reading what a script has saved: bytes of any kind give finite numbers, or an error that says why."""

import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.evaluators.saved import (
    Unreadable,
    finite,
    member,
    number,
    read_array,
    read_json,
    read_numbers,
)


def npy(array: np.ndarray) -> bytes:
    """As `numpy.save` writes it."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def forged(shape: str, kind: str = "<f8", payload: bytes = b"\0" * 8) -> bytes:
    """A header that claims a shape, and a payload."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + payload


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), (" -2.5e-3\n", -0.0025), ("+.5", 0.5), ("3.", 3.0)])
def test_a_decimal_number_is_read(text: str, value: float) -> None:
    """With white space around it."""
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "nan", "inf", "-Infinity", "1e999", "1_0", "0x10", "1,5", "1 2", "٣", "9" * 500])
def test_what_python_would_take_for_a_number_and_is_none_is_refused(text: str) -> None:
    """Or what is too large."""
    with pytest.raises(Unreadable):
        number(text)


@pytest.mark.parametrize("value", [True, None, "1", math.nan, math.inf, 10**400, [1.0], 1j])
def test_a_value_that_is_no_finite_number_is_refused(value: object) -> None:
    """A truth value is none."""
    with pytest.raises(Unreadable):
        finite(value)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[NaN]", b"[1e999, Infinity]", b"\xff\xfe", b"[" * 100_000, b"1" * 5000, b'"' + b"\\ud8"]
)
def test_json_that_is_none_is_refused(content: bytes) -> None:
    """Also such as Python takes, and such as is too deep for it."""
    with pytest.raises(Unreadable):
        read_json(content)


@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_unreadable(content: bytes) -> None:
    """Nothing else is raised."""
    try:
        read_json(content)
    except Unreadable:
        pass


def test_numbers_are_as_many_as_are_wanted() -> None:
    """Not one more, and not one less."""
    assert read_numbers(b"1 2\n 3.5\n", 3) == [1.0, 2.0, 3.5]
    for count in (2, 4):
        with pytest.raises(Unreadable, match=f"than {count} numbers"):
            read_numbers(b"1 2 3", count)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i1", "i8", "u2", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_read_as_numpy_has_written_it(kind: str, order: str) -> None:
    """Whatever its numbers are, and however they lie."""
    array = np.asarray(np.arange(6).reshape(2, 3), dtype=kind, order=order)
    found = read_array(npy(array), (None, 3))
    assert found.dtype == np.float64
    assert (found == array).all()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no .npy file"),
        (b"\x93NUMPY\x01\x00", "no .npy file"),
        (npy(np.array([{"a": 1}], dtype=object)), "no .npy file"),
        (npy(np.array(["text"])), "no .npy file"),
        (npy(np.array([1j])), "no .npy file"),
        (npy(np.array([1.0, 2.0])), "the shape is"),
        (npy(np.array([[1.0]])), "the shape is"),
        (npy(np.array([np.nan])), "finite"),
        (npy(np.array([1.0])) + b"more", "as many bytes"),
        (npy(np.array([1.0]))[:-1], "as many bytes"),
        (forged("(1,)", "<f3"), "no .npy file"),
        (forged("(__import__('os').abort(),)"), "no .npy file"),
    ],
)
def test_an_array_that_is_not_what_was_asked_for_is_refused(content: bytes, said: str) -> None:
    """Objects are never made of it, and nothing of it is evaluated."""
    with pytest.raises(Unreadable, match=said):
        read_array(content, (1,))


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(0,)", "(99999999999999999999999999,)"])
def test_a_header_that_claims_another_length_than_there_is_takes_no_memory(shape: str) -> None:
    """It is compared with the bytes first."""
    with pytest.raises(Unreadable):
        read_array(forged(shape), (None,))
    with pytest.raises(Unreadable):
        read_array(forged("(0, 1000000000000000000)", payload=b""), (None, None))


def test_a_member_is_found_by_its_keys() -> None:
    """Of a list by its place, from the end too."""
    value = {"runs": [{"loss": 3}, {"loss": 2.5}], "0": 1}
    assert (member(value, "runs.-1.loss"), member(value, "runs.0.loss"), member(value, "0")) == (2.5, 3.0, 1.0)


@pytest.mark.parametrize("path", ["missing", "runs.2", "runs.-3", "runs.x", "runs", "runs.0.loss.deep", "runs.0.name"])
def test_a_member_that_is_no_number_is_refused(path: str) -> None:
    """Or is not there."""
    with pytest.raises(Unreadable):
        member({"runs": [{"loss": 3, "name": "x"}, 1]}, path)
