"""`README.md` of a paper's folder: what lies there, and what it proves or does not.

Invariant: a value that was measured is never called proven."""

from collections.abc import Sequence

from evolve.campaign import Campaign
from evolve.publish.markdown import escaped
from evolve.publish.paper.escaping import fenced
from evolve.publish.paper.table import basis_text, value_text
from evolve.publish.result import Result

_FILES = {
    "verify.py": "checks the construction in exact arithmetic, with the standard library of Python alone",
    "construction.json": "the construction, every number exact, as the task has certified it",
    "program/": "the program",
    "table.tex": "the value, the seed and the anchors as a LaTeX table",
    "curve.svg": "best so far against programs judged, with the anchors",
    "curve.pdf": "the same",
    "picture.svg": "the task's own picture of the result",
    "picture.pdf": "the same",
    "statement.md": "how it came about: models, dates, tokens and cost, operators, seeds, settings, isolation",
    "prompts/": "every call of a model on the way to the program, prompt and reply, to be read and, in `calls.jsonl`, to the letter; what looked like a key is left out",
    "references.bib": "where the anchors were published",
    "SHA256SUMS": "check sums of all files: `sha256sum -c SHA256SUMS`",
}
_HOW = "To verify it, with nothing but Python 3.11 or newer:\n\n```\npython3 -I -S verify.py\n```"


def readme(campaign: Campaign, found: Result, names: Sequence[str], said: str, notes: Sequence[str]) -> str:
    """The page; `names` are those of the files, `said` is what `verify.py` has said, empty where there is none."""
    fitness = campaign.task.fitness
    there = {f"{name.partition('/')[0]}/" if "/" in name else name for name in names} | {"SHA256SUMS"}
    listed = "".join(f"- `{name}`: {text}\n" for name, text in _FILES.items() if name in there)
    parts = [
        f"# {escaped(found.name)}",
        f"{escaped(fitness.name)} {value_text(found, fitness)}, {escaped(basis_text(found, campaign.task))}. Promoted: {found.promotion}.{_held_out(campaign, found)}",
        _verifying(campaign, found, said) if said or "verify.py" not in names else _HOW,
        listed.rstrip(),
        *notes,
    ]
    return "\n\n".join(parts) + "\n"


def _held_out(campaign: Campaign, found: Result) -> str:
    """On how many of the cases that the search does not see the program is not as good as the seed."""
    names = [case.name for case in campaign.task.held_out]
    cases = [case for case in found.cases if case.case in names]
    worse = [escaped(case.case) for case in cases if not case.agrees]
    if not cases:
        return ""
    told = f"it is worse than the seed, or not known to be as good, on {len(worse)} of {len(cases)}: {', '.join(worse)}"
    return (
        f" On held-out cases {told if worse else 'it is nowhere worse than the seed'} (`statement.md` has the values)."
    )


def _verifying(campaign: Campaign, found: Result, said: str) -> str:
    if said:
        return f"{_HOW}\n\nWhen this folder was written it said:\n\n" + fenced(said).rstrip()
    if found.certificate:
        return (
            "The task has proven the value in exact arithmetic while it was searched for. It brings no verifier that runs without it, so this "
            "folder has no `verify.py`: to prove it again takes the task itself."
        )
    trust = {
        "witnessed": "The judge computed it from what it saw the program do.",
        "rescored": "The judge computed it from files that the program had saved.",
        "claimed": "The program itself said so, and nobody has checked it.",
    }[found.trust]
    again = (
        "equal programs get equal scores there"
        if campaign.task.deterministic
        else "another measurement finds another value"
        + (
            ", within the interval most times"
            if found.value.low is not None
            else ", and how far from this one is not known"
        )
    )
    return (
        f"The value is measured, and not proven. {trust} So there is no `verify.py` here: to check the value is to judge the program again, with the "
        f"task and this engine; {again}. `SHA256SUMS` says only that no file was changed."
    )
