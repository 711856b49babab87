"""Every hostile program of the corpus, at the best level that this machine reaches."""

import ast
from pathlib import Path

import pytest

from evolve.types import Level
from tests.promised import not_here
from tests.redteam.case import Case
from tests.redteam.corpus import CASES
from tests.redteam.runner import RedTeam

pytestmark = pytest.mark.integration

_AT_ANY_LEVEL = {"out", "log", "name", "crash"}
"""Groups against which a process of its own and a strict reader are enough."""
_NAMES = [case.name for case in CASES]
_PAGE = Path(__file__).parents[2] / "docs" / "sandbox.md"


@pytest.mark.parametrize("case", CASES, ids=_NAMES)
def test_it_is_held(team: RedTeam, case: Case) -> None:
    """Or it is documented that at this level it is not."""
    if case.group not in _AT_ANY_LEVEL and not team.level.reaches(Level.STANDARD):
        not_here(f"needs a stronger box; this one is {team.isolation}")
    result = team.attack(case)
    if result.verdict == "skipped":
        not_here(result.why)
    if result.verdict == "breach" and team.level in case.exempt:
        not_here(f"documented for {team.level}: {result.why}")
    assert (result.verdict, result.why) == ("held", result.why)


def test_every_case_has_a_name_of_its_own() -> None:
    """In its group."""
    assert len(set(_NAMES)) == len(_NAMES)
    assert [case.name for case in CASES if not case.group or case.name.count(".") != 1] == []


def test_what_a_level_exempts_is_in_its_documentation() -> None:
    """No more and no less than the table of what `standard` exempts."""
    table = _PAGE.read_text("utf-8").partition("#### What standard exempts")[2].partition("\n#")[0]
    told = {line.split("`")[1]: "standard" for line in table.splitlines() if line.startswith("| `")}
    assert {case.name: ", ".join(sorted(case.exempt)) for case in CASES if case.exempt} == told


@pytest.mark.parametrize("case", CASES, ids=_NAMES)
def test_it_is_a_program_that_can_attack(case: Case) -> None:
    """What cannot even be read would be held by any box."""
    for source in filter(None, (case.source, case.after)):
        functions = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
        assert functions.count("attack") == 1


@pytest.mark.parametrize("case", [case for case in CASES if case.dangerous], ids=lambda case: case.name)
def test_what_is_dangerous_asks_first_whether_it_is_boxed(case: Case) -> None:
    """Before anything else that it does, and never runs outside of a box."""
    (attack,) = [
        node for node in ast.parse(case.source).body if isinstance(node, ast.FunctionDef) and node.name == "attack"
    ]
    asked = ast.parse('if not boxed(told):\n    return ["not boxed"]').body[0]
    body = attack.body[1:] if ast.get_docstring(attack) else attack.body
    assert (ast.dump(body[0]), case.harmless) == (ast.dump(asked), False)
