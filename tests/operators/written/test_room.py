"""Prompt and answer fit into the model's context."""

import pytest

from evolve.operators.written.room import Room, room
from evolve.operators.written.settings import AskingSettings
from evolve.testing import ScriptedModel


@pytest.mark.parametrize(
    ("settings", "context", "longest", "expected"),
    [
        ({}, 128_000, 16_000, Room(24_000, 16_000)),
        ({"tokens": 60_000}, 128_000, 16_000, Room(60_000, 16_000)),
        ({"max_tokens": 2_000}, 128_000, 16_000, Room(24_000, 2_000)),
        ({"max_tokens": 99_000}, 128_000, 16_000, Room(24_000, 16_000)),
        ({}, 32_768, 16_000, Room(16_768, 16_000)),
        ({"tokens": 60_000}, 8_192, 16_000, Room(4_096, 4_096)),
    ],
)
def test_room(settings: dict[str, int], context: int, longest: int, expected: Room) -> None:
    caller = ScriptedModel(context_tokens=context, max_tokens=longest).caller("propose")
    assert room(AskingSettings.model_validate(settings), caller, 24_000) == expected
