"""External programs as models."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evolve.models.command import CommandModel, CommandModelSettings
from evolve.models.process_reaper import ProcessReaper, remaining_groups
from evolve.testing import check_model
from evolve.types import Message, ModelError, ModelGone, Prompt, Section, Usage

pytestmark = pytest.mark.integration

LATER = float("inf")
ASKED = Prompt(
    (Message("system", (Section("rules", "Be brief."),)), Message("user", (Section("task", "Find it."),))),
    temperature=0.5,
    max_tokens=100,
)
NAME = f"{ASKED.request[:16]}-2"


def model(program: str, **settings: object) -> CommandModel:
    """A program in Python."""
    return CommandModel(CommandModelSettings(argv=[sys.executable, "-c", program], **settings))


def ask(
    command: CommandModel, asked: Prompt = ASKED, deadline: float = LATER, cancelled: threading.Event | None = None
):
    """One call, and the guardian's end."""
    with closing(command):
        return command.complete(asked, samples=[2, 3], deadline=deadline, cancelled=cancelled or threading.Event())


def test_a_program_reads_the_prompt_and_prints_the_answer():
    """One process answers one sample; tokens are estimated."""
    (reply,) = ask(CommandModel(CommandModelSettings(argv="cat -")))
    assert reply.text == f"==== {NAME}: system ====\n\nBe brief.\n\n==== {NAME}: user ====\n\nFind it.\n"
    assert (reply.finish, reply.usage) == ("stop", Usage(5, (len(reply.text) + 3) // 4))


def test_what_a_program_thinks_aloud_is_no_part_of_the_answer():
    """Its tokens count."""
    (reply,) = ask(model("print('<think>so</think>\\nx = 1')"))
    assert (reply.text, reply.thinking, reply.usage.completion_tokens) == ("x = 1", "so", 6)


def test_a_prompt_as_json():
    """With how the answer is to be sampled."""
    (reply,) = ask(CommandModel(CommandModelSettings(argv=["cat"], format="json")))
    assert json.loads(reply.text) == {
        "name": NAME,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Find it."}],
        "temperature": 0.5,
        "effort": "",
        "max_tokens": 100,
    }


def test_much_goes_in_and_comes_out():
    """More than pipes hold, in both directions at once."""
    words = "x" * 1_000_000
    (reply,) = ask(
        CommandModel(CommandModelSettings(argv="cat")), Prompt((Message("user", (Section("task", words),)),))
    )
    assert words in reply.text


def test_a_program_need_not_read_the_prompt():
    """It may close its stdin, and answer."""
    words = Prompt((Message("user", (Section("task", "x" * 1_000_000),)),))
    assert ask(model("import os; os.close(0); print('done')"), words)[0].text == "done\n"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('half'); raise SystemExit(3)", "ended with exit code 3. Try: try it by hand"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "was ended by signal 15"),
        ("print(' ')", "has answered nothing"),
        ("import sys; sys.stdout.buffer.write(b'caf\\xe9')", "has not answered in UTF-8"),
        ("print('x' * 9_000_000)", "answered with more than 4,194,304 bytes and was ended"),
    ],
)
def test_an_answer_that_is_none_is_a_call_that_failed(program, message):
    """It says why."""
    with pytest.raises(ModelError) as caught:
        ask(model(program))
    assert type(caught.value) is ModelError
    assert message in str(caught.value)


def test_an_error_quotes_the_last_lines_of_stderr():
    """However much it is."""
    with pytest.raises(ModelError) as caught:
        ask(model("import sys; [print('line', n, file=sys.stderr) for n in range(30_000)]; sys.exit(1)"))
    first, *quoted = str(caught.value).split("\n")
    assert first.endswith("ended with exit code 1. Try: try it by hand")
    assert quoted == [f"line {number}" for number in range(29_990, 30_000)]


def test_a_program_sees_no_variable_that_it_was_not_given(monkeypatch):
    """PATH, HOME, LANG, and what its settings name."""
    monkeypatch.setenv("SECRET_KEY", "sk-0123456789")
    monkeypatch.setenv("GIVEN_KEY", "sk-abcdefghij")
    (reply,) = ask(model("import os; print(' '.join(sorted(os.environ)))", environment=["GIVEN_KEY"]))
    known = {*os.environ, "LC_CTYPE"} & {"PATH", "HOME", "LANG", "GIVEN_KEY", "LC_CTYPE"}
    assert set(reply.text.split()) - {"LC_CTYPE"} == known - {"LC_CTYPE"}


def test_what_it_was_given_in_variables_is_in_no_error(monkeypatch):
    """Such as a key that it complains of."""
    monkeypatch.setenv("GIVEN_KEY", "sk-abcdefghij")
    program = "import os, sys; sys.exit('wrong key ' + os.environ['GIVEN_KEY'])"
    with pytest.raises(ModelError) as caught:
        ask(model(program, environment=["GIVEN_KEY"]))
    assert str(caught.value).endswith("\nwrong key ***")


def is_alive(process: int) -> bool:
    """It is there, and not only its remains."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip()) and not found.stdout.startswith("Z")


def gone(process: int) -> bool:
    until = time.monotonic() + 10
    while is_alive(process) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_alive(process)


PARENT = "import subprocess, sys; child = subprocess.Popen(['sleep', '300']); open({!r}, 'w').write(str(child.pid)); {}"


@pytest.mark.parametrize("how", ["deadline", "cancelled"])
def test_whole_group_of_a_program_that_is_too_slow_is_ended(tmp_path, how):
    """At the deadline, and soon after the call was cancelled."""
    file, cancelled = tmp_path / "pid", threading.Event()
    deadline = time.monotonic() + 1.0 if how == "deadline" else LATER
    if how == "cancelled":
        threading.Timer(1.0, cancelled.set).start()
    with pytest.raises(ModelError, match="took too long" if how == "deadline" else "was cancelled"):
        ask(model(PARENT.format(str(file), "child.wait()")), deadline=deadline, cancelled=cancelled)
    assert gone(int(file.read_text()))


ENGINE = """
import sys, threading
from evolve.models.command import CommandModel, CommandModelSettings
from evolve.types import Message, Prompt, Section
command = CommandModel(CommandModelSettings(argv=[sys.executable, "-c", sys.argv[1]]))
prompt = Prompt((Message("user", (Section("task", "Find it."),)),))
command.complete(prompt, samples=[0], deadline=float("inf"), cancelled=threading.Event())
"""


def test_what_a_program_started_ends_with_an_engine_that_is_killed(tmp_path):
    """The program's child too; the engine has no time to do anything."""
    file = tmp_path / "pid"
    program = PARENT.format(str(file), "open({!r}, 'w').write(str(__import__('os').getpid())); child.wait()")
    program = program.format(str(tmp_path / "own"))
    with subprocess.Popen([sys.executable, "-c", ENGINE, program]) as engine:
        until = time.monotonic() + 20
        while not (tmp_path / "own").exists() or not (tmp_path / "own").read_text():
            assert time.monotonic() < until
            time.sleep(0.02)
        engine.kill()
    assert gone(int((tmp_path / "own").read_text()))
    assert gone(int(file.read_text()))


def test_a_failed_call_tells_how_long_its_program_took():
    """It may have worked on GPUs of one's own all the while."""
    with pytest.raises(ModelError) as raised:
        ask(model("import time; time.sleep(30)"), deadline=time.monotonic() + 0.5)
    assert raised.value.seconds >= 0.5


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "pass", "import os; os.write(1, bytes([255]))"])
def test_a_failed_call_costs_its_prompt_and_its_time_where_the_program_ran(program):
    """It may have asked a server that charges; tokens are estimated."""
    with pytest.raises(ModelError) as raised:
        ask(model(program))
    assert (raised.value.usage, raised.value.seconds > 0) == (Usage(5), True)


def test_a_call_whose_program_never_ran_costs_nothing():
    """It was removed after the check."""
    with pytest.raises(ModelGone) as raised:
        ask(CommandModel(CommandModelSettings(argv=["no-such-program"])))
    assert raised.value.usage == Usage()


def test_what_a_program_leaves_behind_is_ended_and_not_waited_for(tmp_path):
    """Though it holds the program's stdout."""
    file = tmp_path / "pid"
    (reply,) = ask(model(PARENT.format(str(file), "print('done')")))
    assert reply.text == "done\n"
    assert gone(int(file.read_text()))


def test_a_program_that_there_is_not_is_found_at_the_check():
    """And it is not called there."""
    lost = CommandModel(CommandModelSettings(argv="no-such-program --fast"))
    for call in (lambda: lost.check(LATER, threading.Event()), lambda: ask(lost)):
        with pytest.raises(ModelGone, match="no-such-program"):
            call()
    assert CommandModel(CommandModelSettings(argv="false")).check(LATER, threading.Event()) == Usage()


def test_a_variable_that_is_not_set_is_found_at_the_check(monkeypatch):
    """Before a program misses it."""
    monkeypatch.delenv("GIVEN_KEY", raising=False)
    with pytest.raises(ModelGone, match="the variable GIVEN_KEY, which is not set"):
        CommandModel(CommandModelSettings(argv="cat", environment=["GIVEN_KEY"])).check(LATER, threading.Event())


@pytest.mark.parametrize(("argv", "split"), [("a 'b c' d", ("a", "b c", "d")), (["a", "b c"], ("a", "b c"))])
def test_a_command_is_a_list_or_a_text(argv, split):
    """A text is split as a shell does."""
    assert CommandModelSettings(argv=argv).argv == split


@pytest.mark.parametrize("argv", ["", "a 'b", []])
def test_a_command_without_a_program_is_refused(argv):
    """Or one whose quotes do not end."""
    with pytest.raises(ValidationError):
        CommandModelSettings(argv=argv)


def test_it_keeps_the_promises_of_a_model():
    """Called on several threads."""
    check_model(lambda: CommandModel(CommandModelSettings(argv="cat")))


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as process:
        yield process
        process.kill()


def test_a_group_that_is_watched_when_the_pipe_ends_is_killed(sleeper):
    reaper = ProcessReaper()
    with reaper.watching(sleeper.pid):
        reaper.close()
        assert sleeper.wait(10) == -9
    reaper.close()


def test_a_group_that_is_over_is_left_alone(sleeper):
    reaper = ProcessReaper()
    with reaper.watching(sleeper.pid):
        pass
    reaper.close()
    assert sleeper.poll() is None


def test_a_process_that_is_gone_breaks_no_call(sleeper):
    reaper = ProcessReaper()
    with reaper.watching(sleeper.pid):
        reaper._process.kill()
        reaper._process.wait()
    reaper.close()
    assert sleeper.poll() is None


GROUPS = st.integers(1, 5)


@given(st.lists(st.tuples(st.sampled_from("+-"), GROUPS)))
def test_the_groups_that_are_left_had_begun_last(told: list[tuple[str, int]]):
    last = {group: sign for sign, group in told}
    expected = {group for group, sign in last.items() if sign == "+"}
    assert expected == remaining_groups(f"{sign}{group}\n".encode() for sign, group in told)


def test_half_a_line_tells_nothing():
    assert remaining_groups([b"+12\n", b"+345"]) == {12}
    assert remaining_groups([b"+12\n", b"-12"]) == {12}
