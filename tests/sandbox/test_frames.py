"""The program on its way to its candidate's process; requests and answers are tried where they are sent."""

from evolve.sandbox.wire import pack_program, unpack_program


def test_a_program_arrives_as_it_was_sent() -> None:
    """Half surrogates too: they are for its compiler to refuse."""
    files, context = {"seed.py": "x = '\ud800 é'\n", "b.py": ""}, {"data.json": "{}"}
    assert unpack_program(pack_program("seed", files, context, [b"code"])) == ("seed", files, context, (b"code",))
