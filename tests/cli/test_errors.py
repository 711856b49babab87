"""What a user sees of an error."""

import errno
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from evolve.cli.errors import report_errors
from evolve.cli.options import DEBUG, debug_option
from evolve.types import ConfigError


def ended(error: BaseException | None, *words: str):
    """A command line that ends with `error`."""

    class Group(click.Group):
        def invoke(self, ctx: click.Context) -> None:
            return report_errors(super().invoke, ctx)

    @click.group(cls=Group)
    def group() -> None: ...

    @group.command()
    @debug_option
    def work() -> None:
        if error is not None:
            raise error

    return CliRunner().invoke(group, ["work", *words])


def test_an_error_is_one_line_on_stderr_and_exit_code_1():
    """Nothing on stdout, no traceback."""
    result = ended(ConfigError("what, got 1. Try: this"))
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "evolve: error: what, got 1. Try: this\n")


def test_debug_shows_the_error_itself():
    """With its traceback, as Python prints it."""
    assert isinstance(ended(ConfigError("what"), "--debug").exception, ConfigError)


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("0", False), ("", False)])
def test_the_environment_asks_for_tracebacks_too(monkeypatch, value, expected):
    """`EVOLVE_DEBUG=1`."""
    monkeypatch.setenv("EVOLVE_DEBUG", value)
    assert expected == isinstance(ended(ConfigError("what")).exception, ConfigError)


@pytest.mark.integration
def test_an_interrupt_while_the_process_ends_is_130_too():
    """Not the signal, and no traceback: the last thing that a process does may be to wait for its threads."""
    program = (
        "import atexit, os, signal, sys; from evolve.cli import main; "
        "atexit.register(os.kill, os.getpid(), signal.SIGINT); sys.argv = ['evolve', '--version']; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "")
    assert done.stdout.startswith("evolve ")


def test_an_interrupt_ends_with_130():
    """As a shell expects, also with `--debug`."""
    result = ended(KeyboardInterrupt(), "--debug")
    assert result.exit_code == 130
    assert result.stderr == "\nevolve: stopped at once; what a campaign had settled is in its log.\n"


def test_an_interrupt_may_say_what_it_left():
    """Such as that nothing had begun."""
    assert ended(KeyboardInterrupt("nothing was made.")).stderr == "\nevolve: nothing was made.\n"


@pytest.mark.parametrize(
    "error",
    [MemoryError(), OSError(errno.ENOMEM, "Cannot allocate memory"), RuntimeError("can't start new thread")],
)
def test_a_machine_without_memory_or_threads_is_reported_with_the_remedy(error):
    """As below `ulimit -v`."""
    result = ended(error)
    assert result.exit_code == 1
    assert result.stderr.startswith("evolve: error: there is not enough memory")
    assert "Try: raise the limits" in result.stderr


def test_a_full_disk_is_reported_with_the_remedy():
    """Wherever it was met."""
    result = ended(OSError(errno.ENOSPC, "No space left on device"))
    assert result.exit_code == 1
    assert "evolve: error: the disk is full. Try: make room" in result.stderr


SAYS_MUCH = """
import sys
from evolve.cli import evolve
import click

@evolve.command()
def much():
    for _ in range(100_000):
        click.echo("a line", err=%s)

evolve.commands["much"] = much
type(evolve).get_command = lambda self, context, name: self.commands[name]
evolve(["much"], prog_name="evolve")
"""


@pytest.mark.integration
@pytest.mark.parametrize("to_stderr", [False, True])
def test_a_reader_that_went_away_is_no_news(to_stderr):
    """The command ends quietly, with the code that a shell gives to what SIGPIPE ended."""
    streams = {
        "stderr" if to_stderr else "stdout": subprocess.PIPE,
        "stdout" if to_stderr else "stderr": subprocess.PIPE,
    }
    with subprocess.Popen([sys.executable, "-c", SAYS_MUCH % to_stderr], **streams) as process:
        read, other = (process.stderr, process.stdout) if to_stderr else (process.stdout, process.stderr)
        assert read.readline() == b"a line\n"
        read.close()
        assert (other.read(), process.wait(30)) == (b"", 141)


@pytest.mark.parametrize("bug", [ValueError("a bug"), PermissionError(errno.EACCES, "no")])
def test_a_bug_is_not_caught(bug):
    """Its traceback is what we need."""
    assert bug is ended(bug).exception


def test_success_is_silent():
    """And zero."""
    assert (ended(None).exit_code, ended(None).output) == (0, "")


def test_the_debug_key_is_ours():
    """It is shared by all contexts of one call."""
    assert DEBUG == "evolve.debug"


@pytest.mark.integration
def test_an_interrupt_after_the_command_is_130_too():
    """As one within it, although its errors are not reported any more."""
    program = (
        "import os, signal, sys; import click; from evolve import cli; "
        "click.Context.close = lambda _: os.kill(os.getpid(), signal.SIGINT); "
        "sys.argv = ['evolve', 'plugin', 'list']; cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, "")
