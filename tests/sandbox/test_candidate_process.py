"""What runs in a candidate's process."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evolve.sandbox.channel import Outbox
from evolve.sandbox.inner.candidate import LoadedProgram, answer, perform, rehearse, run_command
from evolve.sandbox.inner.folder import Missing
from evolve.sandbox.wire import ANSWER, ReceivedRequest, decode, encode, pack_program

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def own_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a program imports and writes is gone after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = dict(sys.modules)
    yield
    for name in set(sys.modules) - set(before):
        del sys.modules[name]
    sys.modules.update(before)


def answered(program: LoadedProgram, request: list[Any]) -> list[Any]:
    """The reply to a request."""
    told: list[Any] = decode(b"".join(answer(program, ReceivedRequest(b"", encode(request)))))
    return told


def reply(source: str, *arguments: Any, name: str = "f") -> list[Any]:
    """What a program of one file answers to a call."""
    program = LoadedProgram({"seed_inside.py": source}, "seed_inside")
    return answered(program, ["call", name, arguments, {}])


def test_a_function_is_called_with_the_arguments() -> None:
    """And its value is the answer."""
    assert reply("def f(a, b): return {'sum': a + b}", 40, 2) == ["ok", {"sum": 42}]


@pytest.mark.parametrize(
    ("source", "status", "message"),
    [
        ("def f(): raise MemoryError", "memory_limit", "more memory than it may have"),
        ("def f(): raise SystemExit(7)", "no_result", "sys.exit(7)"),
        ("import sys\nsys.exit()", "no_result", "sys.exit(None)"),
        ("def f(): raise KeyboardInterrupt", "error", "KeyboardInterrupt"),
        ("def f(): return open", "bad_json", "a value is of type builtin_function_or_method"),
        ("def f(): raise ValueError('half \\ud800')", "error", r"half \ud800"),
        ("def g(x): return x\ndef h(): pass", "no_entry", "seed_inside.py has no function 'f'; it has g, h"),
        (
            "for n in range(50): exec(f'def g{n:02}(): pass')",
            "no_entry",
            "has no function 'f'; it has " + ", ".join(f"g{n:02}" for n in range(20)) + " and 30 more",
        ),
        ("f = 3", "no_entry", "seed_inside.py has no function 'f'; it has none"),
        ("1 +", "no_entry", "SyntaxError"),
        ("x = '\ud800'", "no_entry", "surrogates not allowed"),
        ("import no_such_module_anywhere", "no_entry", "No module named 'no_such_module_anywhere'"),
    ],
)
def test_a_call_without_a_value_says_why(source: str, status: str, message: str) -> None:
    """The status tells the import, the call and the answer apart."""
    got, text = reply(source)
    assert got == status
    assert message in text


def test_a_traceback_begins_in_the_program_and_shows_its_lines() -> None:
    """Also in a file that the entry imports; nothing of the engine is in it."""
    program = LoadedProgram(
        {"seed_a.py": "import seed_b\ndef f():\n    seed_b.g()\n", "seed_b.py": "def g():\n    return 1 / 0  # here\n"},
        "seed_a",
    )
    status, text = answered(program, ["call", "f", [], {}])
    assert status == "error"
    lines = [line for line in text.splitlines() if line.strip(" ~^")]  # newer interpreters underline more
    assert lines[:4] == [
        "Traceback (most recent call last):",
        '  File "seed_a.py", line 3, in f',
        "    seed_b.g()",
        '  File "seed_b.py", line 2, in g',
    ]
    assert "return 1 / 0  # here" in text
    assert "inside.py" not in text


def test_a_traceback_names_a_library_without_its_place_on_the_machine() -> None:
    """The text goes to models, which may be anywhere, and must not differ between machines."""
    status, text = reply("import json\ndef f():\n    json.loads('{')\n")
    assert status == "error"
    assert 'File "json/__init__.py", line' in text
    assert str(Path(json.__file__).parents[1]) not in text


def test_files_import_one_another_as_in_a_folder() -> None:
    """Packages with and without `__init__.py`, relative imports, a data file, and the entry in a folder."""
    files = {
        "seed_pkg/__init__.py": "BASE = 40",
        "seed_pkg/main.py": "from pathlib import Path\nfrom . import BASE\nfrom seed_plain.deep.part import TWO\nfrom .tools import add\ndef f(): return [add(BASE, TWO), Path('data/x.txt').read_text('utf-8'), __file__]",
        "seed_pkg/tools.py": "def add(a, b): return a + b",
        "seed_plain/deep/part.py": "TWO = 2",
        "data/x.txt": "größe",
    }
    program = LoadedProgram(files, "seed_pkg.main")
    assert program.function("f")() == [42, "größe", "seed_pkg/main.py"]


def test_an_entry_may_be_a_folder() -> None:
    """Its `__init__.py` is the module."""
    program = LoadedProgram(
        {"seed_folder/__init__.py": "from .part import f", "seed_folder/part.py": "def f(): return 42"}, "seed_folder"
    )
    assert program.function("f")() == 42


def test_a_file_of_the_program_goes_before_a_loaded_module() -> None:
    """As it would in a folder of its own."""
    program = LoadedProgram(
        {"seed_top.py": "import colorsys\nf = colorsys.f", "colorsys.py": "def f(): return 'ours'"}, "seed_top"
    )
    assert program.function("f")() == "ours"


def test_the_context_is_imported_and_read_beside_the_program() -> None:
    """Whatever the program calls its own files."""
    files = {
        "seed_ctx.py": "import ctx_lib\nfrom pathlib import Path\ndef f(): return [ctx_lib.NAME, Path('x.txt').read_text()]",
        "ctx_lib.py": "NAME = 'theirs'",
        "ctx_lib/__init__.py": "NAME = 'theirs, as a folder'",
        "x.txt": "theirs",
    }
    program = LoadedProgram(files, "seed_ctx", {"ctx_lib.py": "NAME = 'ours'", "x.txt": "ours"})
    assert program.function("f")() == ["ours", "ours"]


def test_what_was_built_is_imported_where_the_program_imports_it() -> None:
    """It goes before a file of the same name, and a text that is none is told."""
    files = {
        "seed_made.py": "import seed_gen\nfrom pathlib import Path\ndef f(): return [seed_gen.X, Path('d').read_text()]",
        "seed_gen.py": "X = 'theirs'",
        "d": "theirs",
    }
    program = LoadedProgram(files, "seed_made")
    assert answered(program, ["place", {"seed_gen.py": b"X = 'made'", "d": b"made"}]) == ["ok", None]
    assert answered(program, ["call", "f", [], {}]) == ["ok", ["made", "made"]]
    broken = LoadedProgram({"seed_broken.py": "import seed_bytes"}, "seed_broken")
    answered(broken, ["place", {"seed_bytes.py": b"\xff"}])
    assert answered(broken, ["call", "f", [], {}]) == [
        "no_entry",
        "the file 'seed_bytes.py' is no text: invalid start byte",
    ]


def test_files_are_kept_without_the_program_being_imported(tmp_path: Path) -> None:
    """As bytes; one that is not there is told."""
    (tmp_path / "made").write_bytes(b"\xff")
    program = LoadedProgram({"seed_kept.py": "raise ValueError"}, "seed_kept")
    assert answered(program, ["keep", ["made"], 10]) == ["ok", {"made": b"\xff"}]
    assert answered(program, ["keep", ["none"], 10]) == [
        "no_entry",
        "the file 'none' cannot be kept: No such file or directory",
    ]


def test_the_import_happens_once() -> None:
    """The program keeps what it has computed between two calls."""
    program = LoadedProgram(
        {"seed_count.py": "seen = []\ndef f():\n    seen.append(1)\n    return len(seen)\n"}, "seed_count"
    )
    assert [program.function("f")(), program.function("f")()] == [1, 2]


@pytest.mark.parametrize("path", ["/tmp/out_of_place.txt", "../out_of_place.txt"])
def test_a_data_file_stays_in_the_programs_folder(path: str) -> None:
    """A name that leads out of it is refused before anything is written."""
    with pytest.raises(Missing, match="leads out of the program's folder"):
        LoadedProgram({path: "x", "seed_out.py": "def f(): pass"}, "seed_out").function("f")


def test_a_program_without_its_entry_is_told_so() -> None:
    """With the files that it has."""
    with pytest.raises(Missing, match=r"no module 'seed'; its files are other\.py"):
        LoadedProgram({"other.py": ""}, "seed").function("f")


def test_a_rehearsal_leaves_nothing() -> None:
    """The next program finds modules and finders as they were."""
    finders, modules = list(sys.meta_path), set(sys.modules)
    rehearse()
    assert (list(sys.meta_path), set(sys.modules)) == (finders, modules)


def test_calls_are_answered_until_the_requests_end() -> None:
    """The first request is the program, then there is a reply for each, with its ticket; large ones come in a file."""
    outbox, (heard, replies) = Outbox(), os.pipe()
    first = pack_program("seed_talk", {"seed_talk.py": "def f(x): return [len(x)]"}, {})
    for ticket, payload in (
        (b"unasked.", first),
        (b"ticket 1", encode(["call", "f", ["a"], {}])),
        (b"ticket 2", encode(["call", "f", [], {"x": "b" * 300_000}])),
    ):
        outbox.add(ticket, [payload])
    assert outbox.write()
    outbox.close()
    perform(outbox.theirs, replies)
    os.close(replies)
    one, two = encode(["ok", [1]]), encode(["ok", [300_000]])
    assert os.read(heard, 1000) == ANSWER.pack(b"ticket 1", len(one)) + one + ANSWER.pack(b"ticket 2", len(two)) + two
    os.close(heard)
    os.close(outbox.theirs)


def test_without_a_program_there_is_nothing_to_do() -> None:
    """The judge was gone before it said anything."""
    outbox = Outbox()
    outbox.close()
    perform(outbox.theirs, -1)
    os.close(outbox.theirs)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(line: str, text: str = "", most: int = 100, log: int = 100) -> list[Any]:
    """What a line of shell gives, without its processor time."""
    return run_command(["sh", "-c", line], text, most, log)[:4]


def test_a_command_gets_its_input_and_gives_what_it_prints(here: Path) -> None:
    """In the folder where it stands, and no file is left there."""
    assert shell("cat; pwd; echo größe >&2; exit 3", "in\n") == [3, f"in\n{here}\n", "größe\n", len(f"in\n{here}\n")]
    assert list(here.iterdir()) == []


def test_input_that_nobody_reads_holds_nothing_up() -> None:
    """However much it is."""
    assert shell("exit 0", "x" * 5_000_000) == [0, "", "", 0]


def test_of_a_flood_the_beginning_and_the_size_are_known_and_of_errors_the_end() -> None:
    """What was held is bounded."""
    code, output, errors, size = shell("seq 1 100000; seq 1 100000 >&2", most=4, log=7)
    assert (code, output, errors, size) == (0, "1\n2\n", "100000\n", 588895)


def test_the_signal_that_ended_it_is_a_negative_code() -> None:
    """Those that Python ignores end it, too."""
    assert [shell(f"kill -{signal} $$")[0] for signal in ("SEGV", "PIPE", "XFSZ")] == [-11, -13, -25]


def test_processor_time_is_counted() -> None:
    """That of the command alone."""
    busy = "import time\nwhile time.process_time() < 0.1: pass"
    assert 0.1 <= run_command([sys.executable, "-c", busy], "", 1, 1)[4] < 5


def test_a_process_that_is_left_behind_does_not_hold_up_the_end() -> None:
    """It has the command's output open; the session ends it."""
    code, output, _, _ = shell("sleep 60 & echo $!")
    os.kill(int(output), 9)
    assert code == 0


def test_bytes_that_are_no_text_are_replaced() -> None:
    """A command's output is text."""
    assert shell(r"printf 'a\377b'")[1] == "a\N{REPLACEMENT CHARACTER}b"


def test_no_descriptor_is_left_open_here_or_there() -> None:
    """The candidate's pipes are not the command's."""
    number = os.open("/dev/null", os.O_RDONLY)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    listed = shell(f"test -e /proc/$$/fd/{number} && echo open")[1]
    with pytest.raises(Missing):
        run_command(["./none"], "", 1, 1)
    assert (listed, os.listdir("/proc/self/fd")) == ("", before)  # noqa: PTH208
    os.close(number)


@pytest.mark.parametrize(
    ("mode", "text", "message"),
    [
        (0o644, "no program", "the command './program' cannot be started: Exec format error"),
        (0o755, "no program", "the command './program' cannot be started: Exec format error"),
        (None, "", "the command './program' cannot be started: No such file or directory"),
    ],
)
def test_a_command_that_cannot_be_started_is_told_so(here: Path, mode: int | None, text: str, message: str) -> None:
    """It is one that should lie in the program's folder."""
    if mode is not None:
        (here / "program").write_text(text)
        (here / "program").chmod(mode)
    with pytest.raises(Missing, match=message):
        run_command(["./program"], "", 1, 1)


def test_a_program_that_nobody_marked_as_executable_is_run(here: Path) -> None:
    """As a linker leaves it in a box where modes are not changed."""
    (here / "program").write_text("#!/bin/sh\necho 42\n")
    (here / "program").chmod(0o644)
    assert [run_command(["./program"], "", 10, 10)[1] for _ in range(2)] == ["42\n", "42\n"]
    assert [path.name for path in here.iterdir()] == ["program"]


def test_a_folder_is_no_command(here: Path) -> None:
    """Nothing is made of it."""
    (here / "program").mkdir()
    with pytest.raises(Missing, match="Permission denied"):
        run_command(["./program"], "", 1, 1)
