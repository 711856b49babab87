"""What `evolve program judge` says."""

from dataclasses import replace

from evolve.cli.program_evaluate import EvaluationLine, EvaluationResults, EvaluationSummary, format_results, summarize
from tests.written import number_task

TASK = number_task()


def row(of: str, trial: int, fitness: float | None, case: str = "", *, kept: bool = False) -> EvaluationLine:
    outcome = "ok" if fitness is not None else "crashed"
    return EvaluationLine(
        of, trial, case, outcome, fitness, 0.5, kept, "" if fitness is not None else "it broke", "reduced: x"
    )


def rows(*pairs: tuple[float | None, float | None]) -> list[EvaluationLine]:
    return [
        row(of, trial, value)
        for trial, pair in enumerate(pairs)
        for of, value in zip(("program", "seed"), pair, strict=True)
    ]


def told(found: list[EvaluationLine], cases: tuple[EvaluationLine, ...] = (), **certificates: float) -> str:
    results = EvaluationResults(found, list(cases), certificates)
    return format_results(TASK, results, summarize(TASK, "0123456789abcdefg", results))


def summary(found: list[EvaluationLine], *cases: EvaluationLine) -> EvaluationSummary:
    return summarize(TASK, "x", EvaluationResults(found, list(cases)))


def test_the_gain_is_that_of_pairs() -> None:
    """Its error is smaller than those of the means, where the trials differ more than the programs do."""
    found = summary(rows((2.0, 1.0), (12.0, 10.0), (22.0, 19.0)))
    assert (found.count, found.failures, found.mean, found.seed_mean, found.gain) == (3, 0, 12.0, 10.0, 2.0)
    assert found.gain_error is not None
    assert found.error is not None
    assert found.gain_error < 1.0 < found.error


def test_a_trial_that_failed_is_in_no_mean() -> None:
    """It is counted, and told with the first reason."""
    found = rows((2.0, 1.0), (None, 10.0))
    assert summary(found).gain == 1.0
    text = told(found)
    assert "why it failed (trial 1)\n  │ it broke" in text
    assert "judged with 2 trials, 1 failed" in text
    assert summary(rows((2.0, 1.0)), row("program", 0, None, "far")).failures == 1


def test_the_page_has_a_row_for_each_trial_and_each_case() -> None:
    """With what was kept from before."""
    text = told(
        [row("program", 0, 7.5, kept=True), row("seed", 0, 5.0)],
        (row("program", 0, 2.0, "far"), row("seed", 0, 3.0, "far")),
        program=7.4,
        seed=4.9,
    )
    assert text.splitlines() == [
        "trial  outcome  nearness  took  the seed     took    difference",
        "0      ok       7.5       kept  ok        5  500 ms  +2.5",
        "",
        "held-out case  outcome  nearness  took    the seed     took    difference",
        "far            ok       2         500 ms  ok        3  500 ms  -1",
        "",
        "program     0123456789abcdef, judged with 1 trial, 1 of them before (--fresh judges again)",
        "nearness    7.5",
        "the seed's  5",
        "gain        +2.5: better than the seed",
        "certified   7.4, the seed's 4.9",
        "trust       witnessed",
        "isolation   reduced: x",
    ]


def test_a_gain_within_the_noise_is_none() -> None:
    """And a loss is a loss."""
    assert "gain        +0.5 +- 1.5, which is within the noise" in told(rows((3.0, 1.0), (1.0, 2.0)))
    assert "gain        -2: WORSE than the seed" in told(rows((3.0, 5.0)))
    assert "gain        +0: as good as the seed" in told(rows((3.0, 3.0)))
    assert "gain        unknown: there is nothing to compare" in told(rows((None, 3.0)))
    assert told([]).startswith("nothing was judged: the time was too short")


def test_the_seed_itself_is_told_alone() -> None:
    """There is nobody beside it."""
    results = EvaluationResults([row("program", 0, 5.0)], certificates={"program": 4.9})
    text = format_results(TASK, results, summarize(TASK, TASK.seed.id, results))
    assert text.splitlines()[:2] == ["trial  outcome  nearness  took", "0      ok       5         500 ms"]
    assert "the seed's" not in text
    assert "certified  4.9\n" in text


def test_a_program_that_misses_the_constraints_is_not_told_as_a_success() -> None:
    """However large its gain is."""
    cheat = replace(row("program", 0, 9.0), violation=0.5)
    text = told([cheat, row("seed", 0, 5.0)])
    assert "0      ok, misses constraints  9" in text
    assert "constraints  missed, violation 0.5 at worst: such a program is never the best of a campaign" in text
    assert summary(rows((2.0, 1.0)), replace(cheat, case="far")).violation == 0.5


def test_a_failure_of_integrity_is_told() -> None:
    """Each kind once, and what a campaign would do."""
    found = [replace(row("program", trial, 7.5), tag="late write") for trial in range(2)]
    assert "integrity: late write; in a campaign such a program is quarantined" in told(found)
