"""What a paper must say of how a value came about."""

from pathlib import Path

from evolve.publish.paper.calls import Calls, calls, pages
from evolve.publish.paper.statement import day, statement
from evolve.publish.result import result
from evolve.types import Call, Origin
from tests.publish.paper_campaigns import KEY, hostile_campaign, proven_campaign
from tests.written import Written, number_program, number_task


def lines(written: Written, record: int) -> list[str]:
    """The page of a record."""
    with written.campaign as campaign:
        return statement(campaign, result(campaign, record), calls(campaign, record)).splitlines()


def test_a_proven_value_is_told_with_its_record(tmp_path: Path) -> None:
    """And that no model was called."""
    told = lines(proven_campaign(tmp_path), 2)
    assert told[0] == "# How number/2 came about"
    assert {
        "- nearness (larger is better): 7",
        "- kind: proven lower bound",
        "- certified by: number/3",
        "- trust: witnessed",
        "- isolation of the program while it was judged: reduced",
        "- seed of the campaign's random numbers: 0",
        "- budget: 30programs",
        "| number/2 | tune\\_literals | 7 | +2 | reduced |",
        "No model was called: every program was made by operators that compute.",
    } <= set(told)


def test_models_are_told_with_revisions_dates_tokens_and_cost(tmp_path: Path) -> None:
    """One line for each revision that answered."""
    written = Written(tmp_path, number_task())
    written.seed(5.0)
    written.called(
        Call("small", revision="small-1", prompt_tokens=100, completion_tokens=20, cost=0.5, exact=True),
        Call("small", revision="small-2", prompt_tokens=10, completion_tokens=2, cost=0.25),
    )
    written._settle(
        Origin("proposal", 2, operator="diff", model="small", parents=(1,)), number_program(6.0), written._ok(6.0)
    )
    told = lines(written, 2)
    table = [line.split(" | ")[:4] for line in told if line.startswith("| small")]
    assert table == [["| small", "-", "small-1", "1"], ["| small", "-", "small-2", "1"]]
    assert "- all calls: 2, of which 0 failed; 110 + 22 tokens (some estimated); 0.7500 US dollars" in told
    assert (
        "- calls on the way to the best program: 2, of which 0 failed; 110 + 22 tokens (some estimated); 0.7500 US dollars"
        in told
    )


def test_days_are_those_of_utc() -> None:
    """Wherever the paper is written."""
    assert day(0.0) == "1970-01-01 00:00 UTC"


def test_only_the_calls_of_the_lineage_have_pages(tmp_path: Path) -> None:
    """Those of another line are counted among the models alone."""
    written = Written(tmp_path, number_task())
    written.seed(5.0)
    written.called(Call("small", revision="a"))
    written._settle(
        Origin("proposal", 2, operator="diff", model="small", parents=(1,)), number_program(6.0), written._ok(6.0)
    )
    written.called(Call("small", revision="b"))
    written._settle(
        Origin("proposal", 3, operator="diff", model="small", parents=(1,)), number_program(7.0), written._ok(7.0)
    )
    with written.campaign as campaign:
        found = calls(campaign, 3)
        names = [name for name, _ in pages(campaign, found.lineage)]
    assert ([use.revision for use in found.uses], names) == (["a", "b"], ["0001-step-3-propose.md", "calls.jsonl"])


def test_without_calls_there_are_no_pages(tmp_path: Path) -> None:
    """And no folder of them."""
    with proven_campaign(tmp_path).campaign as campaign:
        found = calls(campaign, 2)
        assert found == Calls((), ())
        assert list(pages(campaign, found.lineage)) == []


def test_no_page_of_a_call_holds_a_key(tmp_path: Path) -> None:
    """Neither in Markdown nor in JSON; all the rest of a text is there to the letter."""
    with hostile_campaign(tmp_path).campaign as campaign:
        texts = dict(pages(campaign, calls(campaign, 2).lineage))
    assert [name for name, text in texts.items() if KEY in text] == []
    assert texts["calls.jsonl"].isascii()
    assert "\\u001b[2J\\u202e" in texts["calls.jsonl"]
    assert "reply [left out: it looks like a key]" in texts["0001-step-2-propose.md"]


def test_the_settings_are_told(tmp_path: Path) -> None:
    """As JSON."""
    assert '  "judges": 2,' in lines(proven_campaign(tmp_path), 2)
