"""`evolve program blame`."""

import json


def test_each_line_stands_beside_who_brought_it(call, short):
    """And what that step gained."""
    assert call("program", "blame", "number/6").output.splitlines() == [
        "--- seed.py",
        "1  seed                 1  │ def value():",
        "6  tune_literals  +0.5  2  │     return 6.5",
    ]


def test_json_has_one_line_for_each(call, short):
    """With the path and the number."""
    lines = [json.loads(line) for line in call("program", "blame", "number/6", "--json").output.splitlines()]
    assert [(line["path"], line["number"], line["record"], line["change"]) for line in lines] == [
        ("seed.py", 1, 1, None),
        ("seed.py", 2, 6, 0.5),
    ]


def test_a_screened_record_has_no_lines(call, short):
    """It has no program."""
    assert call("program", "blame", "number/5").stderr.startswith("evolve: error: number/5 has no program")
