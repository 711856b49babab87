"""Budgets: what they count, what ends first, how they compose, and what is refused."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve import stop
from evolve.stop import (
    RESOURCES,
    UNITS,
    Amount,
    Budget,
    Resource,
    ResourceKind,
    Unit,
    Until,
    any_of,
    budget_from,
    duration,
    exact,
    parse,
    spelled,
    tightest,
)
from evolve.types import ConfigError, Fitness, Progress

NOON = datetime(2026, 3, 10, 12, 0).timestamp()


def spent(text: str, progress: Progress, best: float | None = None, now: float = NOON) -> bool:
    return parse(text, NOON).spent(progress, best, now)


@pytest.mark.parametrize(
    ("text", "limit", "resource"),
    [
        ("60s", 60, "seconds"),
        ("90m", 5400, "seconds"),
        ("1.5h", 5400, "seconds"),
        ("1d", 86400, "seconds"),
        ("500programs", 500, "programs"),
        (" 1 Program ", 1, "programs"),
        ("200_000 tokens", 200000, "tokens"),
        ("1e3tokens", 1000, "tokens"),
        ("100calls", 100, "calls"),
        ("1 call", 1, "calls"),
        (".5usd", 0.5, "money"),
        ("80gpuh", 288000, "gpu_seconds"),
    ],
)
def test_an_amount_is_a_number_of_units_of_one_resource(text: str, limit: float, resource: str) -> None:
    budget = parse(text, NOON)
    assert isinstance(budget, Amount)
    assert (budget.limit, budget.unit.resource) == (limit, resource)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("60s", Progress(seconds=59.9), Progress(seconds=60.0)),
        ("3programs", Progress(programs=2), Progress(programs=3)),
        ("100tokens", Progress(tokens=99), Progress(tokens=120)),
        ("7calls", Progress(calls=6), Progress(calls=7)),
        ("5usd", Progress(money=4.99), Progress(money=5.0)),
        ("1gpuh", Progress(gpu_seconds=3599), Progress(gpu_seconds=3600)),
    ],
)
def test_an_amount_is_spent_when_its_resource_is(text: str, before: Progress, after: Progress) -> None:
    assert not spent(text, before)
    assert spent(text, after)


def test_the_used_share_goes_from_nothing_to_beyond_all() -> None:
    budget = parse("200programs", NOON)
    shares = [budget.used(Progress(programs=count), None, NOON) for count in (0, 50, 200, 300)]
    assert shares == [0.0, 0.25, 1.0, 1.5]


def test_a_time_of_the_day_is_its_next_occurrence() -> None:
    later, tomorrow, same = (parse(f"until={clock}", NOON) for clock in ("13:30", "7:30", "12:00"))
    assert isinstance(later, Until)
    assert isinstance(tomorrow, Until)
    assert isinstance(same, Until)
    assert later.at == datetime(2026, 3, 10, 13, 30).timestamp()
    assert tomorrow.at == datetime(2026, 3, 11, 7, 30).timestamp()
    assert same.at == datetime(2026, 3, 11, 12, 0).timestamp()


def test_a_moment_is_read_as_local_time_unless_it_says_otherwise() -> None:
    local, utc = parse("until=2026-03-12T07:30", NOON), parse(" until=2026-03-12 07:30:05z ", NOON)
    assert local == Until(datetime(2026, 3, 12, 7, 30).timestamp(), NOON)
    assert utc == Until(datetime(2026, 3, 12, 7, 30, 5, tzinfo=UTC).timestamp(), NOON)
    assert str(local) == "until=2026-03-12T07:30"


@pytest.mark.parametrize("text", ["until=07:30", "until=12:00", "until=2026-03-12T07:30", "until=2026-03-10T12:00:01"])
def test_an_exact_moment_means_the_same_at_any_later_time(text: str) -> None:
    stored = exact(text, NOON)
    assert stored.count("-") >= 2
    assert parse(stored, NOON) == parse(text, NOON)
    assert parse(stored, NOON + 0.5).leaves()[0].seconds_left(Progress(), NOON) == parse(text, NOON).seconds_left(
        Progress(), NOON
    )
    assert exact(stored, NOON) == stored


@pytest.mark.parametrize("text", ["60s", "500programs", "fitness=2.6"])
def test_what_is_no_moment_is_exact_as_it_is(text: str) -> None:
    assert exact(text, NOON) == text


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["5s", "7s"], "seconds"),
        (["5s", "100programs", "1h"], "seconds"),
        (["until=07:30", "until=08:30"], "the time of the clock"),
        (["fitness=2", "fitness=3"], "fitness"),
        (["1gpuh", "2gpuh"], "GPU hours"),
    ],
)
def test_two_budgets_that_count_the_same_are_refused(texts: list[str], kind: str) -> None:
    with pytest.raises(ConfigError, match=f"two budgets count {kind}, got '{texts[0]}' and '{texts[-1]}'.* Try: "):
        budget_from(texts, NOON)


def test_budgets_that_count_different_things_stand_together() -> None:
    texts = ["60s", "until=13:00", "5programs", "fitness=2"]
    assert budget_from(texts, NOON) == any_of([parse(text, NOON) for text in texts])


def test_a_time_of_the_day_is_used_up_as_the_clock_moves() -> None:
    budget = parse("until=14:00", NOON)
    assert budget.used(Progress(), None, NOON - 5) == 0.0
    assert budget.used(Progress(), None, NOON + 3600) == 0.5
    assert not budget.spent(Progress(), None, NOON + 7199)
    assert budget.spent(Progress(), None, NOON + 7200)


@pytest.mark.parametrize(
    ("direction", "best", "reached"),
    [("max", None, False), ("max", 2.59, False), ("max", 2.6, True), ("min", -2.61, False), ("min", -2.6, True)],
)
def test_a_target_is_reached_by_a_confirmed_fitness_in_the_tasks_direction(
    direction: str, best: float | None, reached: bool
) -> None:
    budget = parse("fitness=2.6", NOON, Fitness(direction="min" if direction == "min" else "max"))
    assert budget.spent(Progress(programs=10**9), best, NOON) is reached
    assert budget.used(Progress(), best, NOON) == float(reached)


def test_exactly_as_many_programs_are_judged_as_were_paid_for() -> None:
    budget, progress, pending, asked = parse("10programs", NOON), Progress(), 0, 0
    for turn in range(40):
        while pending < 4 and not budget.spent(Progress(programs=progress.programs + pending), None, NOON):
            pending, asked = pending + 1, asked + 1
        if pending:
            screened = turn % 3 == 0
            pending, progress = pending - 1, Progress(programs=progress.programs + (not screened))
    assert (progress.programs, pending) == (10, 0)
    assert asked > 10
    assert budget.spent(progress, None, NOON)


def test_the_first_of_several_budgets_ends_it() -> None:
    budget = any_of([parse("60s", NOON), parse("10programs", NOON)])
    assert budget == parse("60s", NOON) | parse("10programs", NOON)
    assert not budget.spent(Progress(seconds=59, programs=9), None, NOON)
    assert budget.spent(Progress(seconds=60), None, NOON)
    assert budget.spent(Progress(programs=10), None, NOON)
    assert budget.used(Progress(seconds=6, programs=5), None, NOON) == 0.5


def test_one_budget_alone_stays_itself_and_none_never_ends() -> None:
    assert any_of([parse("60s", NOON)]) == parse("60s", NOON)
    endless = any_of([])
    assert not endless.spent(Progress(programs=10**9, seconds=1e9), 9.0, NOON)
    assert (str(endless), endless.remaining(Progress(), None, NOON)) == ("no limit", "no limit")


@pytest.mark.parametrize(
    ("text", "progress", "best", "left"),
    [
        ("60s", Progress(seconds=18.2), None, "41 s"),
        ("60s", Progress(seconds=70), None, "0 s"),
        ("500programs", Progress(programs=112), None, "388 programs"),
        ("500programs", Progress(programs=499), None, "1 program"),
        ("200000tokens", Progress(), None, "200,000 tokens"),
        ("5usd", Progress(money=3.75), None, "1.25 usd"),
        ("5usd", Progress(money=4.98766), None, "0.012 usd"),
        ("5usd", Progress(money=5.2), None, "0.00 usd (0.20 usd over it)"),
        ("100calls", Progress(calls=99), None, "1 call"),
        ("80gpuh", Progress(gpu_seconds=36000), None, "70.0 GPU hours"),
        ("until=14:00", Progress(), None, "2 h until 14:00"),
        ("fitness=2.6", Progress(), None, "fitness 2.6 to reach, none yet"),
        ("fitness=2.6", Progress(), 2.5414, "fitness 2.6 to reach, 2.5414 now"),
    ],
)
def test_what_is_left_is_told_in_words(text: str, progress: Progress, best: float | None, left: str) -> None:
    assert parse(text, NOON).remaining(progress, best, NOON) == left


def test_composed_budgets_read_as_composed() -> None:
    budget = parse("60s", NOON) | (parse("5usd", NOON) | parse("until=07:30", NOON))
    assert str(budget) == "60s | 5usd | until=07:30"
    assert budget.remaining(Progress(), None, NOON) == "1 min or 5.00 usd or 19 h 30 min until 07:30"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.9, "0 s"), (59, "59 s"), (185, "3 min 5 s"), (3600, "1 h"), (7805, "2 h 10 min"), (97500, "1 d 3 h")],
)
def test_a_length_of_time_shows_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        (parse("60s", NOON), 50.0),
        (parse("5s", NOON), 0.0),
        (parse("until=12:01", NOON), 60.0),
        (parse("5usd", NOON), None),
        (parse("fitness=2", NOON), None),
        (parse("60s", NOON) | parse("5usd", NOON), 50.0),
        (parse("60s", NOON) | parse("until=12:01", NOON), 50.0),
        (parse("5usd", NOON) | parse("fitness=2", NOON), None),
        (any_of([]), None),
    ],
    ids=str,
)
def test_time_alone_ends_a_budget_after_so_many_seconds(budget: Budget, left: float | None) -> None:
    assert budget.seconds_left(Progress(seconds=10), NOON) == left


@pytest.mark.parametrize(
    ("texts", "progress", "resource"),
    [
        (["60s"], Progress(), "seconds"),
        (["until=07:30"], Progress(), "seconds"),
        (["fitness=2.6"], Progress(), "programs"),
        ([], Progress(), "programs"),
        (["60s", "500programs"], Progress(seconds=59), "programs"),
        (["500programs", "5usd"], Progress(), "money"),
        (["500programs", "5usd"], Progress(programs=100, money=0.5), "programs"),
        (["100tokens", "2gpuh"], Progress(tokens=10, gpu_seconds=3600), "gpu_seconds"),
        (["500programs", "100calls"], Progress(), "calls"),
        (["100tokens", "100calls"], Progress(tokens=10, calls=11), "calls"),
    ],
)
def test_the_tightest_resource_has_the_largest_spent_share(texts: list[str], progress: Progress, resource: str) -> None:
    assert tightest(any_of(parse(text, NOON) for text in texts), progress) == resource


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a number and a unit"),
        ("fast", "not a number and a unit"),
        ("1.2.3s", "not a number and a unit"),
        ("60", "no unit"),
        ("60 furlongs", "no unit 'furlongs'. Known: calls, cases, d, evaluations, gpuh,"),
        ("500progams", "Did you mean 'programs'?"),
        ("-5s", "not above zero"),
        ("0usd", "not above zero"),
        ("nans", "not a finite number"),
        ("inf usd", "not a finite number"),
        ("1e400s", "not a finite number"),
        ("1e308d", "beyond every number"),
        ("1__0s", "not a number"),
        ("2.5programs", "write 3programs"),
        ("0.5calls", "calls are counted in whole numbers. Try: write 1calls"),
        ("until=25:00", "not a time of the day"),
        ("until=soon", "not a time of the day"),
        ("until=2026-03-11", "nor a date with a time"),
        ("until=2026-13-11T07:30", "nor a date with a time"),
        ("until=2026-03-10T11:59", "that is past"),
        ("fitness=good", "'good' is not a number"),
        ("fitness=nan", "not a finite number"),
        ("fitnes=2", "Did you mean 'fitness'?"),
        ("colour=2", "there is no 'colour'"),
    ],
)
def test_a_budget_that_cannot_be_used_says_what_was_got_and_what_to_do(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, NOON)
    message = str(caught.value)
    assert words in message
    assert f"got {text!r}" in message
    assert "Try: " in message


def read(text: str) -> Budget | str:
    try:
        return parse(text, NOON)
    except ConfigError as error:
        return str(error)


@given(st.text(max_size=12) | st.text(alphabet="0123456789.e-_ smhdusdgpuh=:until", max_size=8))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_budget_or_a_clear_error(text: str) -> None:
    found = read(text)
    if isinstance(found, str):
        assert f"got {text!r}" in found
        assert "Try: " in found
    else:
        assert read(str(found)) == found


@given(
    st.floats(min_value=1e-6, max_value=1e9) | st.integers(1, 10**9),
    st.sampled_from(["s", "m", "h", "d", "programs", "tokens", "calls", "usd", "gpuh"]),
)
@settings(max_examples=100, deadline=None)
def test_a_budget_is_written_as_it_is_read(number: float, unit: str) -> None:
    amount = math.ceil(number) if unit in ("programs", "tokens", "calls") else number
    budget = parse(f"{amount}{unit}", NOON)
    assert parse(str(budget), NOON) == budget


leaf = st.sampled_from(["60s", "10programs", "100tokens", "10calls", "5usd", "1gpuh", "fitness=2"]).map(
    lambda text: parse(text, NOON)
)
composed = st.recursive(leaf, lambda inner: st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]))
spendings = st.builds(
    Progress,
    programs=st.integers(0, 20),
    seconds=st.floats(0, 120),
    tokens=st.integers(0, 200),
    calls=st.integers(0, 20),
    money=st.floats(0, 10),
    gpu_seconds=st.floats(0, 7200),
)


@given(composed, composed, spendings, st.none() | st.floats(0, 4))
@settings(max_examples=100, deadline=None)
def test_the_first_budget_that_is_spent_ends_a_composition(
    one: Budget, other: Budget, progress: Progress, best: float | None
) -> None:
    both = one.spent(progress, best, NOON), other.spent(progress, best, NOON)
    assert (one | other).spent(progress, best, NOON) == any(both)
    assert tightest(one | other, progress) in RESOURCES


@pytest.mark.parametrize(
    ("budget", "within", "beyond"),
    [
        (parse("100tokens", NOON), Progress(tokens=100), Progress(tokens=101)),
        (parse("10calls", NOON), Progress(calls=10), Progress(calls=11)),
        (parse("5usd", NOON), Progress(money=5.0), Progress(money=5.0001)),
        (parse("1gpuh", NOON), Progress(gpu_seconds=3600), Progress(gpu_seconds=3601)),
        (
            parse("5usd", NOON) | parse("100tokens", NOON),
            Progress(money=5, tokens=100),
            Progress(money=1, tokens=101),
        ),
    ],
    ids=str,
)
def test_a_budget_affords_what_does_not_overshoot_it(budget: Budget, within: Progress, beyond: Progress) -> None:
    assert budget.affords(within)
    assert not budget.affords(beyond)


def test_what_is_no_amount_affords_everything() -> None:
    budget = parse("until=13:00", NOON) | parse("fitness=2", NOON)
    assert budget.affords(Progress(tokens=10**9, money=1e9, calls=10**6))
    assert any_of([]).affords(Progress(money=1e9))


def more(progress: Progress, other: Progress) -> Progress:
    """Both together."""
    return Progress(
        programs=progress.programs + other.programs,
        seconds=progress.seconds + other.seconds,
        tokens=progress.tokens + other.tokens,
        calls=progress.calls + other.calls,
        money=progress.money + other.money,
        gpu_seconds=progress.gpu_seconds + other.gpu_seconds,
    )


@given(composed, composed, spendings, spendings)
@settings(max_examples=100, deadline=None)
def test_who_spends_more_affords_no_more(one: Budget, other: Budget, progress: Progress, step: Progress) -> None:
    assert (one | other).affords(progress) == (one.affords(progress) and other.affords(progress))
    assert one.affords(progress) or not one.affords(more(progress, step))
    assert one.spent(progress, None, NOON) or one.affords(progress)


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("tokens", 12_300, "12,300 tokens"),
        ("calls", 1, "1 call"),
        ("programs", 0, "0 programs"),
        ("money", 0.02134, "0.021 usd"),
        ("money", 0.000012, "0.000012 usd"),
        ("money", 1234.5, "1,234.50 usd"),
        ("money", 0, "0.00 usd"),
        ("gpu_seconds", 5400, "1.5 GPU hours"),
        ("gpu_seconds", 12.34, "12.3 GPU seconds"),
        ("seconds", 185, "3 min 5 s"),
    ],
)
def test_an_amount_is_spelled_with_its_unit(resource: Resource, amount: float, text: str) -> None:
    assert spelled(resource, amount) == text


def test_a_resource_is_a_row_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is parsed, counted and shown without another line."""
    failures = ResourceKind(
        "failures", lambda progress: progress.records - progress.programs, lambda count: f"{count:g} failures"
    )
    monkeypatch.setattr(stop, "RESOURCES", {**RESOURCES, "failures": failures})
    monkeypatch.setattr(stop, "UNITS", {**UNITS, "failures": Unit("failures", "failures", whole=True)})  # type: ignore[arg-type]
    budget = budget_from(["1h", "20failures"], NOON)
    progress = Progress(records=30, programs=15)
    assert (budget.used(progress, None, NOON), budget.spent(progress, None, NOON)) == (0.75, False)
    assert budget.remaining(progress, None, NOON) == "1 h or 5 failures"
    assert tightest(budget, progress) == "failures"
