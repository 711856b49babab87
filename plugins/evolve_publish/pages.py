"""Files of an export that are made of its record: `README.md` for people, `proof.py` and `verify.py` to run.

Equal claims make equal bytes; every word of a program, a model or a task is escaped."""

import json
from collections.abc import Mapping, Sequence

from evolve import report
from evolve.markdown import escape, format_code, format_table
from evolve.task import CERTIFICATE, PROOF_SCRIPT, proof_script, read_sentence
from evolve.types import Anchor, Task
from evolve_publish.claims import (
    STEPS,
    Claims,
    JudgingClaim,
    LineageClaim,
    format_number,
    format_value,
)
from evolve_publish.files import Contents, decode_text

README = "README.md"
VERIFY_SCRIPT = "verify.py"
_LONGEST = 200
"""Characters of an exact number in the page."""
_SHOWN = 40
"""Steps of a lineage in the page; the rest is in the file."""


def format_readme(claims: Claims, task: Task, steps: Sequence[LineageClaim], proof: Mapping[str, str]) -> str:
    """Returns the page; `proof` has the certificate's artifacts as JSON, by their names."""
    parts = [
        f"# {format_code(claims.task.name)}: {format_code(claims.name)}",
        f"A program that `evolve` found for the task {format_code(claims.task.name)}, with everything that its score rests on. "
        "Nothing else is needed to judge it again.",
        "## What it claims",
        format_table(("", ""), _list_facts(claims, task)),
        *_format_anchors(claims, task.anchors),
        *_format_proof(claims, task, proof),
        "## What the score rests on",
        format_table(
            ("record", "what", "outcome", escape(claims.task.fitness), "trust", "isolation", "when"),
            _list_judgings(claims),
        ),
        "## How it came about",
        _describe_origin(claims),
        format_table(
            ("step", "record", "by", "model", escape(claims.task.fitness), "change", "diff"), _list_steps(claims, steps)
        ),
        "## How to verify it",
        _VERIFY,
        "## What is here",
        _list_files(claims, task),
    ]
    return "\n\n".join(parts) + "\n"


_VERIFY = """With the package `evolve` installed:

    evolve program verify .

This checks every hash in `MANIFEST.json`, takes the task from this folder, judges the program again in a sandbox, and compares. The evaluator in `task/` is code that runs as the judge, with your rights: where it is not one
that your copy of `evolve` knows, read it first, and then add `--trust`. `python verify.py` does the same."""


def has_proof(claims: Claims, task: Task) -> bool:
    """Returns whether the certificate can be checked with the standard library alone."""
    return bool(task.verifier) and claims.certificate is not None and CERTIFICATE in claims.certificate.artifacts


def _list_facts(claims: Claims, loaded: Task) -> list[tuple[str, str]]:
    task, left = claims.task, format_kept_gain(claims, loaded)
    rows = [
        ("program", format_code(claims.program)),
        ("task", f"{format_code(task.name)}, version {format_code(task.version[:16])}{_format_parameters(claims)}"),
        (escape(task.fitness), format_value(claims)),
        ("evidence", _describe_evidence(claims)),
        ("promoted", _describe_promotion(claims)),
        ("elsewhere", escape(left)),
        ("without what its parents left", _format_from_scratch(claims)),
        ("the seed's", "unknown" if claims.seed_fitness is None else format_number(claims, claims.seed_fitness)),
        (
            "evaluator",
            f"the plugin {format_code(task.plugin)} of {escape(task.release or 'a version that nobody knows')}"
            if task.plugin
            else f"in {format_code(task.folder)}",
        ),
    ]
    if claims.quarantined:
        rows.append(("**quarantined**", escape(claims.quarantined)))
    first = claims.first
    if first is not None:
        rows += [
            ("environment", escape(first.environment)),
            ("machine", escape(first.hardware)),
            ("isolation", escape(first.isolation)),
        ]
    return [(label, text) for label, text in rows if text]


def _format_from_scratch(claims: Claims) -> str:
    found = next((one for one in claims.judgings if one.part == "from scratch" and not one.of_seed), None)
    if found is None:
        return ""
    return found.outcome if found.fitness is None else format_number(claims, found.fitness)


def _format_parameters(claims: Claims) -> str:
    told = ", ".join(f"{name} = {value}" for name, value in sorted(claims.task.parameters.items()))
    return f" ({escape(told)})" if told else ""


def _describe_evidence(claims: Claims) -> str:
    """Returns the kind of evidence for the value."""
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


def _describe_promotion(claims: Claims) -> str:
    if claims.promotion is None:
        return "no"
    how = "by its certificate" if claims.promotion.by == "certificate" else "by its held-out cases"
    return f"yes, {how}: {escape(claims.promotion.why)}"


def _format_anchors(claims: Claims, anchors: Sequence[Anchor]) -> list[str]:
    if claims.value is None or not anchors:
        return []
    rows = [
        (
            format_number(claims, anchor.value),
            escape(f"{anchor.by} {anchor.year or ''}".strip()),
            escape(anchor.source),
            f"{claims.value.fitness - anchor.value:+.4g}",
        )
        for anchor in anchors
    ]
    return [
        "Values from the literature, and what this program has more than each:",
        format_table((escape(claims.task.fitness), "by", "source", "difference"), rows),
    ]


def _format_proof(claims: Claims, task: Task, proof: Mapping[str, str]) -> list[str]:
    """Returns the exact values on the first level of a certificate; longer ones stand in its file."""
    if claims.certificate is None:
        return []
    rows = [
        (format_code(f"{name}: {key}"), escape(str(value)))
        for name, text in sorted(proof.items())
        for key, value in sorted(_fields(json.loads(text)).items())
        if isinstance(value, str | int | float) and len(str(value)) <= _LONGEST
    ]
    how = ""
    if has_proof(claims, task):
        how = (
            f" It proves that {escape(read_sentence(task.verifier))}. `python3 -I -S proof.py` checks that with Python's "
            "standard library alone."
        )
    told = f"`certificate/` holds what proves the value, as the task's `certify` gives it; what is claimed is a float that is no better than that.{how}"
    return ["## The certificate", told, *([format_table(("certificate", "exactly"), rows)] if rows else [])]


def _fields(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list_judgings(claims: Claims) -> list[tuple[str, ...]]:
    return [
        (
            str(one.record),
            escape(_describe_judging(one)),
            one.outcome,
            ""
            if one.fitness is None
            else format_number(claims, one.fitness) + (f" ± {one.standard_error:.2g}" if one.standard_error else ""),
            one.trust,
            escape(one.isolation.partition(":")[0]),
            one.at,
        )
        for one in claims.judgings
    ]


def _describe_judging(one: JudgingClaim) -> str:
    told = {
        "search": "the search",
        "again": "judged again",
        "certificate": "certified",
        "from scratch": "without what its parents left",
    }
    return told.get(one.part, f"held out: {one.case}") + (", the seed" if one.of_seed else "")


def _describe_origin(claims: Claims) -> str:
    spent = claims.spent
    calls = (
        f", {spent.calls:,} calls of models, {spent.tokens:,} tokens, {spent.money:.2f} USD"
        if spent.calls
        else ", no call of a model"
    )
    models = "".join(
        f"\n- model {escape(used.name)}: {escape(', '.join([used.model or 'not named', *used.revisions]))}"
        for used in claims.models
    )
    versions = ", ".join(f"{name} {version}" for name, version in sorted(claims.versions.items()))
    return (
        f"Found {claims.found or 'at an unknown time'}, after {claims.found_after:,.0f} s of the campaign with random seed {claims.campaign_seed}. In all the campaign judged {spent.programs:,} programs in {spent.seconds:,.0f} s{calls} "
        f"({escape(versions)}).{models}"
    )


def _list_steps(claims: Claims, steps: Sequence[LineageClaim]) -> list[tuple[str, ...]]:
    """Returns a row for each of the last steps."""
    first = max(0, len(steps) - _SHOWN)
    rows: list[tuple[str, ...]] = (
        [("...", f"{first} more in {format_code(STEPS)}", "", "", "", "", "")] if first else []
    )
    return rows + [_list_step(claims, number, step) for number, step in enumerate(steps[first:], first)]


def _list_step(claims: Claims, place: int, step: LineageClaim) -> tuple[str, ...]:
    return (
        str(place),
        str(step.record),
        format_code(step.operator or step.kind),
        escape(step.model),
        step.outcome if step.fitness is None else format_number(claims, step.fitness),
        "" if step.change is None else f"{step.change:+.4g}",
        format_code(step.diff) if step.diff else "",
    )


def _list_files(claims: Claims, task: Task) -> str:
    rows = [
        ("`record.json`", "everything that is claimed, for programs"),
        ("`program/`", "the program: " + ", ".join(format_code(path) for path in sorted(claims.files))),
        (format_code(f"{claims.task.folder}/"), "the task as it was: brief, seed, evaluator and all"),
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
    return format_table(("file", "holds"), [row for row in rows if present.get(row[0], True)])


def format_kept_gain(claims: Claims, task: Task) -> str:
    """Returns `72 % of the gain is left on held-out cases, less than half on 'other items'`, by the rule for a campaign's best program; empty where nothing is known."""
    value, first = claims.value, claims.first
    if value is None or first is None or not task.held_out:
        return ""
    own = {one.case: one for one in claims.judgings if one.case and not one.of_seed}
    seeds = {one.case: one.fitness for one in claims.judgings if one.case and one.of_seed}
    wanted = [case.name for case in task.held_out]
    cases = [
        report.CaseLine(name, str(own[name].record), own[name].outcome, own[name].fitness, seeds.get(name), agrees=True)
        for name in wanted
        if name in own
    ]
    best = report.Best(
        name=claims.name,
        record=first.record,
        program=claims.program,
        fitness=value.fitness,
        standard_error=value.standard_error,
        measurements=value.count,
        certified=value.certified,
        isolation=first.isolation,
        trust=first.trust,
        seed=claims.seed_fitness,
        gain=None if claims.seed_fitness is None else value.fitness - claims.seed_fitness,
        improved=True,
        anchors=(),
        cases=tuple(cases),
    )
    kept = report.kept(best, wanted, task.fitness)
    if kept.share is None:
        return ""
    lost = ", ".join(repr(line.case.case) for line in kept.lost)
    left = "nothing" if kept.verdict == "gone" else f"{max(kept.share, 0.0):.0%}"
    return f"{left} of the gain is left on held-out cases{f', less than half on {lost}' if lost else ''}"


def make_pages(claims: Claims, contents: Contents, task: Task, steps: Sequence[LineageClaim]) -> dict[str, bytes]:
    """Returns the files of an export that are made of its record alone; `contents` has the certificate's artifacts."""
    certificate = claims.certificate
    stored = certificate.artifacts if certificate else {}
    proof = {name: decode_text(contents[path]) for name, path in stored.items()}
    readme = format_readme(claims, task, steps, proof)
    pages = {README: readme.encode("utf-8"), VERIFY_SCRIPT: _VERIFY_SCRIPT_TEXT.encode("utf-8")}
    if certificate is not None and certificate.fitness is not None and has_proof(claims, task):
        script = proof_script(task, certificate.fitness, claims.name, stored[CERTIFICATE])
        pages[PROOF_SCRIPT] = script.encode("ascii", "backslashreplace")
    return pages


# The script trusts nothing beside itself: no file of the folder is imported, whatever its name.
_VERIFY_SCRIPT_TEXT = '''"""Verifies the export that this file lies in: python verify.py [options of `evolve program verify`]"""

import sys

HERE = __file__.rpartition("/")[0] or "."
sys.path[:] = [place for place in sys.path if place not in ("", ".", HERE)]
sys.dont_write_bytecode = True

from pathlib import Path  # noqa: E402

sys.path[:] = [place for place in sys.path if Path(place).resolve() != Path(HERE).resolve()]

try:
    from evolve.cli import main
except ImportError:
    sys.exit(
        "verify.py: the package `evolve` is not installed for this Python, and nothing was verified. "
        "Do: install it, and run this again; MANIFEST.json has the SHA-256 of every file"
    )

if __name__ == "__main__":
    sys.argv = ["evolve", "program", "verify", str(Path(HERE).resolve()), *sys.argv[1:]]
    main()
'''
