"""Facts about reading a task's folder."""

import re
from pathlib import Path

import pytest

from evolve.evaluation.provenance import check_version
from evolve.task import load
from evolve.types import (
    Anchor,
    Axis,
    Case,
    Check,
    Constraint,
    EvaluatorSource,
    Fitness,
    Limits,
    Needs,
    Objective,
    Program,
    Stage,
    TaskError,
)

TOML = """\
schema = 1
brief = "brief.md"
program = { files = ["main.py", "parts/shape.py"], entry = "main" }
evaluator = "judge.py"
deterministic = true
promotion = "certificate"
[fitness]
name = "length"
direction = "min"
digits = 3
[parameters]
n = 5
scale = 1.5
kind = "round"
exact = false
[[axes]]
name = "size"
low = 0
high = 2.5
bins = 4
[[anchors]]
value = 7
by = "someone"
year = 1999
[bound]
value = 6.5
[[stages]]
name = "evaluate"
seconds = 3
threshold = 9
[[stages]]
name = "full"
needs = { cores = 2, exclusive = true }
[sandbox]
memory = "1GiB"
preload = ["numpy"]
"""
FILES = {
    "task.toml": TOML,
    "brief.md": "Be short.",
    "main.py": "x = 1\n",
    "parts/shape.py": "y = 2\n",
    "judge.py": "z = 3\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "lines", FILES)


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def error_of(folder: Path) -> str:
    with pytest.raises(TaskError) as caught:
        load(folder)
    return str(caught.value)


def test_a_folder_becomes_a_task(folder: Path) -> None:
    """Every key has its place."""
    task = load(folder)
    assert (task.name, task.folder, task.brief) == ("lines", str(folder), "Be short.")
    assert task.seed == Program({"main.py": "x = 1\n", "parts/shape.py": "y = 2\n"})
    assert (task.entry, task.evaluator) == ("main", EvaluatorSource(path="judge.py"))
    assert (task.deterministic, task.promotion) == (True, "certificate")
    assert task.fitness == Fitness("length", "min", 3)
    assert task.parameters == {"n": 5, "scale": 1.5, "kind": "round", "exact": False}
    assert task.axes == (Axis("size", 0.0, 2.5, 4),)
    assert task.anchors == (Anchor(7.0, "someone", 1999),)
    assert task.bound == 6.5
    assert task.stages == (Stage("evaluate", 3.0, 9.0), Stage("full", 20.0, needs=Needs(cores=2, exclusive=True)))
    assert task.limits == Limits(memory=1 << 30, preload=("numpy",))


def test_a_task_without_tables_has_one_stage_no_axes_and_no_bound(tmp_path: Path) -> None:
    """The defaults."""
    files = {"task.toml": "schema = 1", "README.md": "Do it.", "seed.py": "", "evaluator.py": ""}
    task = load(written(tmp_path / "small", files))
    assert (task.stages, task.axes, task.anchors, task.bound) == ((Stage("evaluate"),), (), (), None)
    assert (task.brief, task.entry, task.limits) == ("Do it.", "seed", Limits())


WIDE = """
[held_out]
n = [7, 9]
kind = ["square"]
[[objectives]]
name = "size"
direction = "min"
reference = 3
[[constraints]]
metric = "error"
at_most = 0.5
[novelty]
distance = 0.02
[carry]
artifacts = ["steps"]
"""


def test_what_widens_a_task_is_read_too(folder: Path) -> None:
    """Held-out cases, objectives, constraints, context files and what a parent leaves."""
    program = 'program = { files = ["main.py"], entry = "main", context = ["parts/shape.py"], new_files = ["*.py"] }'
    text = TOML.replace(TOML.splitlines()[2], program).replace("threshold = 9", 'threshold = "top 30%"')
    (folder / "task.toml").write_text(text + WIDE, "utf-8")
    task = load(folder)
    rest = {"scale": 1.5, "exact": False}
    assert task.held_out == (
        Case("n=7, kind=square", {"n": 7, "kind": "square", **rest}),
        Case("n=9, kind=square", {"n": 9, "kind": "square", **rest}),
    )
    assert task.objectives == (Objective("size", "min", reference=3.0),)
    assert task.constraints == (Constraint("error", at_most=0.5),)
    assert (task.context, task.new_files, task.carry) == ({"parts/shape.py": "y = 2\n"}, ("*.py",), ("steps",))
    assert (task.stages[0].threshold, task.stages[0].top) == (None, 0.3)
    assert task.novelty_distance == 0.02


def test_held_out_cases_may_have_names(folder: Path) -> None:
    """As an array of tables; what a case does not set is as it is in the search."""
    (folder / "task.toml").write_text(TOML + '[[held_out]]\nname = "long"\nn = 50\n', "utf-8")
    cases = load(folder, {"scale": 2}).held_out
    assert cases == (Case("long", {"n": 50, "scale": 2.0, "kind": "round", "exact": False}),)


def test_cases_of_the_fitness_have_weights(folder: Path) -> None:
    """A table without one counts once."""
    tables = '[[cases]]\nname = "long"\nn = 50\nweight = 2\n[[cases]]\nname = "short"\nn = 5\n'
    (folder / "task.toml").write_text(TOML.replace('promotion = "certificate"\n', "") + tables, "utf-8")
    assert [(case.name, case.parameters["n"], case.weight) for case in load(folder).cases] == [
        ("long", 50, 2.0),
        ("short", 5, 1.0),
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('[[cases]]\nname = "a"\nweight = 0\n', "the weight of a case is a number from 1e-6 to 1e6, got 0"),
        ('[[cases]]\nname = "a"\nwidth = 3\n', "cases sets 'width', which is no parameter"),
        ("[[cases]]\nn = 3\n", "each table of cases has a `name` of its own"),
        ('[[cases]]\nname = "a"\n[carry]\nartifacts = ["steps"]\n', "each case has artifacts of its own"),
        ('[[held_out]]\nname = "a"\nweight = 2\n', "held_out sets 'weight', which is no parameter"),
        (
            '[[cases]]\nname = "a"\nparameters = { n = 3 }\n',
            "a table of cases holds the parameters themselves, got a table 'parameters'",
        ),
    ],
)
def test_cases_that_cannot_be_are_refused(folder: Path, more: str, message: str) -> None:
    """With the key, and what to do."""
    (folder / "task.toml").write_text(TOML.replace('promotion = "certificate"\n', "") + more, "utf-8")
    with pytest.raises(TaskError, match=re.escape(message)):
        load(folder)


@pytest.mark.parametrize(
    ("written_down", "found"),
    [
        ("venv/bin/python", "{folder}/venv/bin/python"),
        ("/opt/python", "/opt/python"),
        ("$PLACE/python", "/there/python"),
    ],
)
def test_an_interpreter_is_a_path_from_the_tasks_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, written_down: str, found: str
) -> None:
    """Or an absolute one; variables are replaced."""
    monkeypatch.setenv("PLACE", "/there")
    (folder / "task.toml").write_text(TOML + f'[environment]\npython = "{written_down}"\n', "utf-8")
    assert load(folder).python == found.format(folder=folder)


def test_parameters_can_be_set_and_keep_their_type(folder: Path) -> None:
    """A whole number may stand for a number."""
    task = load(folder, {"n": 7, "scale": 2})
    assert task.parameters == {"n": 7, "scale": 2.0, "kind": "round", "exact": False}
    assert type(task.parameters["scale"]) is float


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"m": 1},
            "the task has no parameter 'm'. Known: exact, kind, n, scale. Try: set one of n, scale, kind, exact",
        ),
        ({"kin": "x"}, "the task has no parameter 'kin'. Did you mean 'kind'?"),
        ({"n": 1.5}, "parameter 'n' is a whole number (the task has 5), got 1.5. Try: set it to a whole number"),
        ({"n": True}, "parameter 'n' is a whole number (the task has 5), got True"),
        ({"scale": "big"}, "parameter 'scale' is a number (the task has 1.5), got 'big'"),
        ({"scale": float("nan")}, "parameter 'scale' is a finite number, got nan"),
        ({"kind": 3}, "parameter 'kind' is a text (the task has 'round'), got 3"),
        ({"exact": 1}, "parameter 'exact' is true or false (the task has False), got 1"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused(folder: Path, parameters: dict[str, object], message: str) -> None:
    """Unknown, or of another type."""
    with pytest.raises(TaskError) as caught:
        load(folder, parameters)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_a_task_without_parameters_says_so(tmp_path: Path) -> None:
    """There is nothing to choose from."""
    folder = written(tmp_path / "bare", {"task.toml": "schema = 1", "README.md": "", "seed.py": "", "evaluator.py": ""})
    with pytest.raises(
        TaskError, match=r"the task has no parameter 'n'. Try: leave it out, the task has no parameters"
    ):
        load(folder, {"n": 1})


def test_the_version_covers_what_decides_a_score_and_nothing_else(folder: Path) -> None:
    """READMEs, hidden files and caches do not; parameters, and data beside the evaluator, do."""
    version = load(folder).version
    written(folder, {"README.md": "hello", ".git/HEAD": "x", "__pycache__/judge.pyc": "x", ".DS_Store": "x"})
    assert load(folder).version == version
    assert load(folder, {"n": 5}).version == version
    assert load(folder, {"n": 6}).version != version
    written(folder, {"data/points.csv": "1,2"})
    with_data = load(folder).version
    assert with_data != version
    written(folder, {"judge.py": "z = 4\n"})
    assert load(folder).version not in (version, with_data)


def test_the_version_does_not_depend_on_where_the_folder_lies(folder: Path, tmp_path: Path) -> None:
    """A copy is the same task."""
    assert load(written(tmp_path / "elsewhere" / "copy", FILES)).version == load(folder).version


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("judge.py", "evaluator: there is no file 'judge.py'."),
        ("main.py", "program.files: there is no file 'main.py'."),
        ("brief.md", "brief: there is no file 'brief.md'."),
    ],
)
def test_a_file_that_is_missing_is_named_with_its_key(folder: Path, missing: str, message: str) -> None:
    """And what else is there."""
    (folder / missing).rename(folder / "zzz.txt")
    error = error_of(folder)
    assert error.startswith(f"{folder / 'task.toml'}: {message}")
    assert "zzz.txt" in error


def test_a_misspelt_file_is_recognised(folder: Path) -> None:
    """By the files that are there."""
    (folder / "judge.py").rename(folder / "juge.py")
    assert "Did you mean 'juge.py'?" in error_of(folder)


def test_a_mistake_in_toml_is_shown_with_its_line(folder: Path) -> None:
    """As the parser saw it."""
    (folder / "task.toml").write_text("schema = 1\nbrief = README.md\n")
    error = error_of(folder)
    assert error.startswith(f"{folder / 'task.toml'}: this is not TOML: ")
    assert "line 2" in error


@pytest.mark.parametrize("name", ["task.toml", "main.py", "brief.md"])
def test_a_byte_order_mark_is_refused(folder: Path, name: str) -> None:
    """No reader of the file expects one: Python would say that the seed does not parse."""
    (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    assert error_of(folder) == (
        f"{folder / name}: this begins with a byte order mark (BOM). Try: save it as UTF-8 without one"
    )


@pytest.mark.parametrize("name", ["task.toml", "main.py", "brief.md"])
def test_a_text_in_another_encoding_is_refused(folder: Path, name: str) -> None:
    """With the file that it is."""
    (folder / name).write_bytes("schema = 1 # Größe".encode("latin-1"))
    assert error_of(folder).startswith(f"{folder / name}: this is not a text in UTF-8")


def test_a_wrong_key_is_shown_with_the_file_and_its_path(folder: Path) -> None:
    """What, got, do this."""
    (folder / "task.toml").write_text("schema = 1\n[[stages]]\nsecond = 3\n")
    assert (
        error_of(folder)
        == f"{folder / 'task.toml'}: unknown key 'stages[0].second'. Did you mean 'seconds'? Try: correct it; `evolve task schema --markdown` explains every key"
    )


def test_dates_among_a_plugins_settings_are_refused(folder: Path) -> None:
    """Settings travel to the judge as JSON."""
    (folder / "task.toml").write_text('schema = 1\nevaluator = { plugin = "kernel", since = 2025-01-01 }\n')
    assert "evaluator: the settings of a plugin are plain data" in error_of(folder)


def test_a_file_that_cannot_be_read_is_one_clear_error(folder: Path) -> None:
    """Here a file that is there, and whose first byte no process may read."""
    (folder / "data.bin").symlink_to("/proc/self/mem")
    error = error_of(folder)
    assert error.startswith(f"{folder}: the task cannot be read: ")
    assert error.endswith("Try: make its files readable")


def test_a_folder_in_the_place_of_a_file_is_no_file(folder: Path) -> None:
    """It is named like a missing one."""
    (folder / "main.py").unlink()
    (folder / "main.py").mkdir()
    assert "program.files: there is no file 'main.py'" in error_of(folder)


def test_templates_of_prompts_come_with_the_task(folder: Path) -> None:
    """They are part of it, and not of its version."""
    written(folder, {"task.toml": f'prompts = "told"\n{TOML}', "told/repair.md": "Again: {{reason}}"})
    task = load(folder)
    assert (task.prompts, task.prompts_folder) == ({"repair": "Again: {{reason}}"}, "told")
    written(folder, {"told/repair.md": "Once more: {{reason}}", "told/task.md": "{{brief}}"})
    assert load(folder).version == task.version
    check_version(load(folder))


def test_a_template_that_cannot_be_filled_is_said_with_the_key(folder: Path) -> None:
    """Before any model is asked."""
    written(folder, {"task.toml": f'prompts = "told"\n{TOML}', "told/repair.md": "{{raeson}}"})
    assert (
        "told: the prompt template 'repair' has the placeholder '{{raeson}}', which nothing fills. Did you mean 'reason'?"
        in (error_of(folder))
    )
    assert f"{folder / 'task.toml'}: prompts: " in error_of(folder)


@pytest.mark.parametrize(
    ("needs", "found"),
    [("", Needs(gpus=2)), ("needs = { gpus = 0 }", Needs()), ("needs = { gpus = 1, cores = 3 }", Needs(3, 1))],
)
def test_a_stage_needs_the_gpus_that_the_task_grants_unless_it_says_otherwise(
    tmp_path: Path, needs: str, found: Needs
) -> None:
    """A build needs none."""
    toml = f'schema = 1\n[sandbox]\ngpu = 2\n[[stages]]\nname = "evaluate"\n{needs}\n'
    files = {"task.toml": toml, "README.md": "Do it.", "seed.py": "", "evaluator.py": ""}
    assert load(written(tmp_path / "small", files)).stages[0].needs == found


def test_a_stage_cannot_need_more_gpus_than_its_programs_may_use(tmp_path: Path) -> None:
    """It would lease what nobody can see."""
    toml = 'schema = 1\n[[stages]]\nname = "full"\nneeds = { gpus = 1 }\n'
    files = {"task.toml": toml, "README.md": "Do it.", "seed.py": "", "evaluator.py": ""}
    assert "stage 'full' needs 1 GPUs, and `sandbox.gpu` grants its programs 0. Try: set gpu = 1" in error_of(
        written(tmp_path / "small", files)
    )


def test_what_a_check_may_ask_comes_with_the_task(folder: Path) -> None:
    """Patterns, which are looked up by the check alone; without the table, answers are open."""
    assert load(folder).check == Check()
    table = (
        "[check]\nanswers = 'determined'\nprecision = 'float32'\nhonest = ['twins/*.py']\ndishonest = ['cheats/*']\n"
    )
    written(folder, {"task.toml": TOML + table})
    assert load(folder).check == Check("determined", "float32", ("twins/*.py",), ("cheats/*",))
    written(folder, {"task.toml": f"{TOML}[check]\nhonest = ['../*.py']\n"})
    assert "check.honest[0]: a file is named by its path inside the task's folder" in error_of(folder)
