"""The stand-alone `verify.py` of a proven value: the task's own verifier, and below it what is the same for every task.

Invariant: the task's part is its file as the judge runs it, to the byte, so that there is one truth; no code of a log runs
that does not lie in the task's folder, too."""

import pprint
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from evolve.campaign import Campaign
from evolve.publish.result import Certificate
from evolve.task import load
from evolve.task.verifier import FUNCTION, SENTENCE
from evolve.types import ConfigError, Task, TaskError

SCRIPT = "verify.py"
CONSTRUCTION = "construction.json"
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
class Verifier:
    """The text of a task's verifier. `is_here`: the same text lies in the task's folder on this machine, so that it may run here: a log may come from anywhere."""

    text: str
    is_here: bool


def verifier_of(campaign: Campaign) -> Verifier | None:
    """The one in the log, else that of the task's folder, which may have got one since; None where there is none."""
    task = campaign.task
    try:
        here = load(task.path, task.parameters).verifier
    except TaskError:
        here = ""
    text = task.verifier or here
    return Verifier(text, text == here) if text else None


def script(task: Task, verifier: str, certificate: Certificate) -> str:
    """The text of `verify.py`."""
    claim = {
        "task": task.name,
        "version": task.version,
        "parameters": dict(task.parameters),
        "fitness": task.fitness.name,
        "direction": task.fitness.direction,
        "value": certificate.fitness,
        "record": certificate.name,
    }
    written = pprint.pformat(claim, width=110, sort_dicts=False)
    head = _HEAD.format(line="-" * 70, name="a file of the task", task=ascii(task.name), script=SCRIPT)
    tail = _TAIL.format(claim=ascii_only(written), function=FUNCTION, sentence=SENTENCE)
    return f"{verifier.rstrip()}\n{head}{_SHELL.read_text('utf-8').rstrip()}\n{tail}"


def ascii_only(text: str) -> str:
    """A Python literal without any other letters: each as its escape."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


def verified(folder: Path, name: str) -> str:
    """What the script of a folder says; raises `ConfigError` where the construction does not hold."""
    command = [sys.executable, "-I", "-S", SCRIPT]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise ConfigError(
            f"the certificate of {name} was not verified within {_SECONDS} s. Do: make the task's verifier faster"
        ) from error
    if run.returncode:
        reason = " ".join(run.stderr.split()[-100:]) or f"exit status {run.returncode}"
        raise ConfigError(
            f"the certificate of {name} does not hold by the task's own verifier: {reason}. Do: mend the verifier, or the task's certify"
        )
    return run.stdout
