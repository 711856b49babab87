"""The dialogue with a candidate process."""

import hashlib
import re
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.channel import Channel
from evolve.sandbox.session import OUTCOME, Session, check_command, check_names
from evolve.sandbox.status import SessionFailed, SessionReport, Status
from evolve.sandbox.wire import WireError
from evolve.types import Grants, Limits, Program, SandboxError
from tests.pages import read_chapter

_COUNTER = """
import time
seen = []
def count(step=1):
    seen.append(step)
    return sum(seen)
def fail():
    raise ValueError("on purpose")
def sleep(seconds):
    time.sleep(seconds)
def function(self):
    return self
"""


def program(source: str) -> Program:
    return Program({"seed.py": source})


@pytest.mark.integration
def test_a_call_brings_plain_data_and_arrays_there_and_back(call: Callable[..., Any]) -> None:
    """Positional and by name."""
    grid = numpy.arange(6.0).reshape(2, 3)
    answer = call("def f(a, *, b): return {'twice': a * 2, 'b': (b, None, 'größe')}", grid, b=[1, True, 0.5])
    assert answer["twice"].tolist() == (grid * 2).tolist()
    assert answer["b"] == [[1, True, 0.5], None, "größe"]


@pytest.mark.integration
def test_bytes_cross_so_that_a_compressor_and_a_hash_can_be_called(call: Callable[..., Any]) -> None:
    data = bytes(range(256)) * 8
    assert zlib.decompress(call("import zlib\ndef f(data): return zlib.compress(data)", data)) == data
    digests = call(
        "import hashlib\ndef f(texts): return [hashlib.sha256(text).digest() for text in texts]", [b"", data]
    )
    assert digests == [hashlib.sha256(b"").digest(), hashlib.sha256(data).digest()]


def test_the_program_keeps_what_it_has_computed_between_calls(box: Box) -> None:
    """In one session, and not in the next."""
    with box.open(program(_COUNTER), "seed", 10) as session:
        assert [session.call("count"), session.call("count", step=5)] == [1, 6]
    with box.open(program(_COUNTER), "seed", 10) as session:
        assert session.call("count") == 1


def test_a_session_goes_on_after_an_exception(box: Box) -> None:
    """An evaluator may want to know what else works."""
    with box.open(program(_COUNTER), "seed", 10) as session:
        for function, status in (("fail", Status.ERROR), ("nothing", Status.NO_ENTRY)):
            with pytest.raises(SessionFailed) as caught:
                session.call(function)
            assert caught.value.status is status
        assert session.call("count") == 1


def test_many_calls_cross_together(box: Box) -> None:
    """In their order, in one process, arrays too."""
    source = "def f(a, b=0):\n    return [a * 2, b]\n" + _COUNTER
    with box.open(program(source), "seed", 10) as session:
        assert session.map("count", [[1], [2], []]) == [1, 3, 4]
        answers = session.map("f", [(numpy.arange(2),), (3, 4)])
        assert (answers[0][0].tolist(), answers[1]) == ([0, 2], [6, 4])
        assert session.map("f", []) == []


def test_one_of_many_calls_that_fails_is_the_failure_of_all(box: Box) -> None:
    """And the session goes on."""
    with box.open(program(_COUNTER), "seed", 10) as session:
        with pytest.raises(SessionFailed, match="positional argument") as caught:
            session.map("count", [[1], [2, 3]])
        assert caught.value.status is Status.ERROR
        assert session.map("count", [[4]], seconds=5) == [5]


_SHORT = """
import os, struct, sys
def f():
    frame = sys._getframe()
    while frame.f_code.co_name != "perform":
        frame = frame.f_back
    text = b'["ok",[1,2]]'
    payload = struct.pack(">I", len(text)) + text
    os.write(4, frame.f_locals["request"].ticket + struct.pack(">Q", len(payload)) + payload)
    os._exit(0)
"""


def test_a_forged_answer_to_many_calls_has_as_many_answers(box: Box) -> None:
    """A program that writes its own frame cannot make the judge's list shorter."""
    with box.open(program(_SHORT), "seed", 10) as session:
        with pytest.raises(SessionFailed, match="not of the form in which that comes") as caught:
            session.map("f", [[], [], []])
        assert caught.value.status is Status.BAD_JSON


def test_arguments_may_have_any_name(box: Box) -> None:
    """But `seconds`, which is the judge's."""
    with box.open(program("def f(function, self): return function + self"), "seed", 10) as session:
        assert session.call("f", function=1, self=2) == 3


def test_a_call_has_a_limit_of_its_own_and_the_session_ends_with_it(box: Box) -> None:
    """Every further call fails in the same way."""
    with box.open(program(_COUNTER), "seed", 30) as session:
        for function in ("sleep", "count"):
            with pytest.raises(SessionFailed) as caught:
                session.call(function, 20, seconds=0.2)
            assert (caught.value.status, caught.value.message) == (
                Status.TIMEOUT,
                "the program did not answer in time (sleep(), 0.2 s)",
            )
    assert session.usage.seconds < 10


def test_the_session_has_a_limit_over_all_calls(box: Box) -> None:
    """A call cannot have more than what is left."""
    with box.open(program(_COUNTER), "seed", 0.5) as session:
        session.call("count")
        with pytest.raises(SessionFailed) as caught:
            session.call("sleep", 20, seconds=100)
    assert (caught.value.status, caught.value.message) == (
        Status.TIMEOUT,
        "the program did not answer in time (sleep(), 0.5 s)",
    )


def test_what_was_used_is_known_afterwards(box: Box) -> None:
    """Time, memory, output and what was left running."""
    source = """
import os, sys, time
def f():
    print("\\x1b[1mfirst\\x1b[0m")
    sys.stderr.write("second")
    held = bytearray(50_000_000)
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    if os.fork() == 0:
        time.sleep(100)
"""
    with box.open(program(source), "seed", 30) as session:
        session.call("f")
    usage = session.usage
    assert usage.log == "first\nsecond"
    assert usage.strays == 1
    assert 0.1 <= usage.cpu_seconds < usage.seconds + 1
    assert 50_000_000 < usage.peak_bytes < 1 << 30


@pytest.mark.integration
def test_a_program_that_is_never_called_never_runs(box: Box) -> None:
    """Opening a session imports nothing."""
    with box.open(program("print('imported')"), "seed", 10) as session:
        time.sleep(0.1)
    assert session.usage.log == ""


def test_a_session_that_is_over_takes_no_call(box: Box) -> None:
    """A mistake of the evaluator, with its remedy."""
    with box.open(program(_COUNTER), "seed", 10) as session:
        pass
    with pytest.raises(SandboxError, match="inside its `with` block"):
        session.call("count")


def test_arguments_that_cannot_cross_are_the_callers_error(box: Box) -> None:
    """The program is not blamed, and the session goes on."""
    with box.open(program(_COUNTER), "seed", 10) as session:
        with pytest.raises(WireError, match="a value is of type set"):
            session.call("count", {1})
        assert session.call("count") == 1


def test_an_error_in_the_block_is_not_hidden_by_the_end_of_the_session(box: Box) -> None:
    """The evaluator's own exception comes through, and the session is over."""
    source = "import os\ndef f():\n    os.write(4, b'unasked' * 3)\n    return 1\n"
    with pytest.raises(RuntimeError, match="of the evaluator"), box.open(program(source), "seed", 10):
        raise RuntimeError("of the evaluator")


@pytest.mark.parametrize(("cpu_seconds", "status"), [(2.0, Status.TIMEOUT), (0.5, Status.SIGNAL)])
def test_a_kill_beyond_the_processor_limit_is_a_time_out(cpu_seconds: float, status: Status) -> None:
    """The kernel kills a program whose threads use more than a second per second; any other kill is a crash."""
    channel = Channel(most=100, log=100)
    channel.hand_over()
    session = Session(channel, lambda patience: SessionReport(-9, False, cpu_seconds, 0, 0), 1.0, Limits())
    with session, pytest.raises(SessionFailed) as caught:
        session.call("f")
    assert (caught.value.status, caught.value.signal) == (status, 9)


# --- commands


def files(**found: str) -> Program:
    """A program of a shell script, a module, and what else is given by its stem."""
    return Program({"seed.py": _COUNTER, "part.sh": "cat seed.py > copy.txt; echo done", **found})


def test_a_command_runs_where_all_files_lie_and_what_it_leaves_is_there_for_calls(box: Box) -> None:
    """The modules, too, which calls import from memory."""
    source = "from pathlib import Path\ndef f(): return Path('copy.txt').read_text()"
    with box.open(Program({**files().files, "seed.py": source}), "seed", 10) as session:
        completed = session.run(["sh", "part.sh"])
        assert (completed.code, completed.stdout, completed.stderr) == (0, "done\n", "")
        assert session.call("f") == source


def test_an_exit_code_is_an_answer_and_the_session_goes_on(box: Box) -> None:
    """Whatever it is; the text can be read by people."""
    with box.open(files(), "seed", 10) as session:
        completed = session.run(["sh", "-c", r"cat; printf '\033[1mbold\033[0m' >&2; exit 7"], input="größe")
        assert (completed.code, completed.stdout, completed.stderr) == (7, "größe", "bold")
        assert session.call("count") == 1


@pytest.mark.parametrize(
    ("argv", "status", "message"),
    [
        (["sh", "-c", "echo why >&2; kill -SEGV $$"], Status.SIGNAL, "sh: the program was ended by signal 11 (SIGSEGV):\nwhy"),
        (["./built"], Status.NO_ENTRY, "the command './built' cannot be started: No such file or directory"),
        (["yes"], Status.RESULT_TOO_LARGE, "yes printed 1048576 bytes; 131072 are allowed"),
        (["sh", "-c", "yes >&2"], Status.SIGNAL, "sh: the program was ended by signal 25 (SIGXFSZ):\ny\ny\n"),
        (["sleep", "60"], Status.TIMEOUT, "the program did not answer in time (sleep, 0.5 s)"),
    ],
)  # fmt: skip
def test_a_command_that_does_not_end_well_is_the_programs_failure(
    box: Box, argv: list[str], status: Status, message: str
) -> None:
    """As a call is."""
    with box.open(files(), "seed", 10) as session, pytest.raises(SessionFailed) as caught:
        session.run(argv, seconds=0.5)
    assert caught.value.status is status
    assert caught.value.message.startswith(message)


def test_what_a_command_leaves_running_ends_with_the_session(box: Box) -> None:
    """It holds nothing up until then."""
    with box.open(files(), "seed", 10) as session:
        pid = int(session.run(["sh", "-c", "(setsid sleep 60 & echo $!)"]).stdout)
        assert Path(f"/proc/{pid}").exists()
    assert (Path(f"/proc/{pid}").exists(), session.usage.strays) == (False, 1)


def test_a_commands_processor_time_and_memory_are_the_sessions(box: Box) -> None:
    """And its memory is limited, as the program's is."""
    greedy = "held = bytearray(60_000_000)\nimport time\nwhile time.process_time() < 0.2: pass"
    with box.open(files(), "seed", 10) as session:
        assert session.run([sys.executable, "-c", greedy]).code == 0
        assert "MemoryError" in session.run([sys.executable, "-c", "bytearray(1 << 31)"]).stderr
    assert session.usage.cpu_seconds >= 0.2
    assert session.usage.peak_bytes > 60_000_000


def test_a_build_that_succeeds_gives_what_it_printed(box: Box) -> None:
    """Warnings, for example."""
    with box.open(files(), "seed", 10) as session:
        assert session.build(["sh", "-c", "echo careful >&2"]).stderr == "careful\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("echo first; echo error: here >&2; exit 1", "sh failed with exit code 1:\nerror: here\nfirst"),
        ("kill -ABRT $$", "sh: the program was ended by signal 6 (SIGABRT)"),
        ("exec ./none", "sh failed with exit code 127:\n"),
        ("yes", "sh printed 1048576 bytes; 131072 are allowed"),
    ],
)
def test_a_build_that_fails_says_what_the_compiler_said(box: Box, line: str, message: str) -> None:
    """However it fails; the session may go on."""
    with box.open(files(), "seed", 10) as session:
        with pytest.raises(SessionFailed) as caught:
            session.build(["sh", "-c", line])
        assert caught.value.status is Status.BUILD_FAILED
        assert caught.value.message.startswith(message)
        assert session.call("count") == 1


def test_of_many_errors_the_first_and_the_last_are_shown(box: Box) -> None:
    """The first explain the most."""
    with box.open(files(), "seed", 10) as session, pytest.raises(SessionFailed) as caught:
        session.build(["sh", "-c", "seq -f 'error %.0f' 1 5000 >&2; exit 1"])
    lines = caught.value.message.splitlines()
    assert (lines[:2], lines[-1], "..." in lines) == (["sh failed with exit code 1:", "error 1"], "error 5000", True)
    assert len(caught.value.message) < 5000


def test_builds_come_before_commands_and_commands_before_calls(box: Box) -> None:
    """What comes later cannot have influenced what came before; asked otherwise, it is the evaluator's mistake, and the session stays."""
    with box.open(files(), "seed", 10) as session:
        for _ in range(2):
            session.build(["true"])
        for _ in range(2):
            session.run(["true"])
        with pytest.raises(SandboxError, match=r"a build after a run, .* Try: build first, or in another session"):
            session.build(["true"])
        session.call("count")
        with pytest.raises(SandboxError, match=r"a run after a call, .* Try: run first, or in another session"):
            session.run(["true"])
        assert session.call("count") == 2


def test_a_build_imports_nothing_of_the_program(box: Box) -> None:
    """Nor does a command."""
    with box.open(program("print('imported')"), "seed", 10) as session:
        session.build(["true"])
        session.run(["true"])
    assert session.usage.log == ""


# --- what a build leaves


def test_what_a_build_leaves_is_kept_and_placed_in_another_session(box: Box) -> None:
    """As bytes, and it may be run there."""
    with box.open(files(), "seed", 10, "build") as session:
        session.build(["sh", "-c", r"printf '#!/bin/sh\necho made\n' > made; printf '\377' > out.bin"])
        made = session.keep(["made", "out.bin"])
    assert made == {"made": b"#!/bin/sh\necho made\n", "out.bin": b"\xff"}
    with box.open(files(made="theirs"), "seed", 10) as session:
        session.place(made)
        assert session.run(["./made"]).stdout == "made\n"
        assert session.call("count") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("true", "the file 'out' cannot be kept: No such file or directory"),
        ("ln -s /etc/hostname out", "the file 'out' cannot be kept: Too many levels of symbolic links"),
        ("head -c 1048576 /dev/zero > out", "the answer has 1048613 bytes; 1048576 are allowed"),
        ("mkfifo out", "the file 'out' cannot be kept: it is no ordinary file"),
    ],
)
def test_what_cannot_be_kept_is_a_build_that_failed(box: Box, line: str, message: str) -> None:
    """The program's sources decided that."""
    with box.open(files(), "seed", 10, "build") as session:
        session.build(["sh", "-c", line])
        with pytest.raises(SessionFailed) as caught:
            session.keep(["out"])
    assert caught.value.status is Status.BUILD_FAILED
    assert caught.value.message.startswith(message)


def test_what_is_kept_may_nearly_fill_an_answer(box: Box) -> None:
    """Its name crosses beside it."""
    with box.open(files(), "seed", 10, "build") as session:
        session.build(["sh", "-c", "head -c 1048000 /dev/zero > out"])
        assert session.keep(["out"]) == {"out": bytes(1_048_000)}


def test_a_session_for_a_build_does_nothing_else(box: Box) -> None:
    """Whatever may be started there is a compiler's; the evaluator is told where to do the rest."""
    with box.open(files(), "seed", 10, "build") as session:
        for ask in (lambda: session.run(["true"]), lambda: session.call("count")):
            with pytest.raises(
                SandboxError, match=r"in a session that is for a build alone. Try: .* in another session"
            ):
                ask()


@pytest.mark.integration
def test_where_programs_may_start_no_others_a_command_is_the_evaluators_mistake() -> None:
    """But in a session for a build; calls are as ever."""
    box = Box(Limits(grants=Grants(execute=False)))
    try:
        with box.open(files(), "seed", 10) as session:
            for ask in (session.build, session.run):
                with pytest.raises(SandboxError, match=r"the task grants it none. Try: compile with `candidate.build`"):
                    ask(["true"])
            assert session.call("count") == 1
        with box.open(files(), "seed", 10, "build") as session:
            assert session.build(["true"]).code == 0
    finally:
        box.close()


def test_files_are_kept_and_placed_before_the_programs_code_has_run(box: Box) -> None:
    """Afterwards they would be the program's word."""
    with box.open(files(), "seed", 10) as session:
        session.run(["true"])
        for ask in (lambda: session.keep(["seed.py"]), lambda: session.place({"x": b""})):
            with pytest.raises(SandboxError, match="a build after a run"):
                ask()


def test_what_a_command_has_left_is_had_as_the_programs_word(box: Box) -> None:
    """What is not there is left out; a link is no file."""
    with box.open(files(), "seed", 10) as session:
        session.run(["sh", "-c", "printf one > a; ln -s a b"])
        assert session.keep(["none", "a"], claimed=True) == {"a": b"one"}
        with pytest.raises(SessionFailed) as caught:
            session.keep(["b"], claimed=True)
        assert caught.value.status is Status.NO_ENTRY
        session.call("count")
        with pytest.raises(SandboxError, match="a run after a call"):
            session.keep(["a"], claimed=True)


def test_a_program_that_lies_where_a_built_file_should_is_at_fault(box: Box) -> None:
    """A name is a file's or a folder's."""
    with box.open(Program({"seed.py": _COUNTER, "kernel.so/x": ""}), "seed", 10) as session:
        session.place({"kernel.so": b"x"})
        with pytest.raises(SessionFailed, match="cannot lie beside the others") as caught:
            session.call("count")
    assert caught.value.status is Status.NO_ENTRY


def test_every_status_has_an_outcome() -> None:
    """No end of a session is left without a meaning."""
    assert set(OUTCOME) == set(Status)


def test_the_documented_table_is_the_one_in_use() -> None:
    """`docs/tasks.md` shows each status with its outcome."""
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", read_chapter("tasks", "Outcomes"), re.MULTILINE)
    assert dict(rows) == {str(status): str(outcome) for status, outcome in OUTCOME.items()}


@pytest.mark.parametrize("argv", [["sh", "-c", "true"], ("sh",), ["./built"], ["build/program", ""], [sys.executable]])
def test_what_can_be_run_passes(argv: Any) -> None:
    """By name, by its place in the program's folder, or by an absolute path."""
    assert check_command(argv, "input", 5) == list(argv)


@pytest.mark.parametrize(
    ("argv", "text", "message"),
    [
        ("cc -O2", "", r"a command is a list of texts, the first its name, got 'cc -O2'. Try: write \["),
        ([], "", "a command is a list of texts"),
        ([""], "", "a command is a list of texts"),
        (["sh", Path("x")], "", "a command is a list of texts"),
        (["sh", "a\0b"], "", "an argument of 'sh' holds a zero character. Try: "),
        (["sh", "a" * 100_000], "", "more than 100000 bytes. Try: give long data as `input`"),
        (["sh"], "größe", "the input of 'sh' has more than 6 bytes. Try: give less"),
    ],
)
def test_a_command_that_is_none_is_the_evaluators_mistake(argv: Any, text: str, message: str) -> None:
    """What, got, do this."""
    with pytest.raises(SandboxError, match=message):
        check_command(argv, text, 6)


@pytest.mark.parametrize("command", ["no-such-compiler-anywhere", "/no/such/compiler", "/"])
def test_a_command_that_the_machine_lacks_is_told_with_its_remedy(command: str) -> None:
    """It is no failure of the program."""
    with pytest.raises(SandboxError, match=f"no command '{command}', which the task's evaluator runs. Try: install it"):
        check_command([command], "", 0)


def test_a_command_is_looked_for_where_candidates_find_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the judge's PATH; without one, in the usual places."""
    monkeypatch.delenv("PATH")
    assert check_command(["sh"], "", 0) == ["sh"]
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxError, match="no command 'sh'"):
        check_command(["sh"], "", 0)


def test_names_of_files_in_the_candidates_folder_pass() -> None:
    """Of any kind of sequence, and none at all."""
    assert check_names(("kernel.so", "out/x.bin", "./a", "a b\n")) == ["kernel.so", "out/x.bin", "./a", "a b\n"]
    assert check_names([]) == []


@pytest.mark.parametrize("names", ["kernel.so", [b"kernel.so"], ["a", "a"]])
def test_names_that_are_no_list_of_texts_are_the_evaluators_mistake(names: Any) -> None:
    """With an example of one."""
    with pytest.raises(SandboxError, match=r"named by a list of texts, each once, got .* Try: write \["):
        check_names(names)


@pytest.mark.parametrize("name", ["", ".", "/etc/passwd", "../x", "a/../../x", "a\0b"])
def test_a_name_that_leads_out_of_the_folder_is_the_evaluators_mistake(name: str) -> None:
    """And one that names nothing."""
    with pytest.raises(SandboxError, match=r"names no file in the candidate's folder\. Try: "):
        check_names(["fine", name])


def test_a_failure_reads_as_its_status_and_message() -> None:
    """What a log line shows."""
    failure = SessionFailed(Status.SIGNAL, "ended by signal 11", 11)
    assert (str(failure), failure.signal) == ("signal: ended by signal 11", 11)
