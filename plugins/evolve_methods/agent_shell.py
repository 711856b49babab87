"""A small agent, for who has no other: the model's answers are commands of a shell, and what they print is the next question.

It runs in the agent's box, with the standard library alone: `python agent_shell.py TASK.md`."""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_SECONDS = 300
"""Time for a command."""
RULES = f"""You improve a program in a folder, by commands of a shell. Each of your answers is a short thought, and one command in a fence:

```sh
python3 evaluate.py
```

The command runs in the folder, and what it prints comes back to you. Write a file with a here document (`cat > NAME <<'END'`). A command may have many lines. It is ended after {_SECONDS} seconds: start what takes longer in the background, with its output in a file, and look at it later. Only this folder can be written. Nobody else reads your answers, so be brief.

When the folder holds what you propose, answer without a fence, and with the last line DONE."""
_COMMAND = re.compile(r"^(`{3,})(?:sh|bash|shell)?[ \t]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
_SHOWN = 6000
"""Characters of what a command prints that are shown, of its beginning and of its end."""
_LOST = 3
"""Answers without a command and without DONE, after which the agent ends."""


def ask(messages: list[dict[str, str]]) -> str:
    """Returns the model's answer to a dialogue. Raises `HTTPError`."""
    talk = json.dumps({"model": "model", "messages": messages}).encode()
    request = urllib.request.Request(f"{os.environ['OPENAI_BASE_URL']}/chat/completions", talk)
    with urllib.request.urlopen(request) as answer:
        found: Any = json.loads(answer.read())
    return str(found["choices"][0]["message"]["content"])


def run(command: str) -> str:
    """Returns what a command prints, and how it ended. What it leaves in the background is not waited for."""
    with tempfile.TemporaryFile() as printed:
        try:
            ended = subprocess.run(
                ["/bin/sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                timeout=_SECONDS,
                check=False,
            )
            how = f"exit code {ended.returncode}"
        except subprocess.TimeoutExpired:
            how = f"it was ended after {_SECONDS} s"
        printed.seek(0)
        text = printed.read().decode("utf-8", "replace")
    if len(text) > 2 * _SHOWN:
        text = f"{text[:_SHOWN]}\n(... {len(text) - 2 * _SHOWN} characters ...)\n{text[-_SHOWN:]}"
    return f"{text}\n({how})"


def main(task: str) -> None:
    """Works on a task until the model says that it is done, or does not answer any more."""
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": Path(task).read_text("utf-8")}]
    lost = 0
    while lost < _LOST:
        try:
            answer = ask(messages)
        except urllib.error.HTTPError as error:
            sys.stdout.write(error.read().decode("utf-8", "replace"))
            return
        sys.stdout.write(f"{answer}\n")
        commands = _COMMAND.findall(answer)
        if not commands and answer.rstrip().endswith("DONE"):
            return
        lost = 0 if commands else lost + 1
        told = run(commands[-1][1]) if commands else "There is no command in a fence, and no DONE."
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": told}]


if __name__ == "__main__":
    main(sys.argv[1])
