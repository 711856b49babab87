"""The page of one record."""

import re

import pytest

from evolve.log import reading
from evolve.types import Call, Evaluation, Origin, Outcome, Part, Program, Ruled
from tests.plugins.evolve_view.hostile import EVIL, text_of, wrong_in
from tests.plugins.evolve_view.reports import held_out_campaign
from tests.written import Written


def read(client, path):
    """What a person reads on a page."""
    answer = client.get(path)
    assert answer.status_code == 200, text_of(answer.text)
    return " ".join(text_of(answer.text).split()).replace(" ,", ",")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Seed 1; 2 of a model with calls; 3 a failure of 2; 4 a screened one of 2; 5 a child of 2; 6 the certificate of 5; 7 a repeated measurement of 2; 8 an import;
    9 is claimed; 10 quarantined, 11 from two files of 2."""
    home = tmp_path_factory.mktemp("told")
    written = Written(home, name="told")
    log = written.campaign.log
    written.seed()
    with log.transaction():
        parts = (
            Part("system", "rules", log.put_text("Be brief.")),
            Part("user", "task", log.put_text("Find the number.")),
        )
        reply = log.put_text("Hypothesis: six is nearer.")
    call = Call(
        "small",
        prompt=parts,
        request="r",
        reply=reply,
        prompt_tokens=120,
        completion_tokens=30,
        exact=True,
        cost=0.0125,
        seconds=2.0,
        finish="stop",
    )
    written.called(call, Call("small", purpose="repair", prompt=parts, request="r", error="it was down", seconds=1.0))
    written.proposal(6.0, operator="diff", model="small", standard_error=0.25)
    written.failure(Outcome.CRASHED, "it divided by zero\nin line 3", parents=(2,))
    written.failure(Outcome.SCREENED, "duplicate of a program that was proposed before", parents=(2,))
    written.proposal(7.0, parents=(2,))
    written.certificate(5, 7.0)
    written.again(2, 6.5)
    campaign = written.campaign
    written._settle(Origin("import", 8), Program({"seed.py": "def value():\n    return 3\n"}), written._ok(3.0))
    written.proposal(4.0, trust="claimed")
    found = written.proposal(8.0, tag="late write")
    with log.transaction():
        campaign.write(Ruled("quarantine", found.record.program, "a person", "it looked at the answer"))
    two = Program({"seed.py": "def value():\n    return 6.0\n", "more.c": "int f(void) { return 1; }\n"})
    written._settle(Origin("proposal", 11, operator="rewrite", parents=(2,)), two, written._ok(5.5))
    campaign.close()
    return home


def test_the_head_says_the_score_with_its_uncertainty_and_how_it_was_judged(browse, told):
    page = read(browse(told), "/c/told/programs/2")
    assert "told/2" in page
    assert "6 ± 0.25 reduced" in page
    assert "witnessed: the evaluator computed the score" in page
    assert "diff with small of 1" in page


@pytest.mark.parametrize(
    ("record", "facts"),
    [
        (1, ["the task's seed", "It has no parent"]),
        (3, ["crashed", "it divided by zero", "against record"]),
        (4, ["There is no program: its proposal was screened", "duplicate of a program"]),
        (5, ["best", "certified", "yes, by 6"]),
        (6, ["measurement of 5, certify", "yes, this record proves the value"]),
        (7, ["measurement of 2, report"]),
        (8, ["added by a person"]),
        (9, ["claimed", "The program itself has computed this score, and nobody else"]),
        (10, ["Quarantined by a person: it looked at the answer", "late write"]),
        (11, ["more.c", "seed.py", "+1"]),
    ],
)
def test_each_kind_of_record_has_a_page_that_says_what_it_is(browse, told, record, facts):
    page = read(browse(told), f"/c/told/programs/{record}")
    assert [fact for fact in facts if fact not in page] == []


def test_the_change_is_against_the_first_parent_or_whom_the_address_names(browse, told):
    client = browse(told)
    assert "Change against 2" in read(client, "/c/told/programs/5")
    page = client.get("/c/told/programs/5?against=1").text
    assert "Change against" in page
    rows = [" ".join(text_of(row).split()) for row in re.findall(r'<tr class="(?:old|new)">.*?</tr>', page)]
    assert ["return 5" in rows[0], "return 7.0" in rows[1]] == [True, True]
    assert "Both are the same program" in read(client, "/c/told/programs/5?against=6")


def test_lines_have_addresses_and_blame_says_whose_they_are(browse, told):
    client = browse(told)
    page = client.get("/c/told/programs/5").text
    assert '<tr id="L1">' in page
    assert 'href="#L2"' in page
    blamed = client.get("/c/told/programs/5?blame=1").text
    owners = re.findall(r'<td class="by"><a href="/c/told/programs/(\d+)"', blamed)
    assert owners == ["1", "5"]


def test_children_are_counted_by_what_became_of_them(browse, told):
    page = read(browse(told), "/c/told/programs/2")
    assert "4 proposals had it as a parent: 2 passed, 1 failed, 1 screened" in page
    assert "best child 5" in page


def test_later_measurements_are_listed(browse, told):
    page = read(browse(told), "/c/told/programs/2")
    assert "Measured again" in page
    assert "6.5 reduced report" in page


def test_the_cases_of_a_score_are_listed_with_the_parents_and_the_best(browse, tmp_path):
    written = Written(tmp_path, name="cases")
    written.seed(5.0, cases={"a": 4.0, f"<b>{EVIL}": 6.0})
    written.proposal(7.0, cases={"a": 3.5, f"<b>{EVIL}": 8.0})
    client = browse(tmp_path)
    assert wrong_in(client.get("/c/cases/programs/2").text) == []
    page = read(client, "/c/cases/programs/2")
    assert "case nearness its parent's difference best of a 3.5 4 -0.5 4 1" in page
    assert page.count("this one") == 1


def test_held_out_cases_are_listed_once(browse, tmp_path):
    with held_out_campaign(tmp_path, 2.0, 1.0) as campaign:
        best, name = campaign.state.archive.best.record, campaign.name
    page = read(browse(tmp_path), f"/c/{name}/programs/{best}")
    assert (page.count("case 0"), page.count("case 1")) == (1, 1)
    assert "Measured again" not in page


def test_every_call_of_the_step_is_there_with_its_tokens_and_cost(browse, told):
    page = read(browse(told), "/c/told/programs/2")
    for said in (
        "propose · small",
        "120 + 30 tokens · $0.0125 · 2 s · stop",
        "system: rules",
        "Be brief.",
        "Find the number.",
        "Hypothesis: six is nearer.",
    ):
        assert said in page
    assert "repair · small" in page
    assert "it was down" in page
    assert "Prompts and replies" not in read(browse(told), "/c/told/programs/5")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/c/told/programs/0", "has no record 0: it has 1 to 11"),
        ("/c/told/programs/12", "has no record 12: it has 1 to 11"),
        ("/c/told/programs/" + "9" * 5000, "a record is a number"),
        ("/c/told/programs/x", "a record is a number"),
        ("/c/told/programs/-1", "a record is a number"),
        ("/c/told/programs/2?against=99", "has no record 99"),
        ("/c/told/programs/2?against=x", "against is a number"),
        ("/c/none/programs/1", "there is no campaign"),
    ],
)
def test_what_there_is_not_is_said_on_a_page(browse, told, path, said):
    answer = browse(told).get(path)
    assert answer.status_code == 404
    assert said in text_of(answer.text)


def test_a_long_feedback_and_a_long_artifact_are_cut_and_can_be_downloaded(browse, tmp_path):
    written = Written(tmp_path, name="long")
    written.seed()
    written.failure(Outcome.WRONG, "x" * 30_000)
    with written.campaign.log.transaction():
        many = {f"a{place:03}": written.campaign.log.put_text(f"[{place}]") for place in range(60)}
        large = written.campaign.log.put_text("y" * 25_000)
    written.proposal(6.0, artifacts={"large": large, **many}, metrics={f"m{place:03}": 1.0 for place in range(230)})
    written.campaign.close()
    client = browse(tmp_path)
    assert "10,000 more characters: download it" in read(client, "/c/long/programs/2")
    page = read(client, "/c/long/programs/3")
    assert "5,000 more characters: download it" in page
    assert "and 11 more artifacts" in page
    assert "and 30 more" in page


@pytest.mark.parametrize("record", range(1, 10))
@pytest.mark.parametrize("query", ["", "?blame=1", "?against=1"])
def test_what_programs_wrote_is_text(browse, hostile, record, query):
    answer = browse(hostile).get(f"/c/hostile/programs/{record}{query}")
    if answer.status_code == 404:
        pytest.fail(text_of(answer.text))
    assert wrong_in(answer.text) == []
    assert "\u202e" not in answer.text


def test_half_a_surrogate_pair_in_code_is_shown_by_its_number(browse, tmp_path):
    written = Written(tmp_path, name="half")
    written.seed()
    program = Program({"seed.py": "def value():\n    return 6  # \ud800\n"})
    written._settle(Origin("proposal", 2, operator="diff", parents=(1,)), program, written._ok(6.0))
    written.campaign.close()
    assert "[U+D800]" in read(browse(tmp_path), "/c/half/programs/2")


def test_record_of_a_measurement_that_failed_has_a_page(browse, tmp_path):
    written = Written(tmp_path, name="again")
    written.seed()
    origin = Origin("measurement", 2, about=1, why="report")
    program = written.campaign.log.program(written.task.seed.id)
    written._settle(origin, program, Evaluation.failed(Outcome.INTERNAL, "", isolation="reduced"))
    written.campaign.close()
    assert "internal" in read(browse(tmp_path), "/c/again/programs/2")


PAGES = (
    "/c/{name}/programs",
    "/c/{name}/programs?text=value&sort=id",
    "/c/{name}/programs/2",
    "/c/{name}/programs/80",
    "/c/{name}/lineage",
    "/c/{name}/failures?screened=1",
)


def grown(home, name, records):
    """A campaign in which each record is a child of one of the first three, and each fifth one fails in one of two ways."""
    written = Written(home, name=name, budget=["3000programs"])
    written.seed(0.0)
    while written.next <= records:
        parent = min(written.next % 3 + 1, written.next - 1)
        if written.next % 5 == 0:
            written.failure(Outcome.CRASHED, f"kind {written.next % 2}", parents=(parent,))
        else:
            written.proposal(float(written.next), parents=(parent,))
    written.campaign.close()


@pytest.fixture(scope="module")
def two_sizes(tmp_path_factory):
    home = tmp_path_factory.mktemp("sizes")
    grown(home, "small", 100)
    grown(home, "large", 400)
    return home


@pytest.fixture
def queries(monkeypatch):
    """Every statement that a reader of a log executes."""
    told = []
    connect = reading.reading

    def traced(path):
        connection = connect(path)
        # What begins with two dashes the search index asks of itself.
        connection.set_trace_callback(lambda said: None if said.startswith("--") else told.append(said))
        return connection

    monkeypatch.setattr(reading, "reading", traced)
    return told


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_a_log_of_four_times_the_records_no_more_often(browse, two_sizes, queries, page):
    client, counts = browse(two_sizes), []
    for name in ("small", "large"):
        client.get(page.format(name=name))
        queries.clear()
        assert client.get(page.format(name=name)).status_code == 200
        counts.append(len(queries))
    assert counts[1] <= counts[0] + 2, counts
    assert counts[1] <= 140


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    home = tmp_path_factory.mktemp("kept")
    written = Written(home, name="kept")
    written.seed()
    with written.campaign.log.transaction():
        text = written.campaign.log.put_text("<script>alert(1)</script>")
    written.proposal(6.0, artifacts={"../../etc/passwd\r\nx: y": text, ".hidden": text})
    written.failure(Outcome.WRONG, "<html>no</html>")
    written.campaign.close()
    return home


@pytest.mark.parametrize(
    ("path", "name", "text"),
    [
        ("2/artifacts/0", "kept-2-.._.._etc_passwd__x__y.json", "<script>alert(1)</script>"),
        ("2/artifacts/1", "kept-2-.hidden.json", "<script>alert(1)</script>"),
        ("2/files/0", "kept-2-seed.py", "def value():\n    return 6.0\n"),
        ("3/feedback", "kept-3-feedback.txt", "<html>no</html>"),
        ("1/feedback", "kept-1-feedback.txt", ""),
    ],
)
def test_a_text_is_a_file_that_no_browser_shows_under_a_harmless_name(browse, kept, path, name, text):
    answer = browse(kept).get(f"/c/kept/programs/{path}")
    assert answer.status_code == 200
    assert answer.text == text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path", ["2/artifacts/2", "2/artifacts/x", "2/files/1", "2/files/..%2f..", "9/feedback", "9/files/0"]
)
def test_what_there_is_not_is_said(browse, kept, path):
    answer = browse(kept).get(f"/c/kept/programs/{path}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert text_of(answer.text)


def test_hostile_names_of_artifacts_and_files_are_letters_in_the_header(browse, hostile):
    client = browse(hostile)
    for path in ("3/artifacts/0", "3/files/0"):
        header = client.get(f"/c/hostile/programs/{path}").headers["content-disposition"]
        name = header.removeprefix('attachment; filename="').removesuffix('"')
        assert all(sign.isascii() and (sign.isalnum() or sign in "._-") for sign in name)
        assert len(name) <= 100


def test_the_seeds_texts_are_exactly_what_is_stored(browse, hostile):
    client = browse(hostile)
    text = client.get("/c/hostile/programs/3/files/0").content.decode("utf-8", "surrogatepass")
    assert EVIL in text


def test_a_change_is_shown_side_by_side_where_that_is_chosen(browse, looked_at):
    """The choice stands in the address, beside the record to compare with."""
    client = browse(looked_at)
    page, other = (client.get(f"/c/number/programs/6?against=1{more}").text for more in ("", "&diff=side"))
    assert 'class="change sides"' not in page
    assert 'href="/c/number/programs/6?against=1&amp;diff=side#change"' in page
    assert 'class="change sides"' in other
    assert '<input type="hidden" name="diff" value="side">' in other
    assert re.search(r'class="text old">.*<mark class="part">5</mark>.*class="text new">.*6.5', other)


def test_a_side_that_there_is_not_is_refused(browse, looked_at):
    assert browse(looked_at).get("/c/number/programs/6?diff=over").status_code == 404
