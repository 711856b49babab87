"""The arm that is a campaign of OpenEvolve: its defaults, our tasks, and our judge.

Set are what it cannot know (the model's address, the task in the system message, the seed, two at once), and a deadline for calls that
somebody answers by hand. Its trace of the evolution tells which call made which program."""

import argparse
import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from campaigns import AT_ONCE, EVOLVE, Call, Campaign, ask
from letterbox import Answer, Letterbox

import evolve.task
from evolve.types import Task

JUDGE = Path(__file__).with_name("openevolve_judge.py")
MOST_CHARACTERS = 1_000_000
"""Of a program."""
CALL_SECONDS = 7 * 24 * 3600
MARGIN_SECONDS = 60
"""What the judge's start and the seed beside the program take, at most."""


def run(place: Path, folder: Path, args: argparse.Namespace) -> Campaign:
    """Runs a campaign of OpenEvolve, and returns what it did."""
    task = evolve.task.load(str(folder))
    if len(task.seed.files) != 1:
        raise SystemExit(
            f"run.py: OpenEvolve changes one file, and {task.name} has {len(task.seed.files)}. Try: another task"
        )
    ((name, text),) = task.seed.files.items()
    (place / name).write_text(text)
    ledger = write_judge(place, folder, task, name)
    with Letterbox(args.box, args.calls) as box:
        (place / "openevolve.json").write_text(json.dumps(settings_of(place, task, name, args, box.address), indent=1))
        search(place, name, args)
        answers = tuple(box.answers)
    write_cassette(place / "cassette.jsonl", answers)
    programs, made = read_programs(place / "trace.jsonl", answers), read_ledger(ledger)
    calls = list(read_calls(answers, programs, made))
    return Campaign(calls, {name: best_text(task, answers, programs, made, text)}, version_of(args.openevolve))


def best_text(
    task: Task, answers: Sequence[Answer], programs: Mapping[str, str], made: Mapping[str, Mapping[str, Any]], seed: str
) -> str:
    """Returns the program with the best score, the first of equal ones; the seed, where none is better."""
    texts = [seed, *(programs[answer.name] for answer in answers if answer.name in programs)]
    able = [text for text in texts if made.get(digest(text), {"score": None})["score"] is not None]
    return max(able, key=lambda text: task.fitness.inside(made[digest(text)]["score"]))


def write_judge(place: Path, folder: Path, task: Task, name: str) -> Path:
    """Writes the judge's settings, and returns the file that it notes its evaluations in."""
    workspace, ledger = place / "workspace", place / "evaluations.jsonl"
    (place / "seed").mkdir(exist_ok=True)
    (place / "seed" / name).write_text(task.seed.files[name])
    *_, summary = ask(EVOLVE, workspace, "program", "evaluate", str(place / "seed"), "--task", str(folder))
    seed = task.fitness.inside(summary["mean"])
    settings = {
        "evaluate": [
            str(EVOLVE),
            "--workspace",
            str(workspace),
            "program",
            "evaluate",
            "--task",
            str(folder),
            "--json",
        ],
        "file": name,
        "direction": task.fitness.direction,
        # Nought is its convention for a failure, and would be the best of all where scores are negative.
        "failed": 0.0 if seed > 0 else seed - 10 * (1 + abs(seed)),
        "ledger": str(ledger),
    }
    (place / "judge.json").write_text(json.dumps(settings, indent=1))
    return ledger


def settings_of(place: Path, task: Task, name: str, args: argparse.Namespace, address: str) -> dict[str, Any]:
    """Returns OpenEvolve's configuration: JSON, which is YAML, too."""
    seconds = sum(stage.limit for stage in task.stages) + MARGIN_SECONDS
    return {
        "max_iterations": args.calls,
        # Its default of 10,000 refuses most answers to these tasks, and no prompt says so.
        "max_code_length": MOST_CHARACTERS,
        "random_seed": args.seed,
        "file_suffix": Path(name).suffix,
        "llm": {"api_base": address, "api_key": "none", "primary_model": "blind", "timeout": CALL_SECONDS},
        "prompt": {"system_message": describe(task)},
        "database": {"random_seed": args.seed},
        "evaluator": {"parallel_evaluations": AT_ONCE, "timeout": max(300, int(2 * seconds))},
        "evolution_trace": {"enabled": True, "include_code": True, "output_path": str(place / "trace.jsonl")},
    }


def describe(task: Task) -> str:
    """Returns what a model is told of a task: the brief, and the facts that evolve's prompts have beside it."""
    larger = task.fitness.direction == "max"
    anchors = "; ".join(f"{anchor.value:g} ({anchor.by})" for anchor in task.anchors)
    seconds = " + ".join(f"{stage.limit:g}" for stage in task.stages)
    parameters = ", ".join(f"{key} = {value!r}" for key, value in task.parameters.items())
    facts = [
        f"The score is the {task.fitness.name}; {'larger' if larger else 'smaller'} is better. "
        + (
            "combined_score is the score."
            if larger
            else "combined_score is the score with its sign changed, so that larger is better."
        ),
        f"Published scores: {anchors}." if anchors else "",
        f"Parameters: {parameters}." if parameters else "",
        f"The evaluation of a program takes at most {seconds} seconds on one core, in isolation, without network.",
        "The evaluator calls functions of the program: keep their names, their arguments, and what they return.",
        "The best programs are also evaluated on other parameters: a program that works for these alone is worthless."
        if task.held_out
        else "",
    ]
    listed = "\n".join(f"- {fact}" for fact in facts if fact)
    role = "You are an expert software developer tasked with iteratively improving a program."
    return f"{role}\n\n# {task.name}\n\n{task.brief.strip()}\n\n{listed}\n"


def search(place: Path, name: str, args: argparse.Namespace) -> None:
    """Runs OpenEvolve to its end; its output is kept as `openevolve.log`."""
    words = [str(args.openevolve), "-m", "openevolve.cli", str(place / name), str(JUDGE)]
    words += ["--config", str(place / "openevolve.json"), "--output", str(place / "openevolve")]
    environment = os.environ | {"SEARCH_POWER_JUDGE": str(place / "judge.json"), "NO_PROXY": "127.0.0.1"}
    with (place / "openevolve.log").open("w") as log:
        done = subprocess.run(words, check=False, cwd=place, env=environment, stdout=log, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f"run.py: OpenEvolve failed with {done.returncode}. Try: read {log.name}")


def read_programs(trace: Path, answers: Sequence[Answer]) -> dict[str, str]:
    """Returns the program that each answer made, by the answer's name; an answer that could not be used has none."""
    lines = [json.loads(line) for line in trace.read_text().splitlines()] if trace.exists() else []
    made = {(line["prompt"]["user"], line["llm_response"]): line["child_code"] for line in lines}
    keys = {answer.name: (answer.messages[-1]["content"], answer.reply) for answer in answers}
    return {name: made[key] for name, key in keys.items() if key in made}


def read_ledger(ledger: Path) -> dict[str, dict[str, Any]]:
    """Returns the judge's evaluations by the digests of programs."""
    notes = [json.loads(line) for line in ledger.read_text().splitlines()]
    return {note["program"]: note for note in notes}


def read_calls(
    answers: Sequence[Answer], programs: Mapping[str, str], made: Mapping[str, Mapping[str, Any]]
) -> Iterator[Call]:
    """Yields the calls in the order of their answers."""
    for number, answer in enumerate(answers, 1):
        outcome, score = "not used", None
        note = made.get(digest(programs[answer.name])) if answer.name in programs else None
        if note is not None:
            outcome, score = note["outcome"], note["score"]
        yield Call(number, "openevolve", outcome, score, answer.prompt_tokens, answer.completion_tokens)


def digest(text: str) -> str:
    """Returns what names a program in the ledger."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_cassette(path: Path, answers: Sequence[Answer]) -> None:
    """Writes the prompts and their answers, one line of JSON each."""
    lines = [json.dumps({"name": one.name, "messages": list(one.messages), "reply": one.reply}) for one in answers]
    path.write_text("".join(f"{line}\n" for line in lines))


def version_of(python: Path) -> str:
    """Returns the version of OpenEvolve in an environment."""
    words = [str(python), "-c", "import importlib.metadata; print(importlib.metadata.version('openevolve'))"]
    return f"openevolve {subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()}"
