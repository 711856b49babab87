"""Campaigns for tests of what is published: a proven sum, and hostile words wherever somebody else's may stand."""

import json
from pathlib import Path
from typing import Any

from evolve.types import Anchor, Call, Fitness, Origin, Part, Program, TextId
from tests.written import Written, number_program, number_task

VERIFIER = '''\
"""Sums of whole numbers."""

PROVES = "the numbers add up to the value"


def proven(certificate, parameters):
    numbers = certificate["numbers"]
    if not all(type(number) is int for number in numbers):
        raise ValueError("not all are whole numbers")
    return sum(numbers)
'''
HOSTILE = '\\end{x} $& #_%~^ "q" `c` <script>alert(1)</script> [a](http://x) |\n\n# \x1b[2J\u202eé中'
"""Words in every format that is written."""
KEY = "sk-abcdefghijklmnop1234567890"


def task_folder(home: Path) -> Path:
    """A task's folder with that verifier; its evaluator judges nothing."""
    folder = home / "tasks" / "number"
    folder.mkdir(parents=True)
    for name, text in {
        "task.toml": 'schema = 1\nverifier = "verifier.py"\n',
        "README.md": "Sum.",
        "seed.py": "",
        "evaluator.py": "",
        "verifier.py": VERIFIER,
    }.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def proven_campaign(home: Path, numbers: object = (3, 4), fitness: float = 7.0, **fields: Any) -> Written:
    """The seed 5, and record 2 with 7, which record 3 has proven."""
    written = Written(home, number_task(verifier=VERIFIER, promotion="certificate", **fields))
    written.seed(5.0)
    written.proposal(fitness)
    with written.campaign.log.transaction():
        proof = written.campaign.log.put_text(json.dumps({"numbers": numbers}))
    evaluation = written._ok(fitness, certified=True, artifacts={"certificate": TextId(proof)})
    written._settle(Origin("measurement", 3, about=2, why="certify"), number_program(fitness), evaluation)
    return written


def hostile_campaign(home: Path) -> Written:
    """The seed, and record 2 of a model; every name is `HOSTILE`, and a key stands in a prompt."""
    anchors = (Anchor(8.0, HOSTILE, 2025, HOSTILE), Anchor(3.0, "Early"))
    seed = Program({"seed.py": "x = 1\n"})
    written = Written(
        home, number_task(name="number", fitness=Fitness(HOSTILE), anchors=anchors, deterministic=False, seed=seed)
    )
    written._settle(Origin("seed", 0), seed, written._ok(5.0))
    with written.campaign.log.transaction():
        texts = [
            written.campaign.log.put_text(text)
            for text in (f"```\n{HOSTILE}\n````\nBearer {KEY}", f"reply {KEY}", "a thought")
        ]
    call = Call(
        HOSTILE,
        revision=HOSTILE,
        prompt=(Part("user", HOSTILE, texts[0]),),
        reply=texts[1],
        thinking=texts[2],
        prompt_tokens=10,
        completion_tokens=5,
        cost=0.25,
        exact=True,
        finish="stop",
        parameters={"temperature": 0.5},
    )
    written.called(call)
    origin = Origin("proposal", 2, operator="diff", model=HOSTILE, parents=(1,))
    written._settle(
        origin,
        Program({"seed.py": f"x = 2\n# {HOSTILE}\ud800\n"}),
        written._ok(6.0, isolation=HOSTILE, environment=HOSTILE),
    )
    return written
