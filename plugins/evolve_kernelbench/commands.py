"""`evolve task import`: tasks of the files of somebody else's benchmark."""

import contextlib
import importlib.util
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from evolve.commands import atomic_write, emit, json_option, say, table
from evolve.types import ConfigError
from evolve_kernelbench.answers import PRECISIONS
from evolve_kernelbench.convert import Conversion, convert, find_constants, set_sizes
from evolve_kernelbench.lint import Tolerance, execute_reference, lint

_PROBLEM = '''"""Inputs and right answers of reference.py. How far an answer may be off lies between the error of the reference in {precision} and that in {lower}."""

import reference as _module
from evolve_kernelbench.answers import ModuleReference

_REFERENCE = ModuleReference(_module, "{precision}", norm={norm:.2g}, each={each:.2g})
instances, arguments, room, check = _REFERENCE.instances, _REFERENCE.arguments, _REFERENCE.room, _REFERENCE.check
'''
_TASK = """schema = 1
brief = "README.md"
program = {{ files = ["seed.py"], entry = "seed" }}

[evaluator]
plugin = "benchmark"
module = "problem.py"
function = "run"
mode = "speed"
shared = true
at_most = 1000.0

[fitness]
name = "ln of the speed-up"
log_ratio = true
direction = "max"
digits = 3

[[axes]]
name = "log2_bytes"
low = 9.0
high = 15.0
bins = 12

[[anchors]]
value = 0.0
by = "the reference"

[check]
answers = "determined"
precision = "{checked}"

[[stages]]
name = "evaluate"
seconds = {seconds}
needs = {{ pinned = true }}

[sandbox]
preload = ["torch"]
memory = "4GiB"
"""
_BRIEF = """# {name}

Make this PyTorch module faster on one core of a processor. `ModelNew` must answer as the reference's `Model` does, in {precision}, on inputs that are drawn anew for each call.

{about}

- `ModelNew` stands between the marks of `seed.py`; what is around them, with the function `run` that the evaluator calls, stays as it is.
- `ModelNew(*get_init_inputs())` is made once in a process, after `torch.manual_seed`: create the same parameters in the same order as the reference, for their values are drawn.
- The code may use `torch` and `numpy`, and no compiler. Calls are made without gradients and with one thread.
- An answer may be off by {norm:.2g} (relative, in the L2 norm), and each number by {each:.2g} of its size and the root mean square of all.
- The score is the logarithm of how many times as fast as the reference a call of `run` is. Inputs and answer lie in memory that is shared: nothing is handed over.
"""
_SIZE = re.compile(r"[A-Za-z_]\w*=(-?\d+(\.\d+)?|\(\d+,( ?\d+,?)*\))")
"""A constant with a number, or a tuple of whole numbers."""
_SHORTEST_STAGE, _CALLS = 300, 200
"""Seconds of an evaluation at least, and how many times a call of the reference it takes at most, that in double precision counted as several."""


@dataclass(frozen=True, slots=True)
class ImportLine:
    """One file: the task's folder, or why none was made of it."""

    file: str
    task: str
    seconds: float | None
    refused: str


@click.command("import")
@click.argument("convention", type=click.Choice(["kernelbench"]))
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option(
    "-o",
    "--output",
    "place",
    type=click.Path(path_type=Path),
    default=Path("tasks"),
    show_default=True,
    help="The folder of the tasks.",
)
@click.option(
    "--precision",
    type=click.Choice(list(PRECISIONS)),
    default="float32",
    show_default=True,
    help="In which the answers are wanted.",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another value of a constant of the files, such as batch_size=8; may be repeated.",
)
@json_option
def import_tasks(
    convention: str, path: Path, place: Path, precision: str, assignments: Sequence[str], as_json: bool
) -> None:
    """Make a task of each file of a benchmark of PyTorch modules: PATH is a file, or a folder of files. The files are run."""
    if importlib.util.find_spec("torch") is None:
        raise ConfigError(
            "this Python has no torch, by which references are tried out. Try: pip install 'evolve[torch]'"
        )
    files = sorted(path.glob("**/*.py")) if path.is_dir() else [path]
    if not files:
        raise ConfigError(
            f"{path} has no file that ends in .py. Try: a folder of {convention}, such as KernelBench/level1"
        )
    sizes = _read_sizes(assignments)
    _check_sizes(sizes, files)
    lines = [_import_file(file, place, precision, sizes) for file in files]
    if as_json:
        for line in lines:
            emit(line)
    else:
        rows = [
            (line.file, line.task or "-", f"{line.seconds:.3g} s" if line.seconds else "-", line.refused)
            for line in lines
        ]
        say(table(("file", "task", "a call", "why not"), rows, wrap="why not"))
    if any(line.refused for line in lines):
        raise click.exceptions.Exit(1)


def _read_sizes(assignments: Sequence[str]) -> Mapping[str, str]:
    """Returns names with their values as they were written; raises `ConfigError`."""
    for text in assignments:
        if not _SIZE.fullmatch(text):
            raise ConfigError(f"--set {text!r} names no number. Try: --set batch_size=8, or --set 'shape=(8, 64)'")
    return dict(text.split("=", 1) for text in assignments)


def _check_sizes(sizes: Mapping[str, str], files: Sequence[Path]) -> None:
    """Raises `ConfigError` where a name is no constant of any file; files that cannot be read are told of later."""
    known: set[str] = set()
    for file in files:
        with contextlib.suppress(ConfigError, OSError, UnicodeDecodeError):
            known.update(name for name, _ in find_constants(file.read_text("utf-8"), file.name))
    missing = sorted(sizes.keys() - known)
    if missing:
        raise ConfigError(
            f"--set names {', '.join(missing)}, which no file assigns at its top level. Try: one of {', '.join(sorted(known)) or 'another folder'}"
        )


def _import_file(file: Path, place: Path, precision: str, sizes: Mapping[str, str]) -> ImportLine:
    """Makes one task, whole or not at all."""
    name = re.sub(r"\W+", "_", file.stem).strip("_").lower()
    name = f"module_{name}" if name[:1].isdigit() else name
    try:
        folder = place / name
        if folder.exists():
            raise ConfigError(f"{folder} is there already. Try: remove it, or another --output")
        text = set_sizes(file.read_text("utf-8"), file.name, sizes)
        made = convert(text, file.name, precision)
        tolerance = lint(execute_reference(text, name), made.seed, precision)
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        return ImportLine(file.name, "", None, str(error))
    place.mkdir(parents=True, exist_ok=True)
    with atomic_write(folder) as draft:
        draft.mkdir()
        for path, content in list_files(name, text, made, precision, tolerance).items():
            (draft / path).write_text(content, "utf-8")
    return ImportLine(file.name, str(folder), tolerance.seconds, "")


def list_files(name: str, text: str, made: Conversion, precision: str, tolerance: Tolerance) -> Mapping[str, str]:
    """Returns the files of a task by their paths."""
    told = {
        "name": name,
        "about": made.about.strip(),
        "precision": precision,
        "lower": PRECISIONS[precision],
        # Answers are arrays of single precision, in which halves are told.
        "checked": "float32" if precision == "float32" else "float16",
        "norm": tolerance.norm,
        "each": tolerance.each,
        # Two programs, at most 20 pairs and the answers in double precision.
        "seconds": max(_SHORTEST_STAGE, math.ceil(_CALLS * tolerance.seconds)),
    }
    return {
        "README.md": _BRIEF.format(**told),
        "task.toml": _TASK.format(**told),
        "problem.py": _PROBLEM.format(**told),
        "reference.py": text,
        "seed.py": made.seed,
    }
