"""What a user can get wrong, through the whole command line: one clear message, an exit code, nothing lost, nothing half made."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evolve.cli import evolve
from evolve.store import Log

Call = Callable[..., Result]

TASK = {
    "task.toml": """schema = 1
deterministic = true
[fitness]
name = "nearness"
""",
    "README.md": "Find the number.\n",
    "seed.py": "def value():\n    return 5.0\n",
    "evaluator.py": """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    value = candidate.call("value")
    return Evaluation.ok(-abs(value - 7.0))
""",
}
ANSWER = "return Evaluation.ok(-abs(value - 7.0))"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace, which is not there yet. The current folder is another one, with the tasks `number` and `other`."""
    monkeypatch.setenv("EVOLVE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("EVOLVE_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    write("number", TASK)
    write("other", TASK)
    return tmp_path / "home"


@pytest.fixture
def call(home: Path) -> Call:
    """The command line on some words, in this process."""
    return lambda *words: CliRunner().invoke(evolve, [str(word) for word in words], prog_name="evolve")


@pytest.fixture
def digest(call: Call, home: Path) -> Callable[[str], str]:
    """What a log holds, proven by a replay."""

    def of(name: str) -> str:
        result = call("campaign", "replay", name, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["digest"]

    return of


@pytest.fixture
def finished(call: Call) -> str:
    """A campaign on the task `number` that has spent its budget of three programs."""
    result = call("run", "number", "--budget", "3programs", "--judges", "1")
    assert result.exit_code == 0, result.output
    return "number"


def write(name: str, files: Mapping[str, str | None]) -> None:
    """Files of a task's folder; None removes one."""
    folder = Path("tasks") / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / file).unlink(missing_ok=True)
        if text is not None:
            (folder / file).write_text(text)


def error_of(result: Result) -> str:
    """The one message of a command that failed, in the form that all have."""
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1
    return checked(result.stderr)


def checked(stderr: str) -> str:
    assert stderr.startswith("evolve: error: ")
    assert stderr.count("\n") == 1
    assert stderr.count("Do: ") == 1
    assert "Traceback" not in stderr
    return stderr


def campaigns(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "archive" / "campaigns").glob("*"))


def process(*words: str, **options: object) -> "subprocess.Popen[str]":
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "evolve", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


WRONG_WORDS = {
    "an unknown task": (["numbr"], "no task is called 'numbr'. Did you mean 'number'?"),
    "a folder that is no task": (["./tasks"], "has no task.toml"),
    "no task": ([], "there is no TASK"),
    "an unknown setting": (["number", "--set", "archive.ilands=2"], "'archive.ilands'. Did you mean 'islands'?"),
    "an unknown section": (["number", "--set", "archiv.islands=2"], "'archiv'. Did you mean 'archive'?"),
    "a setting of the wrong type": (["number", "--set", "archive.islands=many"], "got 'many'"),
    "a setting without a value": (["number", "--set", "archive.islands"], "written key=value, got 'archive.islands'"),
    "a parameter that the task lacks": (["number", "--set", "task.n=3"], "no parameter 'n'"),
    "a negative budget": (["number", "--budget", "-3s"], "got '-3s', but it is not above zero"),
    "a budget of nothing": (["number", "--budget", "0programs"], "not above zero"),
    "a budget without a unit": (["number", "--budget", "60"], "got '60'"),
    "a budget that is no number": (["number", "--budget", "soon"], "got 'soon', but it is not a number and a unit"),
    "a budget without end": (["number", "--budget", "infs"], "not a finite number"),
    "an unknown strategy": (["number", "--strategy", "iland"], "'iland'. Did you mean 'islands'?"),
    "an unknown operator": (
        ["number", "--set", 'operators.names=["tune_literal"]'],
        "'tune_literal'. Did you mean 'tune_literals'?",
    ),
    "an operator that a baseline may not use": (
        ["number", "--strategy", "random", "--set", 'operators.names=["tune_literals"]'],
        "history-free operators only, got 'tune_literals'",
    ),
    "an unknown setting of a strategy": (["number", "--set", "strategy.settings.resorce=1"], "no setting 'resorce'"),
    "an unknown setting of an operator": (
        ["number", "--set", "operators.settings.tune_literals.x=1"],
        "'tune_literals' has no setting",
    ),
    "settings of an operator that is not used": (
        ["number", "--set", "operators.settings.tune_literal.x=1"],
        "'tune_literal', which this campaign does not use. Did you mean 'tune_literals'?",
    ),
    "no judges": (["number", "--judges", "0"], "got 0"),
    "a negative seed": (["number", "--seed", "-1"], "got -1"),
    "an end by the clock": (["number", "--deterministic", "--budget", "5s"], "cannot end by the clock, got"),
    "a name that is a path": (["number", "--name", "../number"], "got '../number'"),
    "more of nothing": (["--continue"], "there is no campaign in"),
    "more of an unknown campaign": (["--continue", "nothing"], "there is no campaign 'nothing'"),
}


@pytest.mark.parametrize(("words", "message"), WRONG_WORDS.values(), ids=WRONG_WORDS)
def test_a_wrong_word_is_one_message_and_makes_nothing(call: Call, home: Path, words: list[str], message: str) -> None:
    """What, got, do this; exit code 1; no workspace is made."""
    result = call("run", *words)
    assert message in error_of(result)
    assert (result.stdout, home.exists()) == ("", False)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "number", "--bdget", "3s"],
        ["run", "number", "--judges", "two"],
        ["run", "number", "other"],
        ["rnu", "number"],
        ["campaign", "replya"],
    ],
)
def test_a_wrong_option_is_a_usage_error(call: Call, home: Path, words: list[str]) -> None:
    """Exit code 2, with where to read on."""
    result = call(*words)
    assert (result.exit_code, result.stdout, home.exists()) == (2, "", False)
    assert "--help" in result.stderr


BROKEN_TASKS = {
    "no evaluator": ({"evaluator.py": None}, "there is no file 'evaluator.py'"),
    "an evaluator that does not import": (
        {"evaluator.py": "import no_such_module\n"},
        "does not load: ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "an evaluator that does not parse": ({"evaluator.py": "def evaluate(:\n"}, "does not load: SyntaxError: "),
    "an evaluator that leaves": ({"evaluator.py": "raise SystemExit(3)\n"}, "does not load: SystemExit: 3"),
    "an evaluator without its mark": ({"evaluator.py": "def evaluate(): ...\n"}, "has 0 functions marked @evaluator"),
    "an evaluator of an unknown plugin": (
        {"task.toml": 'schema = 1\nevaluator = { plugin = "near" }\n'},
        "no evaluator is called 'near'",
    ),
    "no seed": ({"seed.py": None}, "there is no file 'seed.py'"),
    "an unknown key": ({"task.toml": "schema = 1\ndeterministc = true\n"}, "Did you mean 'deterministic'?"),
    "no TOML": ({"task.toml": "schema = \n"}, "this is not TOML"),
    "a preload that is missing": (
        {"task.toml": 'schema = 1\n[sandbox]\npreload = ["no_such_module"]\n'},
        "No module named 'no_such_module'",
    ),
}


@pytest.mark.parametrize(("files", "message"), BROKEN_TASKS.values(), ids=BROKEN_TASKS)
def test_a_broken_task_is_one_message_and_makes_nothing(
    call: Call, home: Path, files: Mapping[str, str | None], message: str
) -> None:
    """Found before a campaign is opened."""
    write("number", files)
    result = call("run", "number", "--budget", "3programs", "--judges", "1")
    assert message in error_of(result)
    assert (result.stdout, home.exists()) == ("", False)


BROKEN_SEEDS = {
    "a seed that raises": (
        {"seed.py": "def value():\n    raise ValueError('not me')\n"},
        "crashed: ValueError: not me",
    ),
    "a seed that does not parse": ({"seed.py": "def value(:\n"}, "invalid: SyntaxError: "),
    "a seed that lacks the function": ({"seed.py": "x = 1\n"}, "invalid: "),
    "a seed that is wrong": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return Evaluation.wrong('too small')")},
        "wrong: too small",
    ),
    "an evaluator that raises": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return value / 0")},
        "internal: the evaluator raised ZeroDivisionError: ",
    ),
    "an evaluator that returns NaN": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return Evaluation.ok(float('nan'))")},
        "invalid: the fitness is nan, not a finite number",
    ),
    "an evaluator that returns a text": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return 'good'")},
        "internal: the evaluator returned a str, wanted an Evaluation",
    ),
    "an evaluator whose fitness is a text": (
        {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, "return Evaluation.ok('good')")},
        "internal: the evaluator raised ValueError: could not convert string to float: 'good'",
    ),
    "an evaluator that forgets an axis": (
        {"task.toml": TASK["task.toml"] + '[[axes]]\nname = "size"\nlow = 0\nhigh = 1\nbins = 2\n'},
        "invalid: no descriptor for the task's axis 'size'",
    ),
}


@pytest.mark.parametrize(("files", "message"), BROKEN_SEEDS.values(), ids=BROKEN_SEEDS)
def test_a_seed_that_fails_its_own_evaluator_is_one_message(
    call: Call, home: Path, digest: Callable[[str], str], files: Mapping[str, str | None], message: str
) -> None:
    """The record is kept as evidence, in a log that is whole."""
    write("number", files)
    message_shown = error_of(call("run", "number", "--budget", "3programs", "--judges", "1"))
    assert "the seed of task 'number' fails its own evaluator" in message_shown
    assert message in message_shown
    assert f"The log of campaign 'number' is kept: {home}" in message_shown
    assert campaigns(home) == ["number.db"]
    assert len(digest("number")) == 64


def test_an_evaluator_that_fails_later_stops_the_campaign(call: Call, home: Path, digest: Callable[[str], str]) -> None:
    """Once it has failed five times in a row; what had settled is kept, and a mended task is another version."""
    broken = "if value != 5.0:\n        raise KeyError('weights')\n    " + ANSWER
    write("number", {"evaluator.py": TASK["evaluator.py"].replace(ANSWER, broken)})
    result = call("run", "number", "--budget", "100programs", "--judges", "1")
    assert "the judge failed 5 times in a row, last with: the evaluator raised KeyError: 'weights'" in error_of(result)
    assert len(digest("number")) == 64
    write("number", TASK)
    assert "has changed since campaign 'number' began" in error_of(call("run", "--continue", "--budget", "200programs"))
    again = call("run", "number", "--budget", "3programs", "--judges", "1")
    assert (again.exit_code, campaigns(home)) == (0, ["number-2.db", "number.db"])


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"evaluator.py": "def setup():\n    return 1 / 0\n\nsetup()\n"}, "in setup"),
        ({"seed.py": "def value():\n    return helped()\n\ndef helped():\n    return 1 / 0\n"}, "in helped"),
    ],
    ids=["evaluator", "seed"],
)
def test_debug_shows_the_traceback(home: Path, files: Mapping[str, str], place: str) -> None:
    """Ours, and that of the task's code, which the message leaves out."""
    write("number", files)
    for option, expected in (("", False), ("--debug", True)):
        words = ["run", "number", "--budget", "3programs", "--judges", "1", *option.split()]
        with process(*words) as running:
            _, errors = running.communicate(timeout=60)
        assert running.returncode == 1
        assert ("Traceback (most recent call last)" in errors, place in errors) == (expected, expected)
        assert "ZeroDivisionError: division by zero" in errors


def plugin(folder: Path, source: str) -> None:
    """An installed package with a plugin, as `pip` leaves one."""
    about = folder / "mine-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[evolve]\nmine = plugin_of_this_test\n")
    (folder / "plugin_of_this_test.py").write_text(source)


IMPORTS = "from evolve import hookimpl\nfrom evolve.hookspecs import OperatorEntry, StrategyEntry\n"
REGISTERS = "\n@hookimpl\ndef register_{}():\n    return [{}]\n"


@pytest.mark.parametrize("command", [["run", "number", "--budget", "3programs"], ["plugin", "list"]])
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_module\n", "plugin 'mine' raised ModuleNotFoundError: No module named 'no_such_module'"),
        ("def broken(:\n", "plugin 'mine' raised SyntaxError"),
        (IMPORTS + "@hookimpl\ndef register_strategy(): ...\n", "a hook that does not exist"),
        (IMPORTS + REGISTERS.format("operators", "1 / 0"), "plugin 'mine' raised ZeroDivisionError"),
        (
            IMPORTS + REGISTERS.format("operators", "OperatorEntry('tune_literals', None)"),
            "'tune_literals' is registered by two plugins",
        ),
    ],
    ids=["import", "syntax", "hook", "raises", "name"],
)
def test_a_plugin_that_does_not_load_is_named(home: Path, tmp_path: Path, command, source: str, message: str) -> None:
    """And nothing runs without it."""
    plugin(tmp_path / "site", source)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    with process(*command, env=environment) as running:
        out, errors = running.communicate(timeout=60)
    assert (running.returncode, out, home.exists()) == (1, "", False)
    assert message in checked(errors)


def test_an_operator_that_raises_stops_the_campaign(
    call: Call, home: Path, tmp_path: Path, digest: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After five times in a row, named; the screened records are in the log."""
    entry = "OperatorEntry('breaks', lambda settings: Breaks())"
    source = "class Breaks:\n    def propose(self, selection, context):\n        return 1 / 0\n"
    plugin(tmp_path / "site", IMPORTS + source + REGISTERS.format("operators", entry))
    monkeypatch.syspath_prepend(tmp_path / "site")
    words = ("--budget", "100programs", "--judges", "1", "--set", 'operators.names=["breaks"]')
    message = error_of(call("run", "number", *words))
    assert "'breaks' raised ZeroDivisionError: division by zero" in message
    assert "5 proposals in a row failed" in message
    assert len(digest("number")) == 64
    monkeypatch.delitem(sys.modules, "plugin_of_this_test")


MORE = ["--budget", "9programs"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["other", "--continue", "number", *MORE], "is on the task 'number', got 'other'"),
        (["--continue", "number"], "the budget of campaign 'number' is spent, 3programs: 3 programs"),
        (["number", "--name", "number", *MORE], "there is a campaign 'number' already"),
        (["--continue", "numbr", *MORE], "Did you mean 'number'?"),
        (["--continue", "number", "--strategy", "random", *MORE], "got --strategy"),
        (["--continue", "number", "--seed", "7", *MORE], "got --seed"),
        (["--continue", "number", "--set", "archive.islands=2", *MORE], "got --set"),
        (["--continue", "number", "--budget", "9programs", "--judges", "0"], "got 0"),
        (["--continue", "number", "--budget", "-1s"], "not above zero"),
    ],
)
def test_what_does_not_fit_a_campaign_leaves_it_as_it_is(
    call: Call, home: Path, finished: str, digest: Callable[[str], str], words: list[str], message: str
) -> None:
    """No event is added."""
    before = digest(finished)
    assert message in error_of(call("run", *words))
    assert (digest(finished), "other.db" in campaigns(home)) == (before, False)


@pytest.mark.parametrize("files", [{"evaluator.py": TASK["evaluator.py"] + "# changed\n"}, {"extra.csv": "1,2\n"}])
def test_a_changed_task_is_another_version(
    call: Call, finished: str, digest: Callable[[str], str], files: Mapping[str, str]
) -> None:
    """Its scores would not compare."""
    before = digest(finished)
    write("number", files)
    assert "has changed since campaign 'number' began" in error_of(call("run", "--continue", *MORE))
    assert digest(finished) == before


def test_a_task_that_is_gone_is_missed(call: Call, finished: str, digest: Callable[[str], str]) -> None:
    """To judge, not to look at what there is."""
    before = digest(finished)
    Path("tasks/number").rename("elsewhere")
    assert "no task is called 'number'" in error_of(call("run", "--continue", *MORE))
    assert digest(finished) == before


@pytest.mark.parametrize("identity", ["number/first", "number/-1", "number/1.0", "1e0", "number/"])
def test_an_unreadable_program_is_one_message(call: Call, finished: str, identity: str) -> None:
    """With the form that a name has."""
    assert f"a program is named NAME/ID, got {identity!r}" in error_of(call("program", "show", identity))


@pytest.mark.parametrize("number", ["0", "999", "9" * 30])
def test_a_program_that_is_not_there_is_one_message(call: Call, finished: str, number: str) -> None:
    """With those that there are."""
    message = error_of(call("program", "show", f"number/{number}"))
    assert f"campaign 'number' has no record {number}: it has 1 to 4" in message


def test_a_locked_log_is_left_to_its_engine(call: Call, home: Path, digest: Callable[[str], str]) -> None:
    """Reading goes on meanwhile; an interrupt ends the engine with 130 and all that had settled."""
    with process("run", "number", "--budget", "500s", "--judges", "1", "--json") as running:
        assert running.stdout is not None
        first = json.loads(running.stdout.readline())
        refused = call("run", "--continue", "number", "--budget", "600s")
        shown = call("campaign", "show", "number")
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=60)
    assert f"is locked: another engine (process {running.pid})" in error_of(refused)
    assert shown.exit_code == 0
    assert (running.returncode, first["id"]) == (130, 1)
    assert "Traceback" not in errors
    end = json.loads(out.splitlines()[-1])
    assert (end["reason"], end["records"]) == ("interrupted", len(out.splitlines()))
    assert len(digest("number")) == 64


def test_a_damaged_log_is_one_message(call: Call, home: Path, finished: str) -> None:
    """And is not written to; the list of campaigns goes on."""
    path = home / "archive" / "campaigns" / "number.db"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    for words in (["run", "--continue", "number", *MORE], ["campaign", "show", "number"], ["program", "list"]):
        assert "number.db is damaged" in error_of(call(*words))
    assert path.read_bytes() == content[: len(content) // 2]
    assert "number.db is damaged" in call("campaign", "list").stdout


def test_a_log_of_a_newer_version_is_one_message(call: Call, home: Path, finished: str) -> None:
    """That says to update."""
    with sqlite3.connect(home / "archive" / "campaigns" / "number.db") as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('evolve.log', '9999_later', '2099-01-01')"
        )
    connection.close()
    for words in (["run", "--continue", "number", *MORE], ["campaign", "show", "number"]):
        assert "was made by a newer version of evolve (it has 9999_later). Do: update" in error_of(call(*words))


def test_a_file_that_is_no_log_is_one_message(call: Call, home: Path, finished: str) -> None:
    """Whatever it is."""
    (home / "archive" / "campaigns" / "letter.db").write_text("dear reader, this is no database\n" * 200)
    assert "letter.db is no log of evolve" in error_of(call("run", "--continue", "letter", *MORE))


def test_a_workspace_that_is_a_file_is_one_message(call: Call, tmp_path: Path, home: Path) -> None:
    """And stays that file."""
    home.write_text("mine")
    result = call("run", "number", "--budget", "3programs", "--judges", "1")
    assert "Do: check the folder and its permissions and free space, or set EVOLVE_HOME" in error_of(result)
    assert home.read_text() == "mine"


LIMITED = (
    "import resource, signal, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); "
    "from evolve.cli import main; main()"
)


def test_a_log_that_cannot_grow_loses_nothing(call: Call, home: Path, digest: Callable[[str], str]) -> None:
    """A limit on the size of files stands for a full disk: one message, a log that is whole, and it goes on."""
    command = [sys.executable, "-c", LIMITED, "run", "number", "--budget", "5000programs", "--judges", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "the disk is full or failing. Nothing that was committed is lost" in checked(ended.stderr)
    assert len(digest("number")) == 64
    with Log.open(home / "archive" / "campaigns" / "number.db", readonly=True) as log:
        events = list(log.events())
    assert len(events) > 2
    before = json.loads(call("campaign", "show", "--json").stdout)["programs"]
    more = call("run", "--continue", "--budget", f"{before + 5}programs", "--judges", "1")
    assert more.exit_code == 0, more.output
    with Log.open(home / "archive" / "campaigns" / "number.db", readonly=True) as log:
        assert list(log.events())[: len(events)] == events


def in_a_namespace(script: str, home: Path) -> "subprocess.CompletedProcess[str]":
    """A shell script that may mount file systems at $EVOLVE_HOME, which nobody else sees; `$evolve` is the command line."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    home.mkdir(exist_ok=True)
    probe = 'mount -t tmpfs none "$EVOLVE_HOME" && mount -o remount,ro "$EVOLVE_HOME"'
    try:
        possible = subprocess.run([*unshare, probe], capture_output=True, timeout=30).returncode == 0
    except FileNotFoundError:
        possible = False
    if not possible:
        pytest.skip("this system lets nobody mount a file system of their own (unshare --user --mount)")
    environment = {**os.environ, "evolve": f"{sys.executable} -m evolve"}
    return subprocess.run([*unshare, script], capture_output=True, text=True, timeout=120, env=environment)


def test_a_full_disk_is_one_message_and_loses_nothing(home: Path) -> None:
    """With room again the campaign goes on from there."""
    script = """
        mount -t tmpfs -o size=400k none "$EVOLVE_HOME"
        $evolve run number --budget 5000programs --judges 1 >/dev/null; echo code $?
        $evolve campaign replay number --json
        mount -o remount,size=64m "$EVOLVE_HOME"
        $evolve run --continue number --budget 400programs --judges 1 >/dev/null; echo code $?
        $evolve campaign replay number --json
    """
    ended = in_a_namespace(script, home)
    first, replayed, second, later = ended.stdout.splitlines()
    assert "the disk is full" in checked(ended.stderr)
    assert (first, second) == ("code 1", "code 0")
    kept, grown = json.loads(replayed), json.loads(later)
    assert (kept["equal"], grown["equal"]) == (True, True)
    assert 0 < kept["records"] < grown["records"]


def test_a_disk_that_is_full_from_the_start_is_one_message(home: Path) -> None:
    """And no file of a campaign stays."""
    script = """
        mount -t tmpfs -o size=16k none "$EVOLVE_HOME"
        $evolve run number --budget 3programs --judges 1; echo code $?
        find "$EVOLVE_HOME" -type f
    """
    ended = in_a_namespace(script, home)
    assert ended.stdout.splitlines() == ["code 1"]
    assert "full" in checked(ended.stderr)


def test_a_read_only_workspace_is_one_message(home: Path, finished: str) -> None:
    """To write; it can be read."""
    script = """
        mount --bind "$EVOLVE_HOME" "$EVOLVE_HOME" && mount -o remount,ro,bind "$EVOLVE_HOME"
        $evolve run number --budget 3programs --judges 1 2>new; echo code $?
        $evolve run --continue number --budget 9programs --judges 1 2>more; echo code $?
        $evolve campaign replay number >/dev/null; echo code $?
    """
    ended = in_a_namespace(script, home)
    assert ended.stdout.splitlines() == ["code 1", "code 1", "code 0"]
    for file in ("new", "more"):
        assert "cannot be opened for writing: Read-only file system" in checked(Path(file).read_text())
