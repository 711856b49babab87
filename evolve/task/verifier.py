"""Verifiers: scripts by which anybody can check what a task has certified, with Python's standard library alone.

The `proof.py` of a proven value is the task's own verifier, to the byte, and below it `standalone.py`, which is the same for every task."""

import ast
import pprint
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from evolve.edits.python_names import list_imported
from evolve.types import Task, TaskError

FUNCTION = "proven"
"""`proven(certificate, parameters)` is the exact fitness, or raises `ValueError` with what does not hold."""
SENTENCE = "PROVES"
"""A text: what a certificate proves that holds."""
CERTIFICATE = "certificate"
"""The artifact in which a task stores what it has proven."""
PROOF_SCRIPT = "proof.py"

_CERTIFICATE_FILE = f"{CERTIFICATE}.json"
_STANDALONE = Path(__file__).with_name("standalone.py")
_HEAD = """\


# {line}
# What stands above is a file of the task, the verifier of task {task}, as its judge runs it.
# What stands below is the same for every task. Run: python3 -I -S proof.py
# {line}

"""
_TAIL = """

EXPORTED_CLAIM = {claim}

if __name__ == "__main__":
    exported_sys.exit(exported_main(proven, PROVES, EXPORTED_CLAIM, exported_sys.argv[1:]))
"""
_SECONDS = 540


@dataclass(frozen=True, slots=True)
class Proof:
    """Output of a script that holds, or the reason why it does not, as a phrase that follows the word "certificate"."""

    output: str
    refusal: str = ""


def check_verifier(where: Path, text: str) -> None:
    """Raises `TaskError` with the first reason for which a verifier could not be handed on. It is read here, and never run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise TaskError(f"{where}: the verifier is not Python: {error}. Try: mend that line") from error
    fault = next(_find_faults(tree), "")
    if fault:
        raise TaskError(f"{where}: {fault}")


def read_sentence(text: str) -> str:
    """Returns what the certificates of a task prove, as its verifier says it; empty where it says nothing."""
    return _sentence_of(ast.parse(text))


def _sentence_of(tree: ast.Module) -> str:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(sentence))) if name == SENTENCE:
                return sentence
    return ""


def proof_script(task: Task, value: float, record: str, certificate: str) -> str:
    """Returns the text of `proof.py`, which checks the certificate at this path beside it: that it proves `value`, in the task's direction.
    For a task that has a verifier."""
    claim = {
        "task": task.name,
        "version": task.version,
        "parameters": dict(task.parameters),
        "fitness": task.fitness.name,
        "direction": task.fitness.direction,
        "value": value,
        "record": record,
        "certificate": certificate,
    }
    formatted = pprint.pformat(claim, width=110, sort_dicts=False).encode("ascii", "backslashreplace").decode("ascii")
    head = _HEAD.format(line="-" * 70, task=ascii(task.name))
    standalone = _STANDALONE.read_text("utf-8").rstrip()
    return f"{task.verifier.rstrip()}\n{head}{standalone}\n{_TAIL.format(claim=formatted)}"


def check_proof(task: Task, certificate: str, value: float, record: str) -> Proof:
    """Runs the task's own verifier on a certificate, JSON of which this value is claimed; nothing is left behind."""
    with TemporaryDirectory(prefix="evolve-verify-") as name:
        folder = Path(name)
        (folder / _CERTIFICATE_FILE).write_text(certificate, "utf-8")
        (folder / PROOF_SCRIPT).write_text(proof_script(task, value, record, _CERTIFICATE_FILE), "utf-8")
        return run_proof(folder)


def run_proof(folder: Path, seconds: float = _SECONDS) -> Proof:
    """Runs the script of a folder beside its certificate. The caller has made sure whose code it is."""
    # Isolated and without site packages: as a reader runs it, who has nothing else.
    command = [sys.executable, "-I", "-S", PROOF_SCRIPT]
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Proof("", f"was not verified within {seconds:g} s")
    if run.returncode:
        reason = " ".join(run.stderr.split()[-100:]) or f"exit status {run.returncode}"
        return Proof("", f"does not hold by the task's own verifier: {reason}")
    return Proof(run.stdout)


def _find_faults(tree: ast.Module) -> Iterator[str]:
    for node, module in list_imported(tree):
        if module not in sys.stdlib_module_names:
            yield (
                f"line {node.lineno} imports {module or 'a neighbour'!r}, and a verifier runs with the standard library alone. "
                "Try: write what it needs into it"
            )
    definitions = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
    for statement in tree.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text and not isinstance(statement, definitions):
            yield f"line {statement.lineno} does something when the file is read. Try: leave only definitions in it"
    if not any(isinstance(node, ast.FunctionDef) and node.name == FUNCTION for node in tree.body):
        yield f"a verifier has no function {FUNCTION}(certificate, parameters). Try: write it; it returns the exact fitness"
    if not _sentence_of(tree):
        yield f'a verifier says what it proves. Try: write {SENTENCE} = "..."'
