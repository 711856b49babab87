"""A reference in KernelBench's convention becomes a seed."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from evolve.types import ConfigError
from evolve_kernelbench import commands
from evolve_kernelbench.convert import convert, set_sizes

PROBLEMS = Path(__file__).parent / "problems"
REFERENCE = '''"""Scale."""

import torch
import torch.nn as nn

# As many rows.
ROWS = 4


def helper(x):
    return x


class Model(nn.Module):
    """A Model that scales."""

    def __init__(self, factor):
        super(Model, self).__init__()
        self.factor = factor  # of the Model

    def forward(self, x):
        return helper(x) * self.factor


def get_inputs():
    return [torch.rand(ROWS, 3)]


# The factor.
def get_init_inputs():
    return [2.0]


if __name__ == "__main__":
    print(Model(2.0)(*get_inputs()))
'''


def test_the_model_and_its_helpers_may_change_and_nothing_else() -> None:
    made = convert(REFERENCE, "scale.py")
    before, _, rest = made.seed.partition("# EVOLVE-BLOCK-START\n")
    block, _, after = rest.partition("# EVOLVE-BLOCK-END\n")
    assert "import torch.nn as nn\n" in before
    assert "# As many rows.\nROWS = 4\n" in before
    assert "def helper(x):" in block
    assert "# The factor.\ndef get_init_inputs():" in after
    assert "def run(answer, *inputs):" in after
    assert "get_inputs()" not in made.seed
    assert "__main__" not in made.seed
    compile(made.seed, "seed.py", "exec")


def test_the_name_is_changed_in_code_alone() -> None:
    made = convert(REFERENCE, "scale.py")
    assert "class ModelNew(nn.Module):" in made.seed
    assert "super(ModelNew, self).__init__()" in made.seed
    assert '"""A Model that scales."""' in made.seed
    assert "# of the Model" in made.seed
    assert made.about == "A Model that scales."


@pytest.mark.parametrize("path", sorted(PROBLEMS.glob("*.py")), ids=lambda path: path.stem)
def test_every_problem_here_is_converted(path: Path) -> None:
    made = convert(path.read_text(), path.name)
    assert made.seed.count("class ModelNew(") == 1
    assert made.about


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("ä = 1; ROWS = 4096  # many\nCOLUMNS = ROWS * 2\n", "ä = 1; ROWS = 8  # many\nCOLUMNS = ROWS * 2\n"),
        ("A, ROWS, COLUMNS = 1, 4096, 3\n", "A, ROWS, COLUMNS = 1, 8, 99\n"),
        ("ROWS: int = 4096\n", "ROWS: int = 8\n"),
        ("ROWS: int\n(ROWS, A), B = (1, 2), 3\nROWS, A = both()\n", None),
        ("def f():\n    ROWS = 3\n", None),
    ],
)
def test_constants_at_the_top_level_take_other_values(text: str, changed: str | None) -> None:
    assert set_sizes(text, "scale.py", {"ROWS": "8", "COLUMNS": "99"} if "A, " in text else {"ROWS": "8"}) == (
        changed or text
    )
    assert set_sizes(text, "scale.py", {}) == text


def test_a_name_that_no_file_assigns_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    (tmp_path / "broken.py").write_text("x = (")
    (tmp_path / "scale.py").write_text("A, ROWS = 1, 2\n")
    told = ["kernelbench", str(tmp_path), "--set", "ROW=4"]
    with pytest.raises(ConfigError, match=r"--set names ROW, which no file assigns .* Try: one of A, ROWS"):
        CliRunner().invoke(commands.import_tasks, told, catch_exceptions=False)


def test_a_value_that_is_no_number_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    told = [
        "kernelbench",
        str(PROBLEMS),
        "--set",
        "shape=(4096,)",
        "--set",
        "other=(8, 64)",
        "--set",
        "batch_size=many",
    ]
    with pytest.raises(ConfigError, match=r"'batch_size=many' names no number\. Try: --set batch_size=8"):
        CliRunner().invoke(commands.import_tasks, told, catch_exceptions=False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = (", "scale.py is no Python"),
        ("x = 1\n", "defines no Model and no get_inputs and no get_init_inputs at its top level"),
        (REFERENCE.replace("def get_inputs", "def inputs"), "defines no get_inputs at its top level"),
        (REFERENCE + "\n\nclass ModelNew:\n    pass\n", "defines ModelNew, which is what programs are called"),
    ],
)
def test_what_is_not_in_the_convention_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        convert(text, "scale.py")


def test_without_torch_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"has no torch, .* Try: pip install 'evolve\[torch\]'"):
        CliRunner().invoke(
            commands.import_tasks, ["kernelbench", str(PROBLEMS), "-o", str(tmp_path)], catch_exceptions=False
        )


def test_a_folder_without_files_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    with pytest.raises(ConfigError, match=r"has no file that ends in \.py"):
        CliRunner().invoke(commands.import_tasks, ["kernelbench", str(tmp_path)], catch_exceptions=False)
