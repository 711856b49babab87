"""What was made of a parent is counted in runs, and comes to what a look at each child gives."""

from random import Random

import pytest
from random_campaigns import Campaign

from evolve.bounded_cache import BoundedCache
from evolve.prompts import offspring as module
from evolve.prompts.known import Known
from evolve.prompts.offspring import BEST, CHILDREN, REFLECTS, RUN, SEARCHED, UNJUDGED, better, looked_at, offspring
from evolve.types import NOBODYS_FAULT, RecordId


def plainly(known: Known, parent: RecordId) -> tuple[int, tuple[RecordId, ...]]:
    """How many there are, and which are told: each child is looked at."""
    history = known.history
    made = history.children(parent)[-SEARCHED:]
    found = [record for record in made if history.operator(record) != REFLECTS and not known.is_out(record)]
    scores = {record: known.score(record) for record in found}
    ranked = [(-history.violation(record), score, record) for record, score in scores.items() if score is not None]
    unjudged = [record for record in found if history.outcome(record) in NOBODYS_FAULT]
    latest = [record for record in reversed(found) if record not in unjudged[:-UNJUDGED]]
    best = [record for _, _, record in sorted(ranked, reverse=True)[:BEST]]
    return len(found), tuple(dict.fromkeys([*best, *latest]))[:CHILDREN]


@pytest.mark.parametrize("since", [0, 300])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_a_look_at_each_of_the_latest_gives(seed: int, since: int) -> None:
    """At any time, in any order, whatever was kept, with and without rulings."""
    campaign, derived, random = Campaign(seed, 2400, since=since), BoundedCache(64), Random(seed)
    longest = 0
    for _ in range(120):
        context = campaign.context(random.randrange(max(2, since), 2401), None, ruling=random.randrange(2))
        known = Known(context.history, frozenset(context.quarantined))
        for parent in (1, 2, random.randrange(1, len(context.history) + 1)):
            found = offspring(known, parent, derived)
            assert (found.count, found.told) == plainly(known, parent)
            made = context.history.children(parent)[-SEARCHED:]
            assert found == looked_at(known, made, known.score(parent))
            longest = max(longest, len(context.history.children(parent)))
    assert longest > SEARCHED


def test_a_run_that_is_whole_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many children there are: what each step looks at are those beside whole runs."""
    campaign, looks, derived = Campaign(1, 2400), list[int](), BoundedCache()
    known = Known(campaign.context(2400, None).history, frozenset())
    offspring(known, 1, derived)
    assert len(known.history.children(1)) > SEARCHED
    real = module.looked_at
    monkeypatch.setattr(
        module, "looked_at", lambda known, records, old: looks.append(len(records)) or real(known, records, old)
    )
    offspring(known, 1, derived)
    assert len(looks) == 2
    assert sum(looks) < 2 * RUN


def test_a_child_is_better_where_it_scores_more_and_misses_nothing() -> None:
    campaign = Campaign(2, 200)
    known = Known(campaign.context(200, None).history, frozenset())
    for record in range(1, 201):
        score = known.score(record)
        expected = score is not None and score > -4.5 and not known.history.violation(record)
        assert expected == better(known, record, -4.5)
        assert not better(known, record, None)
