"""The message of a patch."""

from pathlib import Path

from evolve.publish.message import mail
from evolve.publish.result import result
from evolve.types import Case, Fitness, Origin
from tests.publish.paper_campaigns import proven_campaign
from tests.written import Written, number_program, number_task


def message(written: Written, record: int) -> list[str]:
    """Up to where the patch begins."""
    with written.campaign as campaign:
        text = mail(
            campaign,
            result(campaign, record),
            "A <a@example.org>",
            ("seed.py",),
            " seed.py | 2 +-\n",
            b"diff --git a/x b/x\n",
        )
    head, _, rest = text.decode("utf-8").partition("\n---\n")
    assert rest == " seed.py | 2 +-\n\ndiff --git a/x b/x\n-- \nevolve\n\n"
    return head.splitlines()


def test_the_message_is_a_mail_with_a_table(tmp_path: Path) -> None:
    """Of what was measured before and after."""
    told = message(proven_campaign(tmp_path), 2)
    assert told[1] == "From: A <a@example.org>"
    assert told[3] == "Subject: [PATCH] seed.py: nearness 5 to 7"
    assert told[told.index("") + 3 :][:3] == [
        "                               before         after",
        "  nearness (larger is better)  5              7",
        "  by                           1 measurement  proven lower bound",
    ]
    assert "  isolation    reduced" in told


def test_a_proof_promotes_where_the_answer_is_one_object(tmp_path: Path) -> None:
    """And where it is better than the seed's."""
    assert "  promoted     yes, by its certificate" in message(proven_campaign(tmp_path / "better"), 2)
    assert "  promoted     no" in message(proven_campaign(tmp_path / "seed"), 1)


def test_held_out_cases_are_in_the_table(tmp_path: Path) -> None:
    """With what the seed found there."""
    written = Written(tmp_path, number_task(held_out=(Case("n=32"),)))
    written.seed(5.0)
    written.proposal(6.0)
    for about, fitness in ((1, 4.0), (2, 3.0)):
        program = written.campaign.log.program(written.campaign.log.settled(about).record.program)
        written._settle(Origin("measurement", 9, about=about, case="n=32"), program, written._ok(fitness))
    assert [line.split() for line in message(written, 2) if "held-out" in line] == [
        ["held-out", "case", "n=32", "4", "3", "(worse,", "or", "not", "known)"]
    ]


def test_a_logarithm_is_told_as_a_ratio(tmp_path: Path) -> None:
    """With its interval."""
    written = Written(tmp_path, number_task(deterministic=False, fitness=Fitness("ln(speed-up)", log_ratio=True)))
    written.seed(0.0, standard_error=0.01)
    written._settle(
        Origin("proposal", 2, operator="diff", parents=(1,)),
        number_program(0.5),
        written._ok(0.6931471805599453, standard_error=0.01),
    )
    rows = [line for line in message(written, 2) if line.startswith("  ratio to what was there")]
    assert len(rows) == 1
    assert " 2 (1." in rows[0]


def test_what_is_claimed_is_called_that(tmp_path: Path) -> None:
    """In the message, too."""
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0, trust="claimed")
    assert "  trust        claimed, which is the program's own word and was not checked" in message(written, 2)
