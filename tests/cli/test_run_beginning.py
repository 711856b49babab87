"""What a run says before its first record."""

from dataclasses import replace

from evolve.cli.summary import format_beginning
from evolve.types import Program
from tests.written import Written, number_task, short_campaign


def test_the_beginning_says_what_is_set(tmp_path):
    """A campaign that goes on says after how many records."""
    with short_campaign(tmp_path) as campaign:
        text = format_beginning(campaign, "reduced: a process of its own")
    assert text.startswith(
        "campaign number goes on after 6 records: islands, 2 judge slots, seed 0, budget 30programs\n"
        "no model: tune_literals, mutate_ast propose without one (--model NAME lets a language model propose, too)\n"
        "isolation reduced: a process of its own\n"
    )
    with Written(tmp_path / "other", name="fresh", budget=[], judges=1).campaign as fresh:
        text = format_beginning(fresh, "reduced")
    assert "campaign fresh begins: islands, 1 judge slot, seed 0, no budget: Ctrl-C ends it" in text


def test_the_beginning_names_no_operator_that_is_left_out(tmp_path):
    """`mutate_ast` is for Python alone."""
    task = replace(number_task(), seed=Program({"number.c": "double x = 5.0;\n"}), entry="")
    with Written(tmp_path, task, name="in_c").campaign as campaign:
        assert "\nno model: tune_literals proposes without one (--model" in format_beginning(campaign, "reduced")


def test_the_beginning_says_where_answers_are_awaited(tmp_path, monkeypatch):
    """A mailbox waits for whoever writes into its folder."""
    monkeypatch.chdir(tmp_path)
    here = {"name": "me", "kind": "mailbox", "settings": {"folder": str(tmp_path / "mbp")}}
    there = {"name": "you", "kind": "mailbox", "settings": {"folder": "/mail"}, "concurrency": 2}
    with Written(tmp_path, models={"members": [here, there]}).campaign as campaign:
        assert (
            "\nmodels me (mailbox, 8 at once, answers awaited in mbp/), you (mailbox, 2 at once, answers awaited in /mail/)\n"
        ) in format_beginning(campaign, "reduced")


def test_two_campaign_files_are_refused(call):
    """The first one would silently not count."""
    result = call("run", "-c", "one.toml", "-c", "two.toml")
    assert result.exit_code == 2
    assert "-c names one campaign file, got one.toml, two.toml. Do: write what both say into one" in result.stderr
