"""`README.md` of an export: what it is, what it claims, on what that rests, and how to find out for oneself.

Invariant: a function of the claims, the task and the lineage; every word of a program, a model or a task is escaped."""

import json
from collections.abc import Mapping, Sequence

from evolve.publish import keeping
from evolve.publish.claims import Claims, Judging
from evolve.publish.lineage import STEPS, Step
from evolve.publish.markdown import code, escaped, table
from evolve.publish.telling import number, value_told
from evolve.task.verifier import CERTIFICATE, sentence
from evolve.types import Anchor, Task

NAME = "README.md"
_LONGEST = 200
"""Characters of an exact number that are told."""
_SHOWN = 40
"""Steps of a lineage that are told; the rest is in the file."""


def page(claims: Claims, task: Task, steps: Sequence[Step], proof: Mapping[str, str]) -> str:
    """The page; `proof` is what the certificate holds, as JSON by the artifacts' names."""
    parts = [
        f"# {code(claims.task.name)}: {code(claims.name)}",
        f"A program that `evolve` found for the task {code(claims.task.name)}, with everything that its score rests on. "
        "Nothing else is needed to judge it again.",
        "## What it claims",
        table(("", ""), _facts(claims, task)),
        *_anchors(claims, task.anchors),
        *_proof(claims, task, proof),
        "## What the score rests on",
        table(
            ("record", "what", "outcome", escaped(claims.task.fitness), "trust", "isolation", "when"), _judgings(claims)
        ),
        "## How it came about",
        _origin(claims),
        table(("step", "record", "by", "model", escaped(claims.task.fitness), "change", "diff"), _steps(claims, steps)),
        "## How to verify it",
        _VERIFY,
        "## What is here",
        _listed(claims, task),
    ]
    return "\n\n".join(parts) + "\n"


_VERIFY = """With the package `evolve` installed:

    evolve program verify .

This checks every hash in `MANIFEST.json`, takes the task from this folder, judges the program again in a sandbox, and compares. The evaluator in `task/` is code that runs as the judge, with your rights: where it is not one
that your copy of `evolve` knows, read it first, and then add `--trust`. `python verify.py` does the same."""


def has_proof(claims: Claims, task: Task) -> bool:
    """The export has a script that checks its certificate with the standard library alone."""
    return bool(task.verifier) and claims.certificate is not None and CERTIFICATE in claims.certificate.artifacts


def _facts(claims: Claims, loaded: Task) -> list[tuple[str, str]]:
    task, left = claims.task, keeping.told(keeping.kept_of(claims, loaded))
    rows = [
        ("program", code(claims.program)),
        ("task", f"{code(task.name)}, version {code(task.version[:16])}{_parameters(claims)}"),
        (escaped(task.fitness), value_told(claims)),
        ("evidence", evidence(claims)),
        ("promoted", _promoted(claims)),
        ("elsewhere", escaped(left)),
        ("without what its parents left", _from_scratch(claims)),
        ("the seed's", "unknown" if claims.seed_fitness is None else number(claims, claims.seed_fitness)),
        (
            "evaluator",
            f"the plugin {code(task.plugin)} of {escaped(task.release or 'a version that nobody knows')}"
            if task.plugin
            else f"in {code(task.folder)}",
        ),
    ]
    if claims.quarantined:
        rows.append(("**quarantined**", escaped(claims.quarantined)))
    first = claims.first
    if first is not None:
        rows += [
            ("environment", escaped(first.environment)),
            ("machine", escaped(first.hardware)),
            ("isolation", escaped(first.isolation)),
        ]
    return [(label, text) for label, text in rows if text]


def _from_scratch(claims: Claims) -> str:
    found = next((one for one in claims.judgings if one.part == "from scratch" and not one.of_seed), None)
    if found is None:
        return ""
    return found.outcome if found.fitness is None else number(claims, found.fitness)


def _parameters(claims: Claims) -> str:
    told = ", ".join(f"{name} = {value}" for name, value in sorted(claims.task.parameters.items()))
    return f" ({escaped(told)})" if told else ""


def evidence(claims: Claims) -> str:
    """What kind of value it is."""
    value, proof = claims.value, claims.certificate
    if claims.is_claimed:
        return "**claimed** by the program's own script; nobody has computed it"
    if value is None:
        return "none"
    if value.certified and proof is not None:
        return f"**certified**: the task proved the value in exact arithmetic, record {proof.record}"
    if claims.task.deterministic:
        return "deterministic: each judging finds the same value"
    if value.confirmed:
        return "the mean of what was measured after it won its place"
    return "not confirmed: measurements that chose it are among them, so it is too good on average"


def _promoted(claims: Claims) -> str:
    if claims.promotion is None:
        return "no"
    how = "by its certificate" if claims.promotion.by == "certificate" else "by its held-out cases"
    return f"yes, {how}: {escaped(claims.promotion.why)}"


def _anchors(claims: Claims, anchors: Sequence[Anchor]) -> list[str]:
    if claims.value is None or not anchors:
        return []
    rows = [
        (
            number(claims, anchor.value),
            escaped(f"{anchor.by} {anchor.year or ''}".strip()),
            escaped(anchor.source),
            f"{claims.value.fitness - anchor.value:+.4g}",
        )
        for anchor in anchors
    ]
    return [
        "Values from the literature, and what this program has more than each:",
        table((escaped(claims.task.fitness), "by", "source", "difference"), rows),
    ]


def _proof(claims: Claims, task: Task, proof: Mapping[str, str]) -> list[str]:
    """The exact values that a certificate has on its first level; what is longer stands in its file."""
    if claims.certificate is None:
        return []
    rows = [
        (code(f"{name}: {key}"), escaped(str(value)))
        for name, text in sorted(proof.items())
        for key, value in sorted(_fields(json.loads(text)).items())
        if isinstance(value, str | int | float) and len(str(value)) <= _LONGEST
    ]
    how = ""
    if has_proof(claims, task):
        how = (
            f" It proves that {escaped(sentence(task.verifier))}. `python3 -I -S proof.py` checks that with Python's "
            "standard library alone."
        )
    told = f"`certificate/` holds what proves the value, as the task's `certify` gives it; what is claimed is a float that is no better than that.{how}"
    return ["## The certificate", told, *([table(("certificate", "exactly"), rows)] if rows else [])]


def _fields(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _judgings(claims: Claims) -> list[tuple[str, ...]]:
    return [
        (
            str(one.record),
            escaped(_what(one)),
            one.outcome,
            ""
            if one.fitness is None
            else number(claims, one.fitness) + (f" ± {one.standard_error:.2g}" if one.standard_error else ""),
            one.trust,
            escaped(one.isolation.partition(":")[0]),
            one.at,
        )
        for one in claims.judgings
    ]


def _what(one: Judging) -> str:
    told = {
        "search": "the search",
        "again": "judged again",
        "certificate": "certified",
        "from scratch": "without what its parents left",
    }
    return told.get(one.part, f"held out: {one.case}") + (", the seed" if one.of_seed else "")


def _origin(claims: Claims) -> str:
    spent = claims.spent
    calls = (
        f", {spent.calls:,} calls of models, {spent.tokens:,} tokens, {spent.money:.2f} USD"
        if spent.calls
        else ", no call of a model"
    )
    models = "".join(
        f"\n- model {escaped(used.name)}: {escaped(', '.join([used.model or 'not named', *used.revisions]))}"
        for used in claims.models
    )
    versions = ", ".join(f"{name} {version}" for name, version in sorted(claims.versions.items()))
    return (
        f"Found {claims.found or 'at an unknown time'}, after {claims.found_after:,.0f} s of the campaign with random seed {claims.campaign_seed}. In all the campaign judged {spent.programs:,} programs in {spent.seconds:,.0f} s{calls} "
        f"({escaped(versions)}).{models}"
    )


def _steps(claims: Claims, steps: Sequence[Step]) -> list[tuple[str, ...]]:
    """The last ones of a long line."""
    first = max(0, len(steps) - _SHOWN)
    rows: list[tuple[str, ...]] = [("...", f"{first} more in {code(STEPS)}", "", "", "", "", "")] if first else []
    return rows + [_step(claims, number, step) for number, step in enumerate(steps[first:], first)]


def _step(claims: Claims, place: int, step: Step) -> tuple[str, ...]:
    return (
        str(place),
        str(step.record),
        code(step.operator or step.kind),
        escaped(step.model),
        step.outcome if step.fitness is None else number(claims, step.fitness),
        "" if step.change is None else f"{step.change:+.4g}",
        code(step.diff) if step.diff else "",
    )


def _listed(claims: Claims, task: Task) -> str:
    rows = [
        ("`record.json`", "everything that is claimed, for programs"),
        ("`program/`", "the program: " + ", ".join(code(path) for path in sorted(claims.files))),
        (code(f"{claims.task.folder}/"), "the task as it was: brief, seed, evaluator and all"),
        ("`artifacts/`", "what the program found, as the judge kept it"),
        ("`certificate/`", "what proves the value"),
        ("`lineage/`", "the steps from the seed, and what each of them changed"),
        ("`proof.py`", "checks the certificate, with Python's standard library alone"),
        ("`verify.py`", "verifies this folder"),
        ("`MANIFEST.json`", "the SHA-256 of every file"),
    ]
    present = {
        "`certificate/`": claims.certificate is not None,
        "`proof.py`": has_proof(claims, task),
        "`artifacts/`": bool(claims.first and claims.first.artifacts),
    }
    return table(("file", "holds"), [row for row in rows if present.get(row[0], True)])
