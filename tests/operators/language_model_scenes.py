"""Steps of a small campaign for operators whose children a model writes."""

from evolve.protocols import Operator
from evolve.testing import Answer, ScriptedModel, rehearsed_step
from evolve.types import Child, Program, Traits

SEED = """import math


# EVOLVE-BLOCK-START
def step(done, rounds):
    size = 0.5
    return size / rounds


# EVOLVE-BLOCK-END
def run(rounds):
    return sum(step(done, rounds) for done in range(rounds))
"""
PROGRAM = Program({"search.py": SEED})

EDIT = """Hypothesis: A smaller step near the end keeps what was found.

search.py
<<<<<<< SEARCH
    size = 0.5
=======
    size = 0.5 * (1 - done / rounds)
>>>>>>> REPLACE
"""
EDITED = Program({"search.py": SEED.replace("size = 0.5", "size = 0.5 * (1 - done / rounds)")})
OTHER_EDIT = EDIT.replace("size = 0.5 * (1 - done / rounds)", "size = 0.25").replace("A smaller step near", "Half")
OTHER_EDITED = Program({"search.py": SEED.replace("size = 0.5", "size = 0.25")})
LOST_EDIT = EDIT.replace("    size = 0.5\n", "    size = 0.75\n")
BROKEN_EDIT = EDIT.replace("size = 0.5 * (1 - done / rounds)", "size = 0.5 * (1 - done / rounds")
NO_OP = EDIT.replace("size = 0.5 * (1 - done / rounds)", "size = 0.5")
FILE = f"""Hypothesis: Larger steps go farther.

```search.py
{SEED.replace("0.5", "2.5")}```
"""
REWRITTEN = Program({"search.py": SEED.replace("0.5", "2.5")})


def proposed(operator: Operator, *script: Answer, traits: Traits | None = None) -> tuple[list[Child], ScriptedModel]:
    """The children of a step about `PROGRAM` whose calls are answered by a script, and the model with what it was asked."""
    model = ScriptedModel(*script)
    return list(operator.propose(*rehearsed_step(PROGRAM, 0, traits, model))), model


def purposes(model: ScriptedModel) -> list[str]:
    """What the model was called for, call by call."""
    return [heard.purpose for heard in model.heard]
