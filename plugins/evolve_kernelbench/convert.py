"""A file in KernelBench's convention as the seed of a task: its `Model` becomes `ModelNew`, in the part that a search may change."""

import ast
import io
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evolve.types import ConfigError
from evolve_kernelbench.answers import SEED

MODEL, NEW, INPUTS, INIT = "Model", "ModelNew", "get_inputs", "get_init_inputs"
_CALL = '''
_made = []


def run(answer, *inputs):
    """What the evaluator calls: fills `answer` with that of `ModelNew`, whose weights are drawn as those of the reference."""
    if not _made:
        torch.set_num_threads(1)
        torch.manual_seed({seed})
        given = get_init_inputs()
        torch.manual_seed({seed})
        _made.append(ModelNew(*given).to(torch.{precision}))
    tensors = [torch.from_numpy(one) for one in inputs]
    tensors = [one.to(torch.{precision}) if one.is_floating_point() else one for one in tensors]
    with torch.inference_mode():
        torch.from_numpy(answer).copy_(_made[0](*tensors))
'''


@dataclass(frozen=True, slots=True)
class Conversion:
    """The text of a seed, and what the reference says of itself."""

    seed: str
    about: str


def convert(text: str, name: str, precision: str = "float32") -> Conversion:
    """Returns the seed of a reference's text, for answers in a precision; `name` is that of its file. Raises `ConfigError` where it is not in the convention."""
    tree = _parse(text, name)
    _check_names(tree, name)
    parts = _sort_parts(tree.body, text)
    imports = [part.lstrip("\n") for part in parts["imports"]]
    own = [line for line in ("import torch\n",) if line not in imports]
    head = "".join([*own, *imports, "\n", *(part.lstrip("\n") for part in parts["constants"])])
    block = "\n\n".join(_rename(part).strip("\n") + "\n" for part in parts["changed"])
    init = parts["init"][-1]
    seed = f"{head.rstrip()}\n\n\n# EVOLVE-BLOCK-START\n{block}# EVOLVE-BLOCK-END\n\n\n{init.strip()}\n\n{_CALL.format(seed=SEED, precision=precision)}"
    (model,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == MODEL)
    return Conversion(seed, ast.get_docstring(model) or "")


def set_sizes(text: str, name: str, sizes: Mapping[str, str]) -> str:
    """Returns a reference with other values of those of its constants that `sizes` names: KernelBench's sizes are a GPU's. Raises `ConfigError` where it is no Python."""
    lines = text.splitlines(keepends=True)
    found = [(value, sizes[constant]) for constant, value in find_constants(text, name) if constant in sizes]
    for value, other in reversed(found):
        line = lines[value.lineno - 1].encode()
        changed = line[: value.col_offset] + other.encode() + line[value.end_col_offset or 0 :]
        lines[value.lineno - 1] = changed.decode()
    return "".join(lines)


def find_constants(text: str, name: str) -> Sequence[tuple[str, ast.expr]]:
    """Returns what a file assigns at its top level, each within one line, by its name: of `A, B = 1, 2` both. Raises `ConfigError` where it is no Python."""
    found: list[tuple[str, ast.expr]] = []
    for node in _parse(text, name).body:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = list(zip(targets, values, strict=False)) if len(targets) == len(values) else []
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                pairs = [(target, value)]
            case _:
                pairs = []
        found += [
            (target.id, value)
            for target, value in pairs
            if isinstance(target, ast.Name) and value.lineno == value.end_lineno
        ]
    return found


def _parse(text: str, name: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise ConfigError(f"{name} is no Python: {error}. Try: mend it") from None


def _check_names(tree: ast.Module, name: str) -> None:
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    missing = [one for one in (MODEL, INPUTS, INIT) if one not in defined]
    if missing:
        raise ConfigError(
            f"{name} defines no {' and no '.join(missing)} at its top level, and KernelBench's convention has {MODEL}, {INPUTS}() and {INIT}(). Try: another file"
        )
    if NEW in defined:
        raise ConfigError(f"{name} defines {NEW}, which is what programs are called. Try: give it another name")


def _sort_parts(nodes: Sequence[ast.stmt], text: str) -> Mapping[str, Sequence[str]]:
    """Returns the texts of a file's statements by what becomes of them: `imports` and `constants` stand above what is `changed`, `init` below; the rest is left out."""
    found: dict[str, list[str]] = {"imports": [], "constants": [], "changed": [], "init": [], "": []}
    for node, part in zip(nodes, _split(nodes, text.splitlines(keepends=True)), strict=True):
        match node:
            case ast.Import() | ast.ImportFrom():
                place = "imports"
            case ast.FunctionDef(name=defines) if defines in (INPUTS, INIT):
                place = "init" if defines == INIT else ""
            case ast.FunctionDef() | ast.ClassDef():
                place = "changed"
            case _:
                place = "" if _is_for_people(node) else "constants"
        found[place].append(part)
    return found


def _is_for_people(node: ast.stmt) -> bool:
    """Reports whether a statement is the file's docstring, or what it does when it is run."""
    if isinstance(node, ast.If):
        return any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test))
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _split(nodes: Sequence[ast.stmt], lines: Sequence[str]) -> list[str]:
    """Returns the text of each statement, with the comments above it."""
    ends = [0, *(node.end_lineno or node.lineno for node in nodes)]
    return ["".join(lines[first:last]) for first, last in pairwise(ends)]


def _rename(text: str) -> str:
    """Returns a text in which the name `Model` is `ModelNew`, but not in strings and comments."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    places = [token.start for token in tokens if token.type == tokenize.NAME and token.string == MODEL]
    lines = text.splitlines(keepends=True)
    for row, column in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = f"{line[:column]}{NEW}{line[column + len(MODEL) :]}"
    return "".join(lines)
