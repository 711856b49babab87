"""Facts about judging an existing script, each in a real sandbox at the best level of this machine."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import evolve.task
from evolve.evaluation import Job, Report
from evolve.evaluation.cascade import evaluate_job, prepare
from evolve.evaluation.worker import load_evaluator
from evolve.evaluators import Unreadable
from evolve.evaluators.command import PLACEHOLDERS, CommandSettings
from evolve.plugins import load
from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from evolve.task import folders
from evolve.types import Carried, Level, Limits, Outcome, TaskError, Trial
from tests.pages import read_chapter

PAGE = read_chapter("tasks", "Use a script as it is")
CLAIMED = 'argv = ["python", "train.py", "--seed", "{seed}", "--out", "{out}"]\nmetric = "results.json:accuracy"'
RESCORED = 'argv = ["python", "train.py"]\ntrust = "rescored"\nrescore = "rescore.py"\nsaved = ["answers.json"]'
HONEST = "import json\njson.dump({'accuracy': 0.5}, open('results.json', 'w'))\nprint('trained')\n"
CHEAT = "import json\njson.dump({'accuracy': 1.0}, open('results.json', 'w'))\njson.dump([0, 0, 0, 0], open('answers.json', 'w'))\n"
RESCORE = """
from evolve.evaluators import Unreadable, read_json
from labels import LABELS

def rescore(files, trial):
    answers = read_json(files["answers.json"])
    if type(answers) is not list or len(answers) != len(LABELS):
        raise Unreadable("wanted a list of four answers")
    return sum(answer == label for answer, label in zip(answers, LABELS)) / len(LABELS)
"""
Judged = Callable[..., Report]


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    """One for all: whose session is over has left nothing in it. The folders of the tasks are closed to it."""
    with closing(Box(Limits(), means=probe().means, hidden=(str(tmp_path_factory.getbasetemp()),))) as box:
        yield box


@pytest.fixture
def evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, box: Box) -> Judged:
    """Judges a script under settings of the evaluator, and under more of the task's file."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in ("evolve_task_rescore", "labels"):
        monkeypatch.delitem(sys.modules, module, raising=False)

    def evaluated(
        script: str, settings: str = CLAIMED, more: str = "", trial: Trial | None = None, seconds: float = 10.0
    ) -> Report:
        (tmp_path / "train.py").write_text(script)
        (tmp_path / "README.md").write_text("Train.")
        (tmp_path / "rescore.py").write_text(RESCORE)
        (tmp_path / "labels.py").write_text("LABELS = [0, 1, 1, 0]\n")
        (tmp_path / "task.toml").write_text(
            'schema = 1\nprogram = { files = ["train.py"], entry = "" }\n'
            f'{more or f"stages = [{{ seconds = {seconds} }}]"}\n[evaluator]\nkind = "command"\n{settings}\n'
        )
        task = evolve.task.load(tmp_path)
        job = Job("1.0", "evaluate", trial or Trial(seed=7), files=task.seed.files)
        return evaluate_job(
            job,
            prepare(task, load_evaluator(task)),
            lambda program, seconds, job="run": box.open(program, task.entry, seconds, job),
        )

    return evaluated


def told(report: Report) -> str:
    return report.texts[report.evaluation.feedback]


@pytest.mark.integration
def test_an_unmodified_script_is_scored_by_what_it_says(evaluated: Judged) -> None:
    """And the score says that it is claimed."""
    found = evaluated(HONEST)
    assert (found.evaluation.outcome, found.evaluation.fitness, found.evaluation.trust) == (Outcome.OK, 0.5, "claimed")
    assert told(found) == "fitness 0.5, as the script says in results.json\n\nThe end of its output:\ntrained"


def test_a_cheat_scores_where_it_is_believed_and_nowhere_else(evaluated: Judged) -> None:
    """It writes its own metric, and answers that it has not computed."""
    claimed, rescored = evaluated(CHEAT), evaluated(CHEAT, RESCORED)
    assert (claimed.evaluation.fitness, claimed.evaluation.trust) == (1.0, "claimed")
    assert (rescored.evaluation.fitness, rescored.evaluation.trust) == (0.5, "rescored")


@pytest.mark.parametrize(
    "answers",
    [
        "'[0, 1'",
        "'[NaN, 1, 1, 0]'",
        "'[0, 1, 1]'",
        "'{}'",
        "b'\\xff'",
        "'[' * 100000",
        "__import__('pickle').dumps([0, 1, 1, 0])",
    ],
)
def test_files_of_another_form_are_the_programs_failure(evaluated: Judged, answers: str) -> None:
    """Whatever their bytes are, the judge reads plain data or says that there is none."""
    script = f"found = {answers}\nopen('answers.json', 'wb').write(found if type(found) is bytes else found.encode())"
    assert evaluated(script, RESCORED).evaluation.outcome is Outcome.INVALID


@pytest.mark.parametrize(
    ("script", "outcome", "said"),
    [
        ("print('so far')\nraise ValueError('no data')", Outcome.CRASHED, "no data"),
        ("import os\nos.abort()", Outcome.CRASHED, "signal"),
        (
            "print('done')",
            Outcome.INVALID,
            "results.json: the script left no such file\n\nThe end of its output:\ndone",
        ),
        ("open('results.json', 'w').write('{\"accuracy\": NaN}')", Outcome.INVALID, "no finite number"),
        ("open('results.json', 'w').write('{\"accuracy\": true}')", Outcome.INVALID, "no number"),
        ("import os\nos.symlink('/etc/passwd', 'results.json')", Outcome.INVALID, "cannot be kept"),
        ("import os\nos.mkfifo('results.json')", Outcome.INVALID, "cannot be kept"),
        ("open('results.json', 'w').truncate(9 << 20)", Outcome.INVALID, "too many bytes"),
        ("print('#' * (2 << 20))", Outcome.INVALID, "printed"),
    ],
)
def test_a_script_that_has_no_score_says_why(evaluated: Judged, script: str, outcome: Outcome, said: str) -> None:
    """With its last words, where they are known."""
    found = evaluated(script)
    assert (found.evaluation.outcome, found.evaluation.fitness) == (outcome, None)
    assert said in told(found)


def test_a_script_that_is_too_slow_is_interrupted_and_its_words_are_known(evaluated: Judged) -> None:
    """Before the limit ends it without a word."""
    found = evaluated("print('epoch 1')\nwhile True: pass", seconds=1.5)
    assert found.evaluation.outcome is Outcome.TIMED_OUT
    assert "it was interrupted after" in told(found)
    assert "epoch 1" in told(found)
    assert "KeyboardInterrupt" in told(found)


def test_a_script_that_ignores_that_is_ended_by_the_limit(evaluated: Judged) -> None:
    """It has no last words."""
    script = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    assert evaluated(script, seconds=1.0).evaluation.outcome is Outcome.TIMED_OUT


def test_saved_bytes_have_a_limit_of_their_own(evaluated: Judged) -> None:
    large = evaluated(CHEAT, RESCORED + "\nbytes = 5")
    assert (large.evaluation.outcome, "5 are allowed" in told(large)) == (Outcome.INVALID, True)
    assert evaluated(CHEAT, RESCORED + "\nbytes = 100").evaluation.outcome is Outcome.OK


def test_placeholders_are_filled(evaluated: Judged) -> None:
    """The seed is the judge's; a script is told of four fifths of the limit."""
    script = "import json, sys\njson.dump(dict(words=len(sys.argv), seed=int(sys.argv[1])), open(sys.argv[4] + '/r.json', 'w'))\nprint(sys.argv[1:])"
    found = evaluated(
        script, 'argv = ["python", "train.py", "{seed}", "{seconds}", "{gpus}", "{out}"]\nmetric = "r.json:seed"'
    )
    assert found.evaluation.fitness == 7.0
    assert "['7', '8', '0', '.']" in told(found)


def test_a_script_is_told_its_case_and_its_parameters(evaluated: Judged) -> None:
    """Each case is a run of its own."""
    script = (
        "import json, sys\nprint(sys.argv[1:])\njson.dump(dict(accuracy=float(sys.argv[2])), open('results.json', 'w'))"
    )
    settings = 'argv = ["python", "train.py", "{case}", "{task.rate}", "{task.deep}"]\nmetric = "results.json:accuracy"'
    more = 'parameters = { rate = 0.5, deep = true }\ncases = [{ name = "slow one", rate = 0.25 }, { name = "fast", rate = 1.0 }]'
    found = evaluated(script, settings, more)
    assert found.evaluation.cases == {"slow one": 0.25, "fast": 1.0}
    assert found.evaluation.fitness == 0.625
    assert "['slow one', '0.25', 'true']" in told(found)


def test_a_shell_script_is_a_program_too(evaluated: Judged) -> None:
    """With its metric in its output, and others beside it."""
    settings = (
        'argv = ["sh", "-c", "echo speed: 3; echo speed: 4; echo size 9 >&2"]\n'
        'metric = "stdout:speed: (.*)"\nmetrics = { size = "stderr:size (.*)" }'
    )
    axis = 'axes = [{ name = "size", low = 0, high = 10, bins = 5 }]'
    found = evaluated("", settings, axis).evaluation
    assert (found.fitness, found.metrics, found.descriptors) == (4.0, {"size": 9.0}, {"size": 9.0})


STAGES = """stages = [{ name = "quick", seconds = 5, threshold = 0.4 }, { name = "full", seconds = 9 }]"""
STAGED = (
    'argv = ["python", "train.py"]\nmetric = "results.json:accuracy"\n'
    'arguments = { quick = ["--epochs", "1"], full = ["--epochs", "9", "{seconds}"] }'
)


@pytest.mark.parametrize(("share", "outcome"), [(0.03, Outcome.OK), (0.3, Outcome.BELOW_THRESHOLD)])
def test_each_stage_runs_the_script_with_its_own_words(evaluated: Judged, share: float, outcome: Outcome) -> None:
    """And the next one runs where its threshold was reached."""
    script = (
        f"import json, sys\njson.dump(dict(accuracy=0.7 - {share} * 9 / int(sys.argv[2])), open('results.json', 'w'))"
    )
    found = evaluated(script, STAGED, STAGES).evaluation
    assert found.outcome is outcome
    if outcome is Outcome.OK:
        assert (found.stage, found.fitness) == ("full", pytest.approx(0.7 - share))
        assert found.passed == {"quick": pytest.approx(0.7 - 9 * share)}
        assert found.trust == "claimed"


def test_what_a_parent_saved_lies_in_the_folder_previous(evaluated: Judged) -> None:
    """The seed finds none."""
    script = (
        "import json, os, sys\nold = json.load(open(sys.argv[1] + '/state.json')) if os.path.exists(sys.argv[1]) else 0\n"
        "json.dump(old + 1, open('state.json', 'w'))\njson.dump({'n': old + 1}, open('results.json', 'w'))"
    )
    settings = 'argv = ["python", "train.py", "{previous}"]\nmetric = "results.json:n"\nsaved = ["state.json"]'
    carry = 'carry = { artifacts = ["saved"] }'
    first = evaluated(script, settings, carry)
    left = Carried({"saved": json.loads(first.texts[first.evaluation.artifacts["saved"]])})
    second = evaluated(script, settings, carry, Trial(carried=left))
    assert (first.evaluation.fitness, second.evaluation.fitness) == (1.0, 2.0)
    spoilt = evaluated(script, settings, carry, Trial(carried=Carried({"saved": {"state.json": "no base64!"}})))
    assert spoilt.evaluation.fitness == 1.0


@pytest.mark.parametrize(
    ("settings", "more", "said"),
    [
        (CLAIMED + '\narguments = { quik = ["x"] }', STAGES, "Did you mean 'quick'"),
        (CLAIMED.replace("{seed}", "{previous}"), "", 'artifacts = ["saved"]'),
        (CLAIMED.replace("{seed}", "{task.rat}"), "parameters = { rate = 0.5 }", "Did you mean 'rate'"),
        (CLAIMED, "parameters = { rate = 0.5 }\ncases = { rate = [1.0, 2.0] }", "is not told which one it runs on"),
        (CLAIMED.replace('"python"', '"no-such-command"'), "", "no command 'no-such-command'"),
        (CLAIMED, "sandbox = { exec = false }", "take `exec = false` out"),
        (RESCORED.replace("rescore.py", "missing.py"), "", "no file 'missing.py'"),
        (RESCORED.replace("rescore.py", "labels.py"), "", "no function rescore"),
    ],
)
def test_a_script_that_could_never_be_scored_is_an_error_before_anything_runs(
    evaluated: Judged, settings: str, more: str, said: str
) -> None:
    """With what to do."""
    with pytest.raises(TaskError) as error:
        evaluated(HONEST, settings, more)
    assert said in str(error.value)
    assert "Try: " in str(error.value)


def test_an_evaluation_of_a_rescore_function_is_never_witnessed(evaluated: Judged, tmp_path: Path) -> None:
    """Whatever it says of itself; less it may be."""
    for trust, wanted in (("witnessed", "rescored"), ("claimed", "claimed")):
        text = f"from evolve import Evaluation\ndef rescore(files, trial): return Evaluation.ok(1.0, trust={trust!r})\n"
        settings = RESCORED.replace("rescore.py", f"{trust}.py")
        (tmp_path / f"{trust}.py").write_text(text)
        assert evaluated(CHEAT, settings).evaluation.trust == wanted


def test_a_fault_of_the_rescore_function_is_the_evaluators(evaluated: Judged, tmp_path: Path) -> None:
    """A program has not failed by it."""
    (tmp_path / "broken.py").write_text("def rescore(files, trial): return 1 / 0\n")
    assert evaluated(CHEAT, RESCORED.replace("rescore.py", "broken.py")).evaluation.outcome is Outcome.INTERNAL


def test_a_table_and_a_mapping_name_the_evaluator_alike(evaluated: Judged, tmp_path: Path) -> None:
    """`kind` and `plugin` are two words for one thing, of which one is written."""
    evaluated(HONEST)
    text = (tmp_path / "task.toml").read_text()
    source = evolve.task.load(tmp_path).evaluator
    (tmp_path / "task.toml").write_text(text.replace("kind = ", "plugin = "))
    assert evolve.task.load(tmp_path).evaluator == source
    (tmp_path / "task.toml").write_text(text.replace("kind = ", 'plugin = "x"\nkind = '))
    with pytest.raises(TaskError, match="an evaluator is a file"):
        evolve.task.load(tmp_path)


def told_in(language: str) -> list[str]:
    """The blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_tells_every_setting_and_placeholder_and_no_other_one() -> None:
    """With the defaults that there are."""
    keys, _, rest = PAGE.partition("## The settings")[2].partition("A metric is written")
    assert re.findall(r"^\| `(\w+)` \|", keys, re.MULTILINE) == list(CommandSettings.model_fields)
    assert re.findall(r"^\| `\{(\w+)\}` \|", rest, re.MULTILINE) == list(PLACEHOLDERS)
    assert CommandSettings.model_fields["bytes"].default == 8 << 20


def test_the_tables_of_the_page_are_tasks(tmp_path: Path) -> None:
    """As they stand, but for what is told of once."""
    first, second, third = told_in("toml")
    head = 'schema = 1\nprogram = { files = ["train.py"], entry = "" }\n'
    (tmp_path / "train.py").write_text(HONEST)
    (tmp_path / "README.md").write_text("Train.")
    for text in (first, head + second, head + third):
        (tmp_path / "task.toml").write_text(text)
        source = evolve.task.load(tmp_path).evaluator
        assert source.plugin == "command"
        load(()).evaluator(source)


def test_the_example_of_the_page_scores_what_was_saved() -> None:
    """And refuses what is of another form."""
    names: dict[str, Any] = {}
    exec(told_in("python")[0], names)
    assert names["rescore"]({"predictions.json": b"[0.5, 1, 2]"}, Trial()) == -0.5
    for wrong in (b"[1, 2]", b"[1, 2, true]", b"{}"):
        with pytest.raises(Unreadable):
            names["rescore"]({"predictions.json": wrong}, Trial())


@pytest.mark.skipif(probe().means.level is not Level.STRICT, reason=f"this machine reaches {probe().means.line}")
def test_a_script_does_not_see_what_it_is_rescored_with(evaluated: Judged, tmp_path: Path) -> None:
    """The task's folder is closed to it, and so is the judge's memory of it."""
    peek = f"import json, runpy\njson.dump(runpy.run_path({str(tmp_path / 'labels.py')!r})['LABELS'], open('answers.json', 'w'))"
    found = evaluated(peek, RESCORED)
    assert found.evaluation.outcome is Outcome.CRASHED
    assert "No such file" in told(found) or "Permission denied" in told(found)


@pytest.mark.integration
def test_the_starter_of_a_script_runs_as_it_is(evaluated: Judged, tmp_path: Path) -> None:
    """Its score is computed from what it saves."""
    folder = folders.create("mine", "script", tmp_path / "mine")
    task = evolve.task.load(folder)
    with closing(Box(task.limits, context=task.context, means=probe().means, hidden=(task.folder,))) as box:
        found = evaluate_job(
            Job("1.0", "evaluate", files=task.seed.files),
            prepare(task, load_evaluator(task)),
            lambda program, seconds, job="run": box.open(program, task.entry, seconds, job),
        )
    assert (found.evaluation.outcome, found.evaluation.trust) == (Outcome.OK, "rescored")
    assert 0.0 > found.evaluation.fitness > -0.5
