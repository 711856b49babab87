"""Facts about where arrays lie in shared memory, and what is seen of writes beyond them."""

import numpy as np
import pytest
from kernel_problems import needs_linux

from evolve import NATIVE_BLOCK, Segment
from evolve.types import TaskError
from evolve_kernel import backend as layouts
from evolve_kernel.backend import ALIGNED, GUARD, Layout, count_bytes, segment_for
from evolve_kernel.problem import Argument

ARGUMENTS = (
    Argument("out", "out", (3, 5), "float32"),
    Argument("number", "count", value=7),
    Argument("in", "given", (7,), "float64"),
    Argument("room", "room", (1,), "int8"),
)
INPUTS = {"given": np.arange(7, dtype=np.float64)}
pytestmark = needs_linux


@pytest.fixture
def segment():
    """Large enough for any draw."""
    with Segment(count_bytes(ARGUMENTS)) as made:
        yield made


@pytest.mark.parametrize("draw", [0, 1, 63, 64, 12345, (1 << 30) - 1])
def test_arrays_have_guards_around_them_and_fit(segment, draw):
    """Whatever was drawn."""
    layout = Layout.of(segment, ARGUMENTS, draw)
    ends = [NATIVE_BLOCK]
    for array, place in layout.arrays:
        assert place % ALIGNED == 0
        assert place - GUARD >= ends[-1]
        ends.append(place + array.bytes)
    assert ends[-1] + GUARD <= segment.size
    assert layout.numbers == [7]


def test_equal_draws_give_equal_places_and_others_move(segment):
    """Both sides of a pair find all at the same places."""
    places = {Layout.of(segment, ARGUMENTS, draw).places for draw in (0, 0, 1, 64)}
    assert len(places) == 2


@pytest.mark.parametrize(("poison", "byte"), [(0, 0xFF), (1, 0xA5)])
def test_outputs_and_room_are_poisoned_and_inputs_are_there(segment, poison, byte):
    """NaN, or another pattern."""
    layout = Layout.of(segment, ARGUMENTS, 5)
    layout.prepare(INPUTS, poison)
    assert set(layout.outputs()["out"].tobytes()) == {byte}
    (_, given), (_, room) = layout.arrays[1:]
    assert (segment.view(given, (7,), "float64") == INPUTS["given"]).all()
    assert segment.view(room, (1,), "uint8").tolist() == [byte]
    assert layout.violation(INPUTS) == ""


def test_outputs_are_copies(segment):
    """What is written later changes nothing."""
    layout = Layout.of(segment, ARGUMENTS, 0)
    layout.prepare(INPUTS, 1)
    found = layout.outputs()["out"]
    before = found.tobytes()
    segment.view(layout.places[0], (15,), "float32")[:] = 1.0
    assert found.tobytes() == before


@pytest.mark.parametrize("offset", [-1, -GUARD, 60, 60 + GUARD - 1])
def test_a_byte_beside_an_array_is_seen(segment, offset):
    """Of its 60 bytes all may be written, and none else."""
    layout = Layout.of(segment, ARGUMENTS, 9)
    layout.prepare(INPUTS, 0)
    segment.view(layout.places[0], (60,), "uint8")[:] = 1
    assert layout.violation(INPUTS) == ""
    beside = segment.view(layout.places[0] + offset, (1,), "uint8")
    beside[:] = beside + 1
    assert layout.violation(INPUTS) == "wrote outside of its arrays"


def test_a_changed_input_is_seen(segment):
    """Bit for bit: -0.0 is another one than 0.0."""
    layout = Layout.of(segment, ARGUMENTS, 9)
    layout.prepare(INPUTS, 0)
    segment.view(layout.places[1], (7,), "float64")[0] = -0.0
    assert layout.violation(INPUTS) == "modified its inputs"


@pytest.mark.parametrize("draw", [0, 9, 63])
def test_a_note_anywhere_else_in_the_segment_is_seen(draw):
    """Each byte of it belongs to an array, a guard, or the rest, which is sealed: a smaller shape leaves room behind its arrays."""
    with Segment(count_bytes(ARGUMENTS) + 4096) as segment:
        layout = Layout.of(segment, ARGUMENTS, draw)
        layout.seal()
        layout.prepare(INPUTS, 0)
        assert layout.is_sealed
        own = {byte for array, place in layout.arrays for byte in range(place, place + array.bytes)}
        for place in {
            NATIVE_BLOCK,
            layout.places[0] - GUARD - 1,
            segment.size - 1,
            *range(NATIVE_BLOCK, segment.size, 61),
        } - own:
            if place < NATIVE_BLOCK:
                continue
            byte = segment.view(place, (1,), "uint8")
            byte[:] = byte ^ 1
            assert not layout.is_sealed or layout.violation(INPUTS) == layouts.OUTSIDE, place
            byte[:] = byte ^ 1
        assert layout.is_sealed
        assert layout.violation(INPUTS) == ""


def test_a_machine_without_so_much_memory_says_so(monkeypatch):
    """With the size."""

    def none(size):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(layouts, "Segment", none)
    with pytest.raises(
        TaskError, match=rf"there is no memory of {count_bytes(ARGUMENTS)} bytes .*Cannot allocate memory"
    ):
        segment_for(ARGUMENTS)
