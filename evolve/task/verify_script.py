"""The stand-alone `proof.py` of a proven value: the task's own verifier, and below it what is the same for every task.

Invariant: the task's part is its file as the judge runs it, to the byte, so that there is one truth. Who runs a script has made sure whose code it is."""

import pprint
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from evolve.task.verifier import CERTIFICATE, FUNCTION, SENTENCE
from evolve.types import Task

SCRIPT = "proof.py"
_CERTIFICATE = f"{CERTIFICATE}.json"
_SHELL = Path(__file__).with_name("standalone.py")
_HEAD = """\


# {line}
# What stands above is {name}, the verifier of task {task}, as its judge runs it.
# What stands below is the same for every task. Run: python3 -I -S {script}
# {line}

"""
_TAIL = """

EXPORTED_CLAIM = {claim}

if __name__ == "__main__":
    exported_sys.exit(exported_main({function}, {sentence}, EXPORTED_CLAIM, exported_sys.argv[1:]))
"""
_SECONDS = 540


@dataclass(frozen=True, slots=True)
class Verified:
    """What a script has said of a construction; or else why it is not verified, as what one says of a certificate."""

    said: str
    refusal: str = ""


def script(task: Task, value: float, record: str, certificate: str) -> str:
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
    written = pprint.pformat(claim, width=110, sort_dicts=False)
    head = _HEAD.format(line="-" * 70, name="a file of the task", task=ascii(task.name), script=SCRIPT)
    tail = _TAIL.format(claim=ascii_only(written), function=FUNCTION, sentence=SENTENCE)
    return f"{task.verifier.rstrip()}\n{head}{_SHELL.read_text('utf-8').rstrip()}\n{tail}"


def ascii_only(text: str) -> str:
    """A Python literal without any other letters: each as its escape."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


def holds(task: Task, certificate: str, value: float, record: str) -> Verified:
    """Runs the task's own verifier on a certificate, JSON of which this value is claimed; nothing is left behind."""
    with TemporaryDirectory(prefix="evolve-verify-") as name:
        folder = Path(name)
        (folder / _CERTIFICATE).write_text(certificate, "utf-8")
        (folder / SCRIPT).write_text(script(task, value, record, _CERTIFICATE), "utf-8")
        return verified(folder)


def verified(folder: Path, seconds: float = _SECONDS) -> Verified:
    """Runs the script of a folder beside its certificate, with Python's standard library alone."""
    command = [sys.executable, "-I", "-S", SCRIPT]
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Verified("", f"was not verified within {seconds:g} s")
    if run.returncode:
        reason = " ".join(run.stderr.split()[-100:]) or f"exit status {run.returncode}"
        return Verified("", f"does not hold by the task's own verifier: {reason}")
    return Verified(run.stdout)
