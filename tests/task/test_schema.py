"""Facts about what `task.toml` may say."""

import pytest

from evolve.task.schema import parse
from evolve.types import EvaluatorSource


def test_the_entry_may_be_a_file_of_the_context():
    """So that a binding stays as the task has it."""
    program = {"files": ["a.c"], "context": ["binding.py"], "entry": "binding"}
    assert parse({"schema": 1, "program": program}).program.entry == "binding"


def test_a_task_file_may_say_nothing_but_its_schema() -> None:
    """Everything else has a default."""
    file = parse({"schema": 1})
    assert (file.brief, file.program.files, file.program.entry) == ("README.md", ["seed.py"], "seed")
    assert file.evaluator == EvaluatorSource(path="evaluator.py")
    assert (file.stages[0].name, file.stages[0].seconds, file.sandbox.memory) == ("evaluate", 20.0, 2 << 30)


@pytest.mark.parametrize(
    ("evaluator", "expected"),
    [
        ("judge/run.py", EvaluatorSource(path="judge/run.py")),
        ("./evaluator.py", EvaluatorSource(path="evaluator.py")),
        ({"plugin": "kernel", "tries": 3}, EvaluatorSource(plugin="kernel", settings={"tries": 3})),
        ({"kind": "command", "tries": 3}, EvaluatorSource(plugin="command", settings={"tries": 3})),
    ],
)
def test_an_evaluator_is_a_file_or_a_plugin_with_its_settings(evaluator: object, expected: EvaluatorSource) -> None:
    """All keys of the table but `plugin`, or `kind`, are settings."""
    assert parse({"schema": 1, "evaluator": evaluator}).evaluator == expected


@pytest.mark.parametrize(("text", "size"), [("1KiB", 1024), ("512MiB", 512 << 20), ("2 GiB", 2 << 30)])
def test_memory_is_written_with_its_unit(text: str, size: int) -> None:
    """And read as bytes."""
    assert parse({"schema": 1, "sandbox": {"memory": text}}).sandbox.memory == size


def axis(**changes: object) -> dict[str, object]:
    return {"name": "walls", "low": 0, "high": 26, "bins": 13} | changes


@pytest.mark.parametrize(
    ("file", "entry"),
    [("main.py", "main"), ("src/main.py", "src.main"), ("pkg/__init__.py", "pkg"), ("my-main.py", "my-main")],
)
def test_the_entry_is_a_module_as_import_names_it(file: str, entry: str) -> None:
    """Also in a folder of the program."""
    assert parse({"schema": 1, "program": {"files": [file], "entry": entry}}).program.entry == entry


BAD = [
    ({"program": {"entry": "seed.py"}}, "no file: got 'seed.py'. Try: write entry = 'seed'"),
    ({"program": {"files": ["src/a.py"], "entry": "src/a"}}, "no file: got 'src/a'. Try: write entry = 'src.a'"),
    ({"program": {"files": ["a\nb.py"], "entry": "a"}}, "a file's name has no line break"),
    ({"evaluator": "a\x1b[2J.py"}, "a file's name has no line break and no other control character"),
    ({}, "the key 'schema' is missing. Try: add it, for example schema = 1"),
    ({"schema": 2}, "schema: Input should be 1, got 2."),
    ({"fitnes": {}}, "unknown key 'fitnes'. Did you mean 'fitness'?"),
    ({"fitness": {"direktion": "max"}}, "unknown key 'fitness.direktion'. Did you mean 'direction'?"),
    (
        {"fitness": {"direction": "mx"}},
        "fitness.direction: Input should be 'max' or 'min', got 'mx'. Did you mean 'max'?",
    ),
    ({"fitness": {"direction": 1}}, "fitness.direction: Input should be 'max' or 'min', got 1."),
    ({"fitness": {"digits": "six"}}, "fitness.digits: Input should be a valid integer, got 'six'."),
    ({"fitness": 3}, "fitness: this is a table, got 3. Its keys: name, direction, digits"),
    ({"axes": [3]}, "axes[0]: this is a table, got 3. Its keys: name, low, high, bins"),
    ({"axes": {"name": "walls"}}, "axes: Input should be a valid list"),
    ({"deterministic": "yes"}, "deterministic: Input should be a valid boolean, got 'yes'."),
    ({"promotion": "held-out"}, "Did you mean 'held_out'?"),
    ({"axes": [axis(), axis(lo=1)]}, "unknown key 'axes[1].lo'. Did you mean 'low'?"),
    ({"axes": [axis(bins=0)]}, "axes[0].bins: Input should be greater than or equal to 1, got 0."),
    ({"axes": [axis(low=26)]}, "axes[0]: low must be below high, got low = 26.0 and high = 26.0"),
    ({"axes": [axis(low=float("-inf"))]}, "axes[0].low: Input should be a finite number, got -inf."),
    ({"axes": [axis(), axis()]}, "two of the axes are called 'walls'. Try: rename one"),
    ({"axes": [axis(name="two words")]}, "axes[0].name: a name is made of letters"),
    (
        {"axes": [{"name": "walls", "low": 0, "bins": 3}]},
        "the key 'axes[0].high' is missing. Try: add it, for example high = ...",
    ),
    ({"stages": []}, "stages: List should have at least 1 item"),
    ({"stages": [{"seconds": -1}]}, "stages[0].seconds: Input should be greater than 0, got -1."),
    ({"stages": [{"name": "a"}, {"name": "a"}]}, "two of the stages are called 'a'. Try: rename one"),
    ({"stages": [{"needs": {"core": 2}}]}, "unknown key 'stages[0].needs.core'. Did you mean 'cores'?"),
    ({"stages": [{"threshold": float("nan")}]}, "stages[0].threshold: a threshold is a finite number, or a share"),
    ({"bound": {"value": float("inf")}}, "bound.value: Input should be a finite number, got inf."),
    ({"bound": {"value": True}}, "bound.value: Input should be a valid number, got True."),
    (
        {"bound": {"value": 2.0}, "anchors": [{"value": 2.5, "by": "A"}]},
        "the anchor 2.5 by 'A' is beyond the bound 2.0",
    ),
    (
        {"fitness": {"direction": "min"}, "bound": {"value": 2.0}, "anchors": [{"value": 1.5, "by": "A"}]},
        "the anchor 1.5 by 'A' is beyond the bound 2.0",
    ),
    ({"program": {"files": []}}, "program.files: List should have at least 1 item"),
    ({"program": {"files": ["a.py", "a.py"], "entry": "a"}}, "program: a file is named twice. Try: name each once"),
    (
        {"program": {"files": ["main.py"], "entry": "mian"}},
        "program: no file of the program is called 'mian.py'. Did you mean 'main'?",
    ),
    (
        {"program": {"files": ["../seed.py"]}},
        "program.files[0]: a file is named by its path inside the task's folder, with /, got '../seed.py'.",
    ),
    ({"brief": "/etc/passwd"}, "brief: a file is named by its path inside the task's folder"),
    ({"brief": ""}, "brief: a file is named by its path inside the task's folder"),
    (
        {"evaluator": 3},
        'evaluator: an evaluator is a file, "evaluator.py", one that comes with the engine, { kind = "command", ... }, or a plugin\'s, '
        '{ plugin = "name", ... }, got 3.',
    ),
    ({"evaluator": {"plugin": 3}}, "evaluator: an evaluator is a file"),
    ({"evaluator": {"kind": "command", "plugin": "near"}}, "evaluator: an evaluator is a file"),
    ({"evaluator": "../evaluator.py"}, "evaluator: a file is named by its path inside the task's folder"),
    ({"parameters": {"n": [1]}}, "parameters.n: a parameter is a finite number, a text or true/false, got [1]."),
    (
        {"parameters": {"n": float("nan")}},
        "parameters.n: a parameter is a finite number, a text or true/false, got nan.",
    ),
    ({"parameters": {"a-b": 1}}, "parameters.a-b: a name is made of letters, digits and underscores"),
    (
        {"sandbox": {"memory": "2GB"}},
        'sandbox.memory: a size is written with its unit, such as "512MiB" or "2GiB", got \'2GB\'.',
    ),
    ({"sandbox": {"memory": "0GiB"}}, "sandbox.memory: a size is written with its unit"),
    ({"sandbox": {"memory": 2048}}, "sandbox.memory: a size is written with its unit"),
    ({"stages": [{"threshold": "top 0%"}]}, "a share is written like \"top 30%\", got 'top 0%'."),
    ({"held_out": {"n": [29]}}, "held_out sets 'n', which is no parameter."),
    ({"held_out": [{"n": 29}], "parameters": {"n": 3}}, "each table of held_out has a `name` of its own"),
    ({"constraints": [{"metric": "error"}]}, "constraints[0]: a constraint has a bound. Try: give at_least or at_most"),
    ({"constraints": [{"metric": "a", "at_least": 2, "at_most": 1}]}, "nothing is at least 2.0 and at most 1.0"),
    ({"objectives": [{"name": "a"}, {"name": "a"}]}, "two of the objectives are called 'a'. Try: rename one"),
    ({"program": {"context": ["seed.py"]}}, "program: a file is named twice. Try: name each once"),
    ({"carry": {"artifacts": []}}, "carry.artifacts: List should have at least 1 item"),
    ({"environment": {"pyton": "python3.12"}}, "unknown key 'environment.pyton'. Did you mean 'python'?"),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_what_cannot_be_meant_is_refused_with_its_path(data: dict[str, object], message: str) -> None:
    """What, got, do this."""
    with pytest.raises(ValueError) as caught:
        parse(({"schema": 1} if data and "schema" not in data else {}) | data)
    assert message in str(caught.value)


@pytest.mark.parametrize(("novelty", "distance"), [({}, 0.0), ({"distance": 0.02}, 0.02), ({"distance": 0.5}, 0.5)])
def test_a_task_may_say_how_near_programs_may_be(novelty: object, distance: float) -> None:
    """Without it, as near as they like."""
    assert parse({"schema": 1, "novelty": novelty}).novelty.distance == distance


@pytest.mark.parametrize("distance", [-0.1, 0.6, "near"])
def test_a_distance_that_no_look_up_can_find_is_an_error(distance: object) -> None:
    """With its key."""
    with pytest.raises(ValueError, match=r"novelty\.distance: "):
        parse({"schema": 1, "novelty": {"distance": distance}})
