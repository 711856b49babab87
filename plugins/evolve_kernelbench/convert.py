"""A file in KernelBench's convention as the seed of a task: its `Model` becomes `ModelNew`, in the part that a search may change."""

import ast
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evolve.types import ConfigError

MODEL, NEW, INPUTS, INIT = "Model", "ModelNew", "get_inputs", "get_init_inputs"
_CALL = '''
_made = {}


def run(precision, seed, *inputs):
    """What the evaluator calls: the answer of `ModelNew` in single precision, with weights that are drawn as those of the reference."""
    kind = getattr(torch, precision)
    if precision not in _made:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        given = get_init_inputs()
        torch.manual_seed(seed)
        _made[precision] = ModelNew(*given).to(kind)
    tensors = [torch.from_numpy(numpy.require(one, requirements="W")) if isinstance(one, numpy.ndarray) else one for one in inputs]
    tensors = [one.to(kind) if isinstance(one, torch.Tensor) and one.is_floating_point() else one for one in tensors]
    with torch.inference_mode():
        answer = _made[precision](*tensors)
    return answer.to(torch.float32).contiguous().numpy()
'''


@dataclass(frozen=True, slots=True)
class Conversion:
    """The text of a seed, and what the reference says of itself."""

    seed: str
    about: str


def convert(text: str, name: str) -> Conversion:
    """Returns the seed of a reference's text; `name` is that of its file. Raises `ConfigError` where it is not in the convention."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ConfigError(f"{name} is no Python: {error}. Try: mend it") from None
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    missing = [one for one in (MODEL, INPUTS, INIT) if one not in defined]
    if missing:
        raise ConfigError(
            f"{name} defines no {' and no '.join(missing)} at its top level, and KernelBench's convention has {MODEL}, {INPUTS}() and {INIT}(). Try: another file"
        )
    if NEW in defined:
        raise ConfigError(f"{name} defines {NEW}, which is what programs are called. Try: give it another name")
    lines = text.splitlines(keepends=True)
    imports, constants, changed, init = list[str](), list[str](), list[str](), ""
    for node, part in zip(tree.body, _split(tree.body, lines), strict=True):
        match node:
            case ast.Import() | ast.ImportFrom():
                imports.append(part.lstrip("\n"))
            case ast.FunctionDef(name=defines) if defines == INPUTS:
                pass
            case ast.FunctionDef(name=defines) if defines == INIT:
                init = part
            case ast.FunctionDef() | ast.ClassDef():
                changed.append(_rename(part))
            case ast.If() if _is_main(node):
                pass
            case ast.Expr(value=ast.Constant()):  # the file's docstring
                pass
            case _:
                constants.append(part)
    own = [line for line in ("import numpy\n", "import torch\n") if line not in imports]
    head = "".join([*own, *imports, "\n", *(part.lstrip("\n") for part in constants)])
    block = "\n\n".join(part.strip("\n") + "\n" for part in changed)
    seed = f"{head.rstrip()}\n\n\n# EVOLVE-BLOCK-START\n{block}# EVOLVE-BLOCK-END\n\n\n{init.strip()}\n\n{_CALL}"
    (model,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == MODEL)
    return Conversion(seed, ast.get_docstring(model) or "")


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


def _is_main(node: ast.If) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test))
